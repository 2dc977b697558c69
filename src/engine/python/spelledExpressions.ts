/**
 * Operators that expressions spell, in the order Python evaluates them, read from tokens without a tree. Indices, conditions
 * and lambdas are passed over: they choose values and seldom launch what a model spends its time on.
 */
import { LIBRARY_CALLS } from './libraryCalls';
import { PythonTokens } from './pythonTokens';

/** Of two tensors, and of a tensor and a number. */
export const ARITHMETIC: Readonly<Record<string, readonly [string, string]>> = { '+': ['add', 'adds'], '-': ['sub', 'subs'], '*': ['mul', 'muls'], '/': ['div', 'divs'], '**': ['pow', 'pow'], '@': ['matmul', 'matmul'] };

/** Binary operators by how tightly they bind (https://docs.python.org/3/reference/expressions.html#operator-precedence); `**` is read apart. */
export const LEVELS: Readonly<Record<string, number>> = {
  or: 1, and: 2, in: 4, is: 4, not: 4, '<': 4, '>': 4, '==': 4, '>=': 4, '<=': 4, '!=': 4, '<>': 4, '|': 5, '^': 6, '&': 7, '<<': 8, '>>': 8, '+': 9, '-': 9, '*': 10, '/': 10, '//': 10, '%': 10, '@': 10,
};
const COMPARISON = 4;
const GROWING = new Set(['append', 'extend', 'insert']);
const EPSILON = /eps|epsilon|scal/i;
/** Deeper nesting is generated text. */
const MAX_NESTING = 200;

/** What an expression is, as far as the operator around it asks. */
type Shape = 'name' | 'attribute' | 'number' | 'other';

export class ExpressionReader {
  protected ops: string[] = [];
  protected shape: Shape = 'other';
  /** Of a name or attribute. */
  protected name = '';
  /** Whether it is an attribute of `self` itself. */
  protected isOfSelf = false;
  /** The attribute of `self` that it is an attribute of. */
  private holder: string | undefined;
  /** The attribute of `self` that something was appended to. */
  protected grown: string | undefined;
  /** Last names of what is read, where somebody asks for them. */
  protected names: string[] | undefined;
  private nesting = 0;
  private readonly words = new Map<string, string>();

  /** `within`: formatted strings around. */
  constructor(protected readonly tokens: PythonTokens, private readonly within = 0) {}

  /** Operators of a replacement field of a formatted string. */
  private field(start: number, end: number): void {
    const reader = new ExpressionReader(new PythonTokens(this.tokens.source, start, end, 1), this.within + 1);
    reader.ops = this.ops;
    reader.expressions();
  }

  protected is(text: string): boolean {
    return this.tokens.text === text;
  }

  /** One expression, or several with commas. */
  protected expressions(): void {
    this.expression();
    while (this.is(',')) {
      this.tokens.next();
      this.expression();
      this.shape = 'other';
    }
  }

  protected expression(): void {
    if (++this.nesting > MAX_NESTING) {
      this.shape = 'other';
    } else {
      this.whole();
    }
    this.nesting--;
  }

  private whole(): void {
    const { tokens } = this;
    if (this.is('*') || this.is('**')) {
      tokens.next();
      this.expression();
      this.shape = 'other';
    } else if (this.is('lambda')) {
      const mark = this.ops.length;
      const { depth } = tokens;
      this.skipTo(':', depth);
      tokens.next();
      this.expression();
      this.ops.length = mark;
      this.shape = 'other';
    } else if (this.is('yield')) {
      tokens.next();
      if (this.is('from')) {
        tokens.next();
      }
      this.expressions();
      this.shape = 'other';
    } else {
      this.binary(1);
      if (this.is('if')) {
        this.skipTo('else', tokens.depth);
        tokens.next();
        this.expression();
        this.shape = 'other';
      } else if (this.is(':=')) {
        tokens.next();
        this.expression();
        this.shape = 'other';
      }
    }
  }

