import type { ClassDefinition } from '../python/ast';
import type { ModuleScope, Program } from '../python/program';

interface IndexedClass {
  readonly scope: ModuleScope;
  readonly definition: ClassDefinition;
}

/** Re-exports followed: `from .norm import RMSNorm` in the package's `__init__`. */
const MOST_HOPS = 4;

/** Classes of the whole program below a class, near and far. A base whose import leads nowhere counts when its name is the class's. */
export function subclassesOf(program: Program, scope: ModuleScope, definition: ClassDefinition): readonly IndexedClass[] {
  const found: IndexedClass[] = [];
  const pending: IndexedClass[] = [{ scope, definition }];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    for (const module of program.modules?.() ?? [scope]) {
      // Files are parsed when first asked for names: most need not be.
      if (!module.text.includes(parent.definition.name)) {
        continue;
      }
      for (const top of module.names.values()) {
        const fresh = top.kind === 'class' && top.definition !== definition && !found.some((one) => one.definition === top.definition);
        if (fresh && extendsClass(program, { scope: module, definition: top.definition }, parent)) {
          found.push({ scope: module, definition: top.definition });
          pending.push({ scope: module, definition: top.definition });
        }
      }
    }
  }
  return found;
}

function extendsClass(program: Program, { scope, definition }: IndexedClass, parent: IndexedClass): boolean {
  const bases = definition.bases.filter(({ name }) => name === undefined).map(({ value }) => scope.text.slice(value.start, value.end)).filter((text) => /^[\w.]+$/.test(text));
  return bases.some((name) => {
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
