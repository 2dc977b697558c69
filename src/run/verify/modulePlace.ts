import { existsSync } from 'node:fs';
import path from 'node:path';

export interface ModulePlace {
  /** Dotted name under which the file is imported. */
  readonly module: string;
  /** Folder that has to be on `sys.path`. */
  readonly root: string;
  /** Folder of the file's own package, for relative imports. */
  readonly packageFolder: string;
}

/** How a file is imported: the folders above it that have an `__init__.py` are its packages. */
export function modulePlace(file: string): ModulePlace {
  const packageFolder = path.dirname(file);
  const parts: string[] = [];
  let root = packageFolder;
  while (existsSync(path.join(root, '__init__.py')) && path.dirname(root) !== root && /^[A-Za-z_]\w*$/.test(path.basename(root))) {
    parts.unshift(path.basename(root));
    root = path.dirname(root);
  }
  const stem = path.basename(file, '.py');
  // A file that is no importable name still runs as a script; it gets a name that is.
  const own = stem === '__init__' ? [] : [stem.replace(/\W/g, '_')];
  const names = [...parts, ...own];
  return { module: names.length === 0 ? 'module' : names.join('.'), root, packageFolder };
}
