/**
 * Files a file builds on: a model whose layers lie in other files of its package looks like none of them alone. Imports are
 * read from the text, for a tree of every file would cost too much.
 */
import type { ModuleScope, Program } from '../python/program';
import type { SourceText } from '../python/sourceText';

interface Import {
  readonly module: string;
  readonly level: number;
  /** Names taken from it; empty for `import a.b`. */
  readonly names: readonly string[];
}

const FROM = /^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\(([^)]*)\)|[^\n#]*)/gm;
const PLAIN = /^[ \t]*import[ \t]+([\w.]+)/gm;
/** A model's own layers are few files; what imports more is a whole library. */
const MOST = 16;

const known = new WeakMap<SourceText, readonly Import[]>();

function importsOf({ source }: ModuleScope): readonly Import[] {
  let imports = known.get(source);
  if (imports === undefined) {
    const { text } = source;
    imports = [
      ...[...text.matchAll(FROM)].map(([, dots, module, list, inner]) => ({ module, level: dots.length, names: (inner ?? list).replace(/#[^\n]*/g, '').split(',').map((name) => name.trim().split(/\s+as\s+/)[0]).filter((name) => name !== '') })),
      ...[...text.matchAll(PLAIN)].map(([, module]) => ({ module, level: 0, names: [] })),
    ];
    known.set(source, imports);
  }
  return imports;
}

const isPackage = (scope: ModuleScope): boolean => /(^|[\\/])__init__\.py$/.test(scope.file);

/** Indexed files that a file imports, and those they import in turn, nearest first; packages stand for the files they take names from. */
export function importedFiles(program: Program, scope: ModuleScope): readonly ModuleScope[] {
  const found = new Set<ModuleScope>();
  const queue: ModuleScope[] = [scope];
  for (let from = queue.shift(); from !== undefined && found.size < MOST; from = queue.shift()) {
    for (const { module, level, names } of importsOf(from)) {
      for (const target of targetsOf(program, from, module, level, names, 0)) {
        if (target !== scope && !found.has(target) && found.size < MOST) {
          found.add(target);
          queue.push(target);
        }
      }
    }
  }
  return [...found];
}

function targetsOf(program: Program, from: ModuleScope, module: string, level: number, names: readonly string[], depth: number): readonly ModuleScope[] {
  const target = program.resolve(module, level, from);
  const wanted = target === undefined || isPackage(target) ? names : [];
  const parts = wanted.flatMap((name): readonly ModuleScope[] => {
    const part = program.resolve(module === '' ? name : `${module}.${name}`, level, from);
    if (part !== undefined) {
      return [part];
    }
    // `from .mlp import Mlp` in the package's own file.
    const handed = target === undefined || depth > 3 ? undefined : importsOf(target).find((entry) => entry.names.includes(name));
    return target === undefined || handed === undefined ? [] : targetsOf(program, target, handed.module, handed.level, [name], depth + 1);
  });
  return target === undefined || isPackage(target) ? parts : [target];
}
