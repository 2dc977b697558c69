/**
 * Statements elsewhere in the workspace that put a class or function into a region where a fused operator may not belong:
 * compiled, under autocast, or with sharded weights. Only what names the code counts, by itself or by something that uses it;
 * what merely may reach it is a caution.
 */
import type { ClassDefinition, Expression, FunctionDefinition } from '../python/ast';
import { LineIndex } from '../python/lineIndex';
import type { ModuleScope, Program } from '../python/program';
import { parts } from './names';
import { regionMentions, type Mention } from './regionMentions';

export type RegionKind = Mention['kind'];

export type Definition = ClassDefinition | FunctionDefinition;

export interface Defined {
  readonly scope: ModuleScope;
  readonly definition: Definition;
}

/** Re-exports and names of names followed. */
const MOST_HOPS = 4;
/** Definitions looked at to see what a compiled one uses. */
const MOST_USED = 300;

/** Calls that answer the object they are called on, or one of the class. */
const PASSING: ReadonlySet<string> = new Set(['to', 'cuda', 'npu', 'train', 'eval', 'half', 'bfloat16', 'float', 'requires_grad_', 'from_config', 'from_pretrained', 'build']);

/** `train.py:12`, as seen from the edited file, for each kind of region that a class (or function) lies in; `method` is its function. */
export function regionsOf(program: Program, edited: Defined, method: string): ReadonlyMap<RegionKind, string> {
  const found = new Map<RegionKind, string>();
  for (const module of program.modules?.() ?? [edited.scope]) {
    for (const mention of regionMentions(module)) {
      if (!found.has(mention.kind) && (names(program, module, mention, edited) || callsOwn(module, mention, edited, method))) {
        found.set(mention.kind, `${seenFrom(edited.scope.file, module.file)}:${new LineIndex(module.text).line(mention.at)}`);
      }
    }
  }
  return found;
}

function names(program: Program, scope: ModuleScope, mention: Mention, edited: Defined): boolean {
  const isEdited = ({ definition }: Defined): boolean => definition === edited.definition;
  if (mention.attributes.some((attribute) => holders(program, edited).has(attribute))) {
    return true;
  }
  // What is decorated itself was seen where it stands.
  const targets = mention.definitions.map((definition): Defined => ({ scope, definition })).filter((target) => !isEdited(target));
  for (const expression of mention.expressions) {
    const meant = definitionsOf(program, scope, mention.within, expression, edited);
    // Under autocast something is called: a class only makes its object there.
    const made = mention.kind === 'autocast' && expression.kind !== 'call' ? meant.filter(({ definition }) => definition.kind === 'function' || !isName(program, scope, expression, definition)) : meant;
    if (made.some(isEdited)) {
      return true;
    }
    targets.push(...made);
  }
  return mention.kind === 'compiled' && targets.some((target) => uses(program, target, edited));
}

/** `self._norm(x)` in a region, in the class that has the method. */
function callsOwn(scope: ModuleScope, { at, expressions }: Mention, edited: Defined, method: string): boolean {
  const { start, end } = edited.definition;
  return scope === edited.scope && start <= at && at < end && expressions.some((expression) => expression.kind === 'attribute' && expression.name === method && expression.object.kind === 'name' && expression.object.name === 'self');
}

/** Whether an expression is just the name of a class. */
function isName(program: Program, scope: ModuleScope, expression: Expression, definition: Definition): boolean {
  const named = expression.kind === 'name' ? lookUp(program, scope, expression.name) : expression.kind === 'attribute' && expression.object.kind === 'name' ? memberOf(program, scope, expression.object.name, expression.name) : undefined;
  return named?.definition === definition;
}

/** What an expression stands for: a class (or an object of it) or a function; nothing where the source does not say. */
function definitionsOf(program: Program, scope: ModuleScope, within: FunctionDefinition | undefined, expression: Expression, edited: Defined, hops = 0): readonly Defined[] {
  if (hops > MOST_HOPS) {
    return [];
  }
  const again = (other: Expression): readonly Defined[] => definitionsOf(program, scope, within, other, edited, hops + 1);
  switch (expression.kind) {
    case 'name': {
      const defined = lookUp(program, scope, expression.name);
      return defined === undefined ? assigned(scope, within, expression).flatMap(again) : [defined];
    }
    case 'attribute': {
      const through = expression.object.kind === 'name' ? memberOf(program, scope, expression.object.name, expression.name) : undefined;
      if (through !== undefined) {
        return [through];
      }
      const written = assigned(scope, within, expression);
      return written.length > 0 ? written.flatMap(again) : holders(program, edited).has(expression.name) ? [edited] : expression.name === 'forward' || expression.name === 'module' ? again(expression.object) : [];
    }
    case 'call': {
      const { callee, args } = expression;
      if (callee.kind === 'attribute' && PASSING.has(callee.name)) {
        return again(callee.object);
      }
      const called = again(callee);
      // A class gives an object of it; what a function gives is not known; wrappers of libraries hold what they are given.
      return called.length > 0 ? called.filter(({ definition }) => definition.kind === 'class') : args.slice(0, 1).flatMap(({ value }) => again(value));
    }
    case 'subscript': return again(expression.object);
    case 'conditional': return [...again(expression.then), ...again(expression.otherwise)];
    default: return [];
  }
}

