import type { ClassDefinition } from '../python/ast';
import type { ModuleScope, Program } from '../python/program';

interface IndexedClass {
  readonly scope: ModuleScope;
  readonly definition: ClassDefinition;
}

/** Classes of a program by the last name of each of their bases: built once a program, on first need. */
const byBase = new WeakMap<Program, ReadonlyMap<string, readonly IndexedClass[]>>();

/** Re-exports followed: `from .norm import RMSNorm` in the package's `__init__`. */
const MOST_HOPS = 4;

/** Classes of the whole program below a class, near and far. A base whose import leads nowhere counts when its name is the class's. */
export function subclassesOf(program: Program, scope: ModuleScope, definition: ClassDefinition): readonly IndexedClass[] {
  const known = byBase.get(program) ?? indexed(program, scope);
  byBase.set(program, known);
  const found: IndexedClass[] = [];
  const pending: IndexedClass[] = [{ scope, definition }];
  for (let base = pending.pop(); base !== undefined; base = pending.pop()) {
    const parent = base;
    for (const candidate of known.get(parent.definition.name) ?? []) {
      const fresh = candidate.definition !== definition && !found.some((one) => one.definition === candidate.definition);
      if (fresh && mayExtend(program, candidate, parent)) {
        found.push(candidate);
        pending.push(candidate);
      }
    }
  }
  return found;
}

function indexed(program: Program, scope: ModuleScope): ReadonlyMap<string, readonly IndexedClass[]> {
  const classes = new Map<string, IndexedClass[]>();
  for (const module of program.modules?.() ?? [scope]) {
    for (const top of module.names.values()) {
      if (top.kind === 'class') {
        for (const name of baseNames(module, top.definition)) {
          const last = name.split('.').at(-1) ?? name;
          classes.set(last, [...(classes.get(last) ?? []), { scope: module, definition: top.definition }]);
          // `from a import Norm as Base`
          const imported = module.names.get(name);
          if (imported?.kind === 'import' && imported.name !== undefined && imported.name !== last) {
            classes.set(imported.name, [...(classes.get(imported.name) ?? []), { scope: module, definition: top.definition }]);
          }
        }
      }
    }
  }
  return classes;
}

const baseNames = (scope: ModuleScope, definition: ClassDefinition): readonly string[] => definition.bases.filter(({ name }) => name === undefined).map(({ value }) => scope.text.slice(value.start, value.end)).filter((text) => /^[\w.]+$/.test(text));

function mayExtend(program: Program, { scope, definition }: IndexedClass, parent: IndexedClass): boolean {
  return baseNames(scope, definition).some((name) => {
    const [first, ...rest] = name.split('.');
    const top = scope.names.get(first);
    if (rest.length === 0 && top?.kind === 'class') {
      return top.definition === parent.definition;
    }
    const wanted = rest.at(-1) ?? (top?.kind === 'import' ? top.name ?? first : first);
    if (wanted !== parent.definition.name) {
      return false;
    }
    if (top?.kind !== 'import' || rest.length > 0) {
      return true;
    }
    const target = resolved(program, scope, first, 0);
    return target === undefined || target === parent.definition;
  });
}

/** The class that a name leads to; undefined when the way leaves the program. */
function resolved(program: Program, scope: ModuleScope, name: string, hops: number): ClassDefinition | undefined {
  const top = scope.names.get(name);
  if (top?.kind === 'class') {
    return top.definition;
  }
  if (top?.kind !== 'import' || top.name === undefined || hops === MOST_HOPS) {
    return undefined;
  }
  const target = program.resolve(top.module, top.level, scope);
  return target === undefined || target === scope ? undefined : resolved(program, target, top.name, hops + 1);
}
