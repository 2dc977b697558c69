/**
 * Runs of three operators as a file's text spells them, without lowering: cheap enough for thousands of files, and good
 * enough to say which few dozen are worth lowering.
 */
import { canonicalOperator } from '../chains/kernelSequence';
import type { Expression, Statement } from '../python/ast';
import { LIBRARY_CALLS } from '../python/libraryCalls';
import type { ModuleScope } from '../python/program';
import type { SourceText } from '../python/sourceText';
import { operatorWeight } from './automaton';

/** Operators lighter than this come and go and make no run. */
const WEIGHTY = 0.4;

const weightyOperators = (ops: readonly string[]): readonly string[] => ops.filter((op) => operatorWeight(op) >= WEIGHTY).map(canonicalOperator);

export function trigrams(tokens: readonly string[]): ReadonlySet<string> {
  const grams = new Set<string>();
  for (let i = 0; i + 2 < tokens.length; i++) {
    grams.add(`${tokens[i]} ${tokens[i + 1]} ${tokens[i + 2]}`);
  }
  return grams;
}

const ARITHMETIC: Readonly<Record<string, readonly [string, string]>> = { '+': ['add', 'adds'], '-': ['sub', 'subs'], '*': ['mul', 'muls'], '/': ['div', 'divs'], '**': ['pow', 'pow'], '@': ['matmul', 'matmul'] };

/** A file without such a method has no candidate, so its tree is not asked for: half of a model collection's files. */
const FORWARD = /\bdef\s+(?:forward|construct)\b/;
const NONE: ReadonlySet<string> = new Set();

/** Whether a file's text has such a method at all. */
export const mayHoldForward = ({ source }: ModuleScope): boolean => FORWARD.test(source.text);

/** Files remembered between sessions; the ones not asked for longest go first. */
const MOST_KEPT = 20_000;
const KEPT_VERSION = 2;

interface KeptGrams {
  readonly version: number;
  readonly grams: readonly string[];
  /** For each text, by `SourceText.key`: indices into `grams`. */
  readonly files: Readonly<Record<string, readonly number[]>>;
}

/** Trigrams of source files. What was found out about a text can be kept and given back in a later session. */
export class GramIndex {
  private readonly known = new WeakMap<SourceText, ReadonlySet<string>>();
  private readonly kept: Map<string, ReadonlySet<string>>;
  private learnt = false;

  /** `bytes` are what `serialize` gave; anything else is passed over. */
  constructor(bytes?: Uint8Array) {
    this.kept = restored(bytes);
  }

  /** Trigrams of all functions of a file; its tree is not kept for them. */
  of({ source }: ModuleScope): ReadonlySet<string> {
    let grams = this.known.get(source);
    if (grams === undefined) {
      grams = FORWARD.test(source.text) ? this.remembered(source) : NONE;
      this.known.set(source, grams);
    }
    return grams;
  }

  private remembered(source: SourceText): ReadonlySet<string> {
    const { key } = source;
    let grams = this.kept.get(key);
    if (grams === undefined) {
      const all = new Set<string>();
      functionsOf(source.glance().body).forEach((body) => trigrams(weightyOperators(operatorsOf(body))).forEach((gram) => all.add(gram)));
      grams = all;
      this.learnt = true;
    }
    this.kept.delete(key);
    this.kept.set(key, grams);
    return grams;
  }

  /** What is worth keeping; undefined when nothing was learnt since the last time. */
  serialize(): Uint8Array | undefined {
    if (!this.learnt) {
      return undefined;
    }
    this.learnt = false;
    const numbers = new Map<string, number>();
    const numberOf = (gram: string): number => {
      const number = numbers.get(gram) ?? numbers.size;
      numbers.set(gram, number);
      return number;
    };
    const files = Object.fromEntries([...this.kept].slice(-MOST_KEPT).map(([key, grams]) => [key, Array.from(grams, numberOf)]));
    return new TextEncoder().encode(JSON.stringify({ version: KEPT_VERSION, grams: [...numbers.keys()], files } satisfies KeptGrams));
  }
}

function restored(bytes: Uint8Array | undefined): Map<string, ReadonlySet<string>> {
  try {
    const { version, grams, files } = JSON.parse(new TextDecoder().decode(bytes)) as KeptGrams;
    return new Map(version === KEPT_VERSION ? Object.entries(files).map(([key, numbers]): [string, ReadonlySet<string>] => [key, new Set(numbers.map((number) => grams[number]))]) : []);
  } catch {
    return new Map<string, ReadonlySet<string>>();
  }
}