  private binary(least: number): void {
    this.unary();
    for (;;) {
      const { tokens } = this;
      const operator = tokens.text;
      const level = tokens.kind === 'name' || tokens.kind === 'operator' ? LEVELS[operator] ?? 0 : 0;
      if (level < least) {
        return;
      }
      const wasNumber = this.shape === 'number';
      tokens.next();
      if ((operator === 'is' && this.is('not')) || (operator === 'not' && this.is('in'))) {
        tokens.next();
      }
      this.binary(level + 1);
      this.arithmetic(operator, wasNumber);
    }
  }

  private arithmetic(operator: string, wasNumber: boolean): void {
    const names = ARITHMETIC[operator];
    if (names !== undefined) {
      const byNumber = wasNumber || this.shape === 'number' || ((this.shape === 'name' || this.shape === 'attribute') && EPSILON.test(this.name));
      this.ops.push(names[byNumber ? 1 : 0]);
    }
    this.shape = 'other';
  }

  private unary(): void {
    const sign = this.tokens.text;
    if (sign === 'not') {
      this.tokens.next();
      this.binary(COMPARISON);
      this.shape = 'other';
    } else if (sign === '-' || sign === '+' || sign === '~') {
      this.tokens.next();
      if (++this.nesting <= MAX_NESTING) {
        this.unary();
      }
      this.nesting--;
      if (sign === '-' && this.shape !== 'number') {
        this.ops.push('neg');
      }
      this.shape = 'other';
    } else {
      this.primary();
      if (this.is('**')) {
        const wasNumber = this.shape === 'number';
        this.tokens.next();
        this.unary();
        this.arithmetic('**', wasNumber);
      }
    }
  }

  private primary(): void {
    const { tokens } = this;
    const mark = this.ops.length;
    const isAwaited = this.is('await');
    if (isAwaited) {
      tokens.next();
    }
    this.atom();
    let element: string | undefined;
    for (;;) {
      if (this.is('.')) {
        element = undefined;
        tokens.next();
        this.holder = this.shape === 'attribute' && this.isOfSelf ? this.name : undefined;
        this.isOfSelf = this.shape === 'name' && this.name === 'self';
        this.shape = 'attribute';
        this.name = tokens.text;
        if (tokens.kind === 'name') {
          tokens.next();
        }
      } else if (this.is('(')) {
        const { shape, name, isOfSelf, holder } = this;
        if (shape === 'number' || shape === 'other') {
          this.ops.length = mark;
        }
        this.items();
        if (element === undefined) {
          this.launch(shape, name, isOfSelf);
        } else {
          this.ops.push(this.word('[', element));
          element = undefined;
        }
        if (holder !== undefined && shape === 'attribute' && GROWING.has(name)) {
          this.grown = holder;
        }
        this.shape = 'other';
      } else if (this.is('[')) {
        element = this.shape === 'name' || (this.shape === 'attribute' && this.isOfSelf) ? this.name : undefined;
        this.close(tokens.depth - 1);
        this.shape = 'other';
      } else {
        break;
      }
    }
    this.mention(this.shape, this.name);
    if (isAwaited) {
      this.shape = 'other';
    }
  }

  private launch(shape: Shape, name: string, isOfSelf: boolean): void {
    if (shape === 'name') {
      this.ops.push(this.word(':', name));
    } else if (shape === 'attribute') {
      this.ops.push(...(isOfSelf ? [this.word('.', name)] : calledOperators(name)));
    }
    this.mention(shape, name);
  }

  /** One string for all that are alike in a file. */
  private word(how: string, name: string): string {
    let word = this.words.get(how + name);
    if (word === undefined) {
      word = how + name;
      this.words.set(word, word);
    }
    return word;
  }

  private mention(shape: Shape, name: string): void {
    if (shape === 'name' || shape === 'attribute') {
      this.names?.push(this.word('', name));
    }
  }

