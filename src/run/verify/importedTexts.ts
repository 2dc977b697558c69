import type { ModuleScope, Program } from '../../engine/python/program';

/** Texts of a module's own package that importing it needs: what it imports, what that imports, and the packages around them. By path. */
export function importedTexts(from: ModuleScope, program: Program): ReadonlyMap<string, string> {
  const found = new Map<string, string>([[from.file, from.text]]);
  const pending = [from];
  const add = (scope: ModuleScope | undefined): void => {
    if (scope !== undefined && !found.has(scope.file)) {
      found.set(scope.file, scope.text);
      pending.push(scope);
    }
  };
  for (let scope = pending.pop(); scope !== undefined; scope = pending.pop()) {
    const parts = scope.name.split('.');
    parts.slice(1).forEach((_, i) => add(program.resolve(parts.slice(0, i + 1).join('.'), 0, from)));
    for (const name of scope.names.values()) {
      if (name.kind === 'import') {
        add(program.resolve(name.module, name.level, scope));
        // `from . import layers` names a module, not something in one.
        add(name.name === undefined ? undefined : program.resolve(name.module === '' ? name.name : `${name.module}.${name.name}`, name.level, scope));
      }
    }
  }
  return found;
}