function functionsOf(body: readonly Statement[]): readonly (readonly Statement[])[] {
  const bodies: (readonly Statement[])[] = [];
  const pending: Statement[] = [...body];
  for (let statement = pending.pop(); statement !== undefined; statement = pending.pop()) {
    if (statement.kind === 'function') {
      bodies.push(statement.body);
    }
    if (statement.kind === 'function' || statement.kind === 'class') {
      pending.push(...statement.body);
    } else if (statement.kind === 'if') {
      pending.push(...statement.then, ...statement.otherwise);
    }
  }
  return bodies;
}

function operatorsOf(body: readonly Statement[]): readonly string[] {
  const ops: string[] = [];
  const walkAll = (statements: readonly Statement[]): void => statements.forEach((statement) => walk(statement));
  const walk = (statement: Statement): void => {
    switch (statement.kind) {
      case 'assign': case 'expression': collect(statement.value, ops, 0); break;
      case 'return': if (statement.value !== undefined) { collect(statement.value, ops, 0); } break;
      case 'augmented': collect(statement.value, ops, 0); ops.push(...(ARITHMETIC[statement.operator]?.slice(0, 1) ?? [])); break;
      case 'if': walkAll(statement.then); walkAll(statement.otherwise); break;
      case 'for': case 'while': case 'with': walkAll(statement.body); break;
      case 'try': walkAll(statement.body); break;
      case 'match': statement.cases.forEach(walkAll); break;
      default: break;
    }
  };
  walkAll(body);
  return ops;
}

/** Operators of an expression in the order Python evaluates it. Deep nesting ends the walk: it is generated code. */
function collect(expression: Expression, ops: string[], depth: number): void {
  if (depth > 60) {
    return;
  }
  const inner = (part: Expression): void => collect(part, ops, depth + 1);
  switch (expression.kind) {
    case 'binary': {
      inner(expression.left);
      inner(expression.right);
      const names = ARITHMETIC[expression.operator];
      if (names !== undefined) {
        ops.push(names[expression.left.kind === 'number' || expression.right.kind === 'number' || isEpsilon(expression.right) ? 1 : 0]);
      }
      return;
    }
    case 'call': {
      if (expression.callee.kind === 'attribute') {
        inner(expression.callee.object);
      }
      expression.args.forEach(({ value }) => inner(value));
      const name = expression.callee.kind === 'attribute' ? expression.callee.name : expression.callee.kind === 'name' ? expression.callee.name : '';
      const library = LIBRARY_CALLS.get(name);
      if (library === undefined) {
        // `self.q_proj(x)`: most modules that are called on a value end in a product.
        if (/(proj|linear|dense|head|fc\d?|^wi|^wo|^w\d|_attn|c_fc)$/.test(name)) {
          ops.push('matmul');
        } else if (/^(act|act_fn|activation_fn|activation)$/.test(name)) {
          ops.push('silu');
        }
        return;
      }
      switch (library.kind) {
        case 'operator': case 'reduction': case 'join': ops.push(library.op); return;
        case 'chain': case 'hostRead': ops.push(...library.ops); return;
        case 'arithmetic': ops.push(ARITHMETIC[library.operator][0]); return;
        default: return;
      }
    }
    case 'attribute': inner(expression.object); return;
    case 'unary': inner(expression.operand); if (expression.operator === '-' && expression.operand.kind !== 'number') { ops.push('neg'); } return;
    case 'boolean': inner(expression.left); inner(expression.right); return;
    case 'compare': expression.operands.forEach(inner); return;
    case 'conditional': inner(expression.then); inner(expression.otherwise); return;
    case 'subscript': inner(expression.object); return;
    case 'sequence': expression.items.forEach(inner); return;
    case 'dictionary': expression.entries.forEach(({ value }) => inner(value)); return;
    case 'comprehension': inner(expression.body); return;
    case 'walrus': case 'splat': case 'await': inner(expression.value); return;
    case 'opaque': expression.parts.forEach(inner); return;
    case 'name': case 'number': case 'string': case 'constant': case 'slice': case 'lambda': return;
  }
}

const isEpsilon = (expression: Expression): boolean => (expression.kind === 'name' || expression.kind === 'attribute') && /eps|epsilon|scal/i.test(expression.name);
