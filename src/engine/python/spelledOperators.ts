/**
 * What each function of a file spells, read from tokens without a tree: thousands of files are looked at so before a few dozen
 * are parsed and lowered.
 */
import { PythonTokens } from './pythonTokens';
import { ARITHMETIC, calledOperators, ExpressionReader, LEVELS } from './spelledExpressions';

const AUGMENTED = /^(.+)=$/;
const NO_OPERATORS = new Set(['raise', 'assert', 'del', 'import', 'from', 'global', 'nonlocal', 'pass', 'break', 'continue']);

/**
 * What a function's text spells: operators, and calls of `self.name(…)` as `.name`, of `name(…)` as `:name` and of elements
 * of either as `[name`, which launch what stands behind the name.
 */
export type Spelling = readonly string[];

export interface SpelledClass {
  /** Last names of the classes it is derived from. */
  readonly bases: readonly string[];
  readonly methods: ReadonlyMap<string, Spelling>;
  /** Attributes of `self` by the names in what is assigned to them: `nn.Sequential(nn.Linear(n), act)` gives n, Linear, act, Sequential. */
  readonly made: ReadonlyMap<string, readonly string[]>;
  /** The same of parameters (their defaults: `norm_layer=nn.LayerNorm`) and local names of `__init__`, and of names that loops give to elements. */
  readonly local: ReadonlyMap<string, readonly string[]>;
}

export interface SpelledFile {
  /** Each function whose definition is reached through classes, functions and `if` alone. */
  readonly all: readonly Spelling[];
  /** Those at the top, and the classes there. */
  readonly functions: ReadonlyMap<string, Spelling>;
  readonly classes: ReadonlyMap<string, SpelledClass>;
}

/** Never fails: what is no Python is passed over. */
export function spelledFile(text: string): SpelledFile {
  const reader = new FileReader(new PythonTokens(text));
  reader.file();
  // Not the reader itself, which holds what it needed on the way.
  const { all, functions, classes } = reader;
  return { all, functions, classes };
}

/** The operators of a spelling where nothing is known but the names of what it calls. */
export const operatorsByName = (spelling: Spelling): readonly string[] => spelling.flatMap((word) => (word.startsWith('[') ? [] : isCall(word) ? calledOperators(word.slice(1)) : word));