function lookUp(program: Program, scope: ModuleScope, name: string, hops = 0): Defined | undefined {
  const top = scope.names.get(name);
  if (top?.kind === 'class' || top?.kind === 'function') {
    return { scope, definition: top.definition };
  }
  if (top?.kind !== 'import' || top.name === undefined || hops === MOST_HOPS) {
    return undefined;
  }
  const target = program.resolve(top.module, top.level, scope);
  return target === undefined || target === scope ? undefined : lookUp(program, target, top.name, hops + 1);
}

/** `norms.rms_norm` after `import norms` or `from . import norms`. */
function memberOf(program: Program, scope: ModuleScope, object: string, name: string): Defined | undefined {
  const top = scope.names.get(object);
  if (top?.kind !== 'import') {
    return undefined;
  }
  const module = program.resolve(top.name === undefined ? top.module : top.module === '' ? top.name : `${top.module}.${top.name}`, top.level, scope);
  return module === undefined || module === scope ? undefined : lookUp(program, module, name, 1);
}

/** Values that the same words are given: in the same function, else anywhere in the file. */
function assigned(scope: ModuleScope, within: FunctionDefinition | undefined, target: Expression): readonly Expression[] {
  const words = scope.text.slice(target.start, target.end);
  const all = assignments(scope).filter((one) => one.words === words && one.value.start !== target.start && !(one.value.start <= target.start && target.end <= one.value.end));
  const near = all.filter(({ value }) => within !== undefined && within.start <= value.start && value.end <= within.end);
  return (near.length > 0 ? near : all).map(({ value }) => value);
}

interface Assignment {
  readonly words: string;
  readonly value: Expression;
}

const knownAssignments = new WeakMap<ModuleScope, readonly Assignment[]>();

function assignments(scope: ModuleScope): readonly Assignment[] {
  let known = knownAssignments.get(scope);
  if (known === undefined) {
    const found: Assignment[] = [];
    parts(scope.module.body, (part) => {
      if (part.kind === 'assign') {
        part.targets.forEach((target) => found.push({ words: scope.text.slice(target.start, target.end), value: part.value }));
      }
    });
    known = found;
    knownAssignments.set(scope, known);
  }
  return known;
}

const knownMade = new WeakMap<ModuleScope, ReadonlyMap<string, ReadonlySet<string>>>();

/** Name of a class → attributes that are given something made of it, line by line: `self.norm = RMSNorm(dim)`. */
function madeIn(module: ModuleScope): ReadonlyMap<string, ReadonlySet<string>> {
  let known = knownMade.get(module);
  if (known === undefined) {
    const made = new Map<string, Set<string>>();
    for (const [, attribute, value] of module.text.matchAll(/^[ \t]*self\.(\w+)[ \t]*(?::[^=\n]+)?=(?!=)([^\n]*)/gm)) {
      for (const [, name] of value.matchAll(/(\w+)\(/g)) {
        made.set(name, (made.get(name) ?? new Set()).add(attribute));
      }
    }
    known = made;
    knownMade.set(module, known);
  }
  return known;
}

const knownHolders = new WeakMap<Program, Map<Definition, ReadonlySet<string>>>();

/** Attributes that are given an object of the class somewhere in the workspace. */
function holders(program: Program, { scope, definition }: Defined): ReadonlySet<string> {
  const known = knownHolders.get(program) ?? new Map<Definition, ReadonlySet<string>>();
  knownHolders.set(program, known);
  let found = known.get(definition);
  if (found === undefined) {
    const names = new Set<string>();
    for (const module of definition.kind === 'class' ? program.modules?.() ?? [scope] : []) {
      const attributes = madeIn(module).get(definition.name);
      if (attributes !== undefined && sees(program, module, { scope, definition })) {
        attributes.forEach((attribute) => names.add(attribute));
      }
    }
    found = names;
    known.set(definition, found);
  }
  return found;
}

/** Whether a module means this class by its name: its own, imported, or through a module that it imports. */
function sees(program: Program, module: ModuleScope, { definition }: Defined): boolean {
  const top = module.names.get(definition.name);
  return top === undefined ? true : lookUp(program, module, definition.name)?.definition === definition;
}

/** Whether a definition uses another, by what it calls and by what that calls. */
function uses(program: Program, from: Defined, edited: Defined): boolean {
  const seen = new Set<Definition>();
  const pending = [from];
  for (let at = pending.pop(); at !== undefined && seen.size < MOST_USED; at = pending.pop()) {
    if (at.definition === edited.definition) {
      return true;
    }
    if (seen.has(at.definition)) {
      continue;
    }
    seen.add(at.definition);
    const { scope, definition } = at;
    parts([definition], (part) => {
      const used = part.kind === 'name' ? lookUp(program, scope, part.name) : part.kind === 'attribute' && part.object.kind === 'name' ? memberOf(program, scope, part.object.name, part.name) : undefined;
      if (used !== undefined && !seen.has(used.definition)) {
        pending.push(used);
      }
    });
  }
  return false;
}

/** A path without the folders it shares with the file that is edited. */
function seenFrom(edited: string, other: string): string {
  const [own, path] = [edited, other].map((file) => file.split(/[\\/]/));
  const first = path.findIndex((part, i) => part !== own[i] || i === path.length - 1);
  return path.slice(first).join('/');
}