  private atom(): void {
    const { tokens } = this;
    const { kind } = tokens;
    if (kind === 'name' && !RESERVED.has(tokens.text)) {
      this.shape = 'name';
      this.name = tokens.text;
      tokens.next();
    } else if (kind === 'number') {
      this.shape = 'number';
      tokens.next();
    } else if (kind === 'string') {
      while (tokens.kind === 'string') {
        this.fields();
        tokens.next();
      }
      this.shape = 'other';
    } else if (this.is('(')) {
      if (!this.items()) {
        this.shape = 'other';
      }
    } else if (this.is('[') || this.is('{')) {
      this.items();
      this.shape = 'other';
    } else {
      this.shape = 'other';
      if (this.is('...')) {
        tokens.next();
      }
    }
  }

  /** What stands in the brackets that the current token opens, past the closing one; whether it is one expression. */
  private items(): boolean {
    const { tokens } = this;
    const outer = tokens.depth - 1;
    tokens.next();
    this.shape = 'other';
    let isOne = true;
    for (let count = 0; tokens.depth > outer && tokens.kind !== 'end'; count++) {
      const before = tokens.start;
      isOne &&= count === 0 && !this.is('*');
      if (tokens.kind === 'name' && tokens.assignsNext()) {
        tokens.next();
        tokens.next();
      }
      const mark = this.ops.length;
      this.expression();
      if (this.is(':')) {
        // The key of a dictionary entry.
        this.ops.length = mark;
        tokens.next();
        this.expression();
      }
      if (this.is(',')) {
        isOne = false;
        tokens.next();
      } else if (tokens.depth > outer) {
        // A comprehension's clauses, or what is no Python.
        isOne = false;
        break;
      }
      if (tokens.start === before) {
        break;
      }
    }
    this.close(outer);
    return isOne;
  }

  /** To the end of brackets, past the token that closes down to `outer`. */
  private close(outer: number): void {
    while (this.tokens.depth > outer && this.tokens.kind !== 'end') {
      this.tokens.next();
    }
    // Brackets that nothing closes end with the line before a definition at the margin.
    if (this.tokens.kind === 'operator') {
      this.tokens.next();
    }
  }

  /** To a word or sign at this depth; a line's end or the end of the brackets stops the search. */
  protected skipTo(text: string, depth: number): void {
    const { tokens } = this;
    do {
      tokens.next();
    } while (!(tokens.depth === depth && (this.is(text) || tokens.kind === 'newline')) && tokens.depth >= depth && tokens.kind !== 'end');
  }

  /** Replacement fields of the current string, if it has some. */
  private fields(): void {
    const { tokens } = this;
    if (!tokens.isFormatted || this.within > 3) {
      return;
    }
    const text = tokens.source;
    for (let at = tokens.contentStart; at < tokens.contentEnd; at++) {
      if (text.charAt(at) !== '{') {
        continue;
      }
      if (text.charAt(at + 1) === '{') {
        at++;
        continue;
      }
      const end = text.indexOf('}', at);
      const last = end < 0 || end > tokens.contentEnd ? tokens.contentEnd : end;
      this.field(at + 1, last);
      at = last;
    }
  }
}

const RESERVED = new Set(['and', 'as', 'assert', 'async', 'break', 'class', 'continue', 'def', 'del', 'elif', 'else', 'except', 'finally', 'for', 'from', 'global', 'if', 'import', 'in', 'is', 'nonlocal', 'not', 'or', 'pass', 'raise', 'return', 'try', 'while', 'with', 'yield', 'lambda']);

const NONE: readonly string[] = [];
const MATMUL: readonly string[] = ['matmul'];
const SILU: readonly string[] = ['silu'];

/** What a call of this name launches, as far as a name tells. */
export function calledOperators(name: string): readonly string[] {
  const library = LIBRARY_CALLS.get(name);
  if (library === undefined) {
    // `self.q_proj(x)`: most modules that are called on a value end in a product.
    return /(proj|linear|dense|head|fc\d?|^wi|^wo|^w\d|_attn|c_fc)$/.test(name) ? MATMUL : /^(act|act_fn|activation_fn|activation)$/.test(name) ? SILU : NONE;
  }
  switch (library.kind) {
    case 'operator': case 'reduction': case 'join': return [library.op];
    case 'chain': case 'hostRead': return library.ops;
    case 'arithmetic': return [ARITHMETIC[library.operator][0]];
    default: return NONE;
  }
}
