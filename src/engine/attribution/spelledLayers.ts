/**
 * What a file's classes launch when calls are followed by name alone, without trees: `self.attn(x)` to the class that
 * `__init__` puts there, in this file or one it imports. A layer spread over many small functions shows its runs only so.
 */
import { LIBRARY_MODULES } from '../python/libraryCalls';
import type { ModuleScope } from '../python/program';
import type { SourceText } from '../python/sourceText';
import { isCall, operatorsByName, spelledFile, type SpelledClass, type SpelledFile, type Spelling } from '../python/spelledOperators';

/** Calls within calls that are followed. */
const DEEPEST = 8;
/** Operators after which a forward is known well enough, and names looked up for them. */
const LONGEST = 600;
const MOST_STEPS = 4000;
const FORWARDS = ['forward', 'construct'];

const known = new WeakMap<SourceText, SpelledFile>();

/** The spelling of a file; found once for each text. */
export function spellingOf({ source }: ModuleScope): SpelledFile {
  let file = known.get(source);
  if (file === undefined) {
    file = spelledFile(source.text);
    known.set(source, file);
  }
  return file;
}

interface Found<T> {
  readonly scope: ModuleScope;
  readonly value: T;
}

type Owner = Found<SpelledClass> | undefined;

/** Operators of each forward of a file, with what it calls in place. `importsOf` gives the indexed files that a file builds on, nearest first. */
export function followedForwards(scope: ModuleScope, importsOf: (scope: ModuleScope) => readonly ModuleScope[]): readonly (readonly string[])[] {
  const follower = new Follower(importsOf);
  return [...spellingOf(scope).classes.values()].flatMap((value) => {
    const owner = { scope, value };
    const forward = follower.method(owner, FORWARDS);
    return forward === undefined ? [] : [follower.operators(forward, owner)];
  });
}

class Follower {
  private ops: string[] = [];
  private steps = 0;

  constructor(private readonly importsOf: (scope: ModuleScope) => readonly ModuleScope[]) {}

  operators(spelling: Found<Spelling>, owner: Owner): readonly string[] {
    this.ops = [];
    this.steps = 0;
    this.follow(spelling, owner, 0);
    return this.ops;
  }

  /** A method of a class or of what it is derived from. */
  method(owner: Found<SpelledClass>, names: readonly string[]): Found<Spelling> | undefined {
    return this.member(owner, ({ methods }) => names.map((name) => methods.get(name)).find((spelling) => spelling !== undefined));
  }

  private member<T>({ scope, value }: Found<SpelledClass>, pick: (from: SpelledClass) => T | undefined, depth = 0): Found<T> | undefined {
    const own = pick(value);
    if (own !== undefined) {
      return { scope, value: own };
    }
    for (const base of depth > DEEPEST ? [] : value.bases) {
      const parent = this.named(scope, base, ({ classes }) => classes);
      const found = parent === undefined ? undefined : this.member(parent, pick, depth + 1);
      if (found !== undefined) {
        return found;
      }
    }
    return undefined;
  }

  private named<T>(from: ModuleScope, name: string, table: (file: SpelledFile) => ReadonlyMap<string, T>): Found<T> | undefined {
    const own = table(spellingOf(from)).get(name);
    if (own !== undefined) {
      return { scope: from, value: own };
    }
    for (const scope of this.importsOf(from)) {
      const value = table(spellingOf(scope)).get(name);
      if (value !== undefined) {
        return { scope, value };
      }
    }
    return undefined;
  }

  private follow({ scope, value }: Found<Spelling>, owner: Owner, depth: number): void {
    for (const word of value) {
      if (++this.steps > MOST_STEPS || this.ops.length >= LONGEST) {
        return;
      }
      if (isCall(word)) {
        this.call(word, scope, owner, depth + 1);
      } else {
        this.ops.push(word);
      }
    }
  }

  private call(word: string, scope: ModuleScope, owner: Owner, depth: number): void {
    const name = word.slice(1);
    if (depth <= DEEPEST) {
      const called = word.startsWith(':') ? this.named(scope, name, ({ functions }) => functions) : undefined;
      const method = word.startsWith('.') && owner !== undefined ? this.method(owner, [name]) : undefined;
      if (called !== undefined) {
        this.follow(called, undefined, depth);
        return;
      }
      if (method !== undefined) {
        this.follow(method, owner, depth);
        return;
      }
      if (owner !== undefined && this.stands(name, owner, depth)) {
        return;
      }
    }
    this.ops.push(...operatorsByName([word]));
  }

  /** What attributes, local names and parameters that stand for modules launch; false when nothing is known of the name. */
  private stands(name: string, owner: Found<SpelledClass>, depth: number): boolean {
    const found = depth > DEEPEST ? undefined : this.member(owner, (from) => from.local.get(name) ?? from.made.get(name));
    found?.value.forEach((part) => part !== name && this.module(part, found.scope, owner, depth + 1));
    return found !== undefined;
  }

  /** What a module launches when it is called, by the name of its class or by one that stands for it. */
  private module(name: string, scope: ModuleScope, owner: Found<SpelledClass>, depth: number): void {
    if (++this.steps > MOST_STEPS || this.ops.length >= LONGEST || this.stands(name, owner, depth)) {
      return;
    }
    const value = this.named(scope, name, ({ classes }) => classes);
    const forward = value === undefined ? undefined : this.method(value, FORWARDS);
    if (value !== undefined && forward !== undefined) {
      this.follow(forward, value, depth);
      return;
    }
    const op = LIBRARY_MODULES.get(name)?.op;
    if (op !== undefined) {
      this.ops.push(op);
    }
  }
}
