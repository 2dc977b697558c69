/**
 * What is installed beside an interpreter, read from the packages' own metadata (`NAME-VERSION.dist-info`, PEP 376; the
 * older `.egg-info`): Python is never run for it.
 */
import { readSmallText, type FilePort } from '../port';

/** Versions by distribution name, lower case with dashes (PEP 503); a package that is missing was not looked for or is not there. */
export interface Installed {
  readonly folders: readonly string[];
  readonly versions: ReadonlyMap<string, string>;
}

export const NOTHING_KNOWN: Installed = { folders: [], versions: new Map() };

const normalized = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-');

/** `…/site-packages` of a file in an installed package; undefined for a file that is in none. */
export function sitePackagesOf(file: string): string | undefined {
  return /^(.*[\\/](?:site|dist)-packages)[\\/]/.exec(file)?.[1];
}

/** Folders of installed packages below an environment's prefix, or beside an interpreter in its `bin` or `Scripts`. */
export async function packageFolders(port: FilePort, interpreter: string): Promise<readonly string[]> {
  const inBin = /^(.*)[\\/](?:bin|Scripts)[\\/]python[^\\/]*$/.exec(interpreter)?.[1];
  const prefix = inBin ?? (/python[^\\/]*\.exe$/.test(interpreter) ? port.dirname(interpreter) : interpreter);
  const candidates = [port.join(prefix, 'Lib', 'site-packages')];
  for (const library of ['lib', 'lib64']) {
    for (const entry of await port.list(port.join(prefix, library))) {
      if (entry.kind === 'folder' && /^python3/.test(entry.name)) {
        candidates.push(port.join(prefix, library, entry.name, 'site-packages'), port.join(prefix, library, entry.name, 'dist-packages'));
      }
    }
  }
  const stats = await Promise.all(candidates.map(async (folder) => ({ folder, stat: await port.stat(folder) })));
  return stats.filter(({ stat }) => stat?.kind === 'folder').map(({ folder }) => folder);
}

/** Names and versions from the names of metadata folders; where a name has none, from the METADATA inside. */
export async function readInstalled(port: FilePort, folders: readonly string[]): Promise<Installed> {
  const versions = new Map<string, string>();
  for (const folder of folders) {
    for (const entry of await port.list(folder)) {
      const named = /^(.+?)-([0-9][^-]*)(?:-py3[^/]*)?\.(?:dist|egg)-info$/.exec(entry.name);
      const bare = /^(.+?)(?:-[^-]*)?\.(dist|egg)-info$/.exec(entry.name);
      if (named !== null) {
        setFirst(versions, named[1], named[2]);
      } else if (bare !== null && entry.kind === 'folder') {
        const metadata = await readSmallText(port, port.join(folder, entry.name, bare[2] === 'dist' ? 'METADATA' : 'PKG-INFO'), 1024 * 1024);
        const version = /^Version:\s*(\S+)/m.exec(metadata ?? '')?.[1];
        if (version !== undefined) {
          setFirst(versions, bare[1], version);
        }
      }
    }
  }
  return { folders, versions };
}

/** The first folder on the path wins, as in Python. */
function setFirst(versions: Map<string, string>, name: string, version: string): void {
  const key = normalized(name);
  if (!versions.has(key)) {
    versions.set(key, version);
  }
}

/**
 * Whether a requirement such as `torch 2.4` is met: undefined when the package's version is not known. Release numbers are
 * compared; what follows them (`+cpu`, `rc1`, `.dev0`) is not.
 */
export function isMet(requires: string, installed: Installed): boolean | undefined {
  const [name, wanted] = requires.split(' ');
  const version = installed.versions.get(normalized(name));
  if (version === undefined || wanted === undefined) {
    return undefined;
  }
  const has = release(version);
  const needs = release(wanted);
  for (let i = 0; i < needs.length; i++) {
    const difference = (has[i] ?? 0) - needs[i];
    if (difference !== 0) {
      return difference > 0;
    }
  }
  return true;
}

const release = (version: string): readonly number[] => (/^v?(\d+(?:\.\d+)*)/.exec(version)?.[1] ?? '0').split('.').map(Number);

/** Most files of a package looked through for a string, and the largest of them. */
const MOST_FILES = 6000;
const MOST_BYTES = 2 * 1024 * 1024;

/** Which of these strings stand in the Python source of an installed package; ends as soon as all are found. */
export async function stringsIn(port: FilePort, folder: string, strings: readonly string[], signal?: AbortSignal): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const pending = [folder];
  let files = 0;
  for (let at = pending.shift(); at !== undefined && found.size < strings.length; at = pending.shift()) {
    for (const entry of await port.list(at)) {
      signal?.throwIfAborted();
      const path = port.join(at, entry.name);
      if (entry.kind === 'folder') {
        if (entry.name !== '__pycache__') {
          pending.push(path);
        }
      } else if (entry.name.endsWith('.py') && files++ < MOST_FILES) {
        const text = await readSmallText(port, path, MOST_BYTES) ?? '';
        strings.filter((wanted) => text.includes(wanted)).forEach((wanted) => found.add(wanted));
      }
    }
  }
  return found;
}