export const isCall = (word: string): boolean => /^[.:[]/.test(word);

interface OwnClass {
  bases: string[];
  readonly methods: Map<string, Spelling>;
  readonly made: Map<string, readonly string[]>;
  readonly local: Map<string, readonly string[]>;
}

/** Where statements stand: at the top, directly in a class of the top, or deeper. */
type Place = 'top' | OwnClass | undefined;

class FileReader extends ExpressionReader {
  readonly all: Spelling[] = [];
  readonly functions = new Map<string, Spelling>();
  readonly classes = new Map<string, SpelledClass>();
  /** Whose method is being read, and whether it is `__init__`: only there do names stand for modules. */
  private owner: OwnClass | undefined;
  private isBuilding = false;

  file(): void {
    while (this.tokens.kind === 'newline') {
      this.tokens.next();
    }
    this.block(-1, true, undefined, 'top');
  }

  /**
   * Statements indented deeper than `parent`. Functions in it are listed where `isSeen`; its own operators go to `sink`, or
   * nowhere.
   */
  private block(parent: number, isSeen: boolean, sink: string[] | undefined, place: Place): void {
    const { tokens } = this;
    let ofIf = false;
    while (tokens.kind !== 'end' && tokens.indent > parent) {
      const before = tokens.start;
      if (this.is('async')) {
        tokens.next();
      }
      const { text: word, indent } = tokens;
      switch (tokens.kind === 'name' ? word : '') {
        case 'def':
          this.definition(indent, isSeen, place);
          break;
        case 'class':
          this.suite(indent, isSeen, undefined, this.classAt(place));
          break;
        case 'if': case 'elif':
          this.suite(indent, isSeen, sink, place);
          break;
        case 'for':
          this.loopNames(sink);
          this.suite(indent, false, sink);
          break;
        // `case` of a `match`, whose own line was passed over.
        case 'while': case 'with': case 'try': case 'case':
          this.suite(indent, false, sink);
          break;
        case 'else':
          this.suite(indent, isSeen && ofIf, ofIf ? sink : undefined, place);
          break;
        case 'except': case 'finally':
          this.suite(indent, false, undefined);
          break;
        default:
          this.simple(this.is('@') ? undefined : sink);
      }
      ofIf = word === 'if' || word === 'elif';
      if (tokens.start === before) {
        this.line();
      }
    }
  }

  /** `for i, layer in enumerate(self.layers)`: its names stand for what is in the iterable. */
  private loopNames(sink: string[] | undefined): void {
    const { tokens } = this;
    const targets: string[] = [];
    do {
      tokens.next();
      if (tokens.kind === 'name' && !this.is('in')) {
        targets.push(tokens.text);
      }
    } while (!this.is('in') && !this.is(':') && tokens.kind !== 'newline' && tokens.kind !== 'end');
    if (this.is('in') && sink !== undefined) {
      tokens.next();
      const names: string[] = [];
      this.value(names);
      targets.forEach((target) => add(this.owner?.local, target, names));
    }
  }

  private definition(indent: number, isSeen: boolean, place: Place): void {
    const { tokens } = this;
    tokens.next();
    const { text: name } = tokens;
    const ops: string[] = [];
    const before = this.owner;
    if (isSeen) {
      this.all.push(ops);
      if (place === 'top') {
        this.functions.set(name, ops);
      } else if (place !== undefined) {
        this.owner = place;
        this.isBuilding = name === '__init__';
        place.methods.set(name, ops);
      }
    }
    const parameters = this.head();
    if (isSeen && place !== 'top' && this.isBuilding) {
      parameters.forEach(({ name: parameter, names }) => add(place?.local, parameter, names));
    }
    this.suite(indent, isSeen, isSeen ? ops : undefined);
    this.owner = before;
  }

  private classAt(place: Place): Place {
    if (place !== 'top') {
      return undefined;
    }
    this.tokens.next();
    const made: OwnClass = { bases: [], methods: new Map(), made: new Map(), local: new Map() };
    this.classes.set(this.tokens.text, made);
    made.bases = this.head().map((base) => base.name);
    return made;
  }

  /** Parameters with the names in their defaults, or base classes by their last name; read up to the closing bracket. */
  private head(): readonly { readonly name: string; readonly names: readonly string[] }[] {
    const { tokens } = this;
    while (tokens.depth === 0 && !this.is(':') && tokens.kind !== 'newline' && tokens.kind !== 'end') {
      tokens.next();
    }
    const found: { readonly name: string; readonly names: readonly string[] }[] = [];
    const isWithin = (): boolean => tokens.depth > 0 && tokens.kind !== 'end';
    while (isWithin()) {
      tokens.next();
      let name = '';
      const names: string[] = [];
      let isType = false;
      while (isWithin() && !(this.is(',') && tokens.depth === 1)) {
        if (tokens.depth === 1 && this.is('=')) {
          tokens.next();
          this.value(names);
        } else {
          isType ||= tokens.depth === 1 && this.is(':');
          name = tokens.depth === 1 && tokens.kind === 'name' && !isType ? tokens.text : name;
          tokens.next();
        }
      }
      found.push({ name, names });
    }
    return found;
  }

  /** An expression of which only the names matter. */
  private value(names: string[]): void {
    const { tokens, ops } = this;
    const before = tokens.start;
    this.ops = [];
    this.names = names;
    this.expression();
    this.names = undefined;
    this.ops = ops;
    if (tokens.start === before) {
      tokens.next();
    }
  }

  /** A compound statement's head is passed over; its body is a block, or stands on the same line. */
  private suite(indent: number, isSeen: boolean, sink: string[] | undefined, place?: Place): void {
    const { tokens } = this;
    if (!this.is(':')) {
      this.skipTo(':', tokens.depth);
    }
    if (this.is(':')) {
      tokens.next();
    }
    if (tokens.kind !== 'newline') {
      this.simple(sink);
      return;
    }
    tokens.next();
    if (tokens.indent > indent) {
      this.block(indent, isSeen, sink, place);
    }
  }

  /** Simple statements up to the end of their line. */
  private simple(sink: string[] | undefined): void {
    const { tokens } = this;
    while (sink !== undefined && tokens.kind !== 'newline' && tokens.kind !== 'end') {
      this.ops = sink;
      if (this.is('return')) {
        tokens.next();
        this.expressions();
      } else if (tokens.kind === 'name' && NO_OPERATORS.has(tokens.text)) {
        this.skipTo(';', tokens.depth);
      } else {
        this.assignment();
      }
      if (!this.is(';')) {
        break;
      }
      tokens.next();
    }
    this.line();
  }

  /** Past the end of the logical line. */
  private line(): void {
    while (this.tokens.kind !== 'newline' && this.tokens.kind !== 'end') {
      this.tokens.next();
    }
    this.tokens.next();
  }

  /** `a = b = value`, `a += value`, `a: T = value` or a value alone; targets launch nothing. */
  private assignment(): void {
    const { tokens } = this;
    const mark = this.ops.length;
    let names: string[] = [];
    this.names = names;
    this.grown = undefined;
    this.expressions();
    const { shape, name, isOfSelf, grown } = this;
    if (grown !== undefined) {
      add(this.owner?.made, grown, names);
    }
    if (this.is(':')) {
      this.ops.length = mark;
      this.skipTo('=', tokens.depth);
    }
    names = [];
    this.names = names;
    while (this.is('=')) {
      this.ops.length = mark;
      tokens.next();
      this.expressions();
    }
    this.names = undefined;
    if (shape === 'name' || (shape === 'attribute' && isOfSelf)) {
      add(shape === 'attribute' ? this.owner?.made : this.isBuilding ? this.owner?.local : undefined, name, names);
    }
    const augmented = LEVELS[tokens.text] === undefined && tokens.kind === 'operator' ? AUGMENTED.exec(tokens.text)?.[1] : undefined;
    if (augmented !== undefined) {
      this.ops.length = mark;
      tokens.next();
      this.expressions();
      this.ops.push(...(ARITHMETIC[augmented]?.slice(0, 1) ?? []));
    }
  }
}

/** More names than this make no module. */
const MOST_NAMES = 60;

function add(table: Map<string, readonly string[]> | undefined, name: string, names: readonly string[]): void {
  const known = table?.get(name) ?? [];
  if (table !== undefined && names.length > 0 && known.length < MOST_NAMES) {
    table.set(name, [...known, ...names]);
  }
}
