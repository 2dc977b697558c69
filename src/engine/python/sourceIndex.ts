/**
 * The Python files of a workspace, parsed: found by walking folders, filtered by bytes before parsing, with open documents
 * laid over the disk.
 */
import type { Parser } from 'web-tree-sitter';
import type { FilePort } from '../port';
import { Cancelled, UnreadableInput } from '../profile/problems';
import type { Module } from './ast';
import { parsePython } from './parsePython';
import { FileScope, ModuleSet, type ModuleScope } from './program';
import { SourceText } from './sourceText';

export interface IndexOptions {
  readonly signal?: AbortSignal;
  /** Text of open documents by path; they hide the file on disk. */
  readonly overlay?: ReadonlyMap<string, string>;
  /** Called after each file. */
  readonly progress?: (files: number, total: number) => void;
  /** Most files read; beyond it the index says so. Default 5,000. */
  readonly cap?: number;
  /** Most folders walked, over all roots; beyond it the index says so. Default 20,000. */
  readonly folderCap?: number;
  /** Include site-packages and virtual environments below the folders. */
  readonly packages?: boolean;
}

export interface SourceIndex {
  readonly program: ModuleSet;
  readonly scopes: readonly ModuleScope[];
  readonly files: number;
  /** Files that name no framework and so are not looked at. */
  readonly passedOver: number;
  /** True when a cap ended the walk. */
  readonly capped: boolean;
}

const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['node_modules', '__pycache__', 'build', 'dist', '.git', '.hg', '.tox', '.mypy_cache', '.pytest_cache', 'venv', '.venv', 'env', 'site-packages', '.eggs']);
const PACKAGES: ReadonlySet<string> = new Set(['venv', '.venv', 'env', 'site-packages']);
/** What model code names; and engines that sample beside a trainer, which a script may start without naming more. */
const FRAMEWORKS = /torch|mindspore|paddle|\b(?:vllm|sglang|lmdeploy|verl|openrlhf|trl|slime|areal)\b/;
/** Larger than this is generated data, not model code. */
export const MOST_SOURCE_BYTES = 4 * 1024 * 1024;

interface Found {
  readonly path: string;
  readonly root: string;
}

interface KnownFile {
  readonly size: number;
  readonly mtimeMs: number;
  /** Undefined where the file names no framework, is too large or may not be read. */
  readonly source: SourceText | undefined;
}

export const indexSources = (port: FilePort, folders: readonly string[], parser: Parser, options: IndexOptions = {}): Promise<SourceIndex> => new SourceIndexer(port, parser).index(folders, options);

/** Indexes again and again: files that did not change are neither read nor parsed a second time. */
export class SourceIndexer {
  private known = new Map<string, KnownFile>();

  constructor(private readonly port: FilePort, private readonly parser: Parser) {}

  async index(folders: readonly string[], options: IndexOptions = {}): Promise<SourceIndex> {
    const { found, capped } = await findSources(this.port, folders, options);
    const known = new Map<string, KnownFile>();
    const scopes: ModuleScope[] = [];
    // Files are small: asking for a few at once hides the time of each call.
    for (let first = 0; first < found.length; first += BATCH) {
      stopIfAborted(options);
      const batch = found.slice(first, first + BATCH);
      const sources = await Promise.all(batch.map(({ path }) => this.source(path, options.overlay, known)));
      batch.forEach(({ path, root }, i) => {
        const source = sources[i];
        if (source !== undefined) {
          scopes.push(new FileScope(path, dottedName(path, root), source));
        }
      });
      options.progress?.(first + batch.length, found.length);
    }
    this.known = known;
    return { program: new ModuleSet(scopes), scopes, files: found.length, passedOver: found.length - scopes.length, capped };
  }

  /** A file worth parsing: the open document first, then the disk when its bytes name a framework. */
  private async source(path: string, overlay: ReadonlyMap<string, string> | undefined, known: Map<string, KnownFile>): Promise<SourceText | undefined> {
    const before = this.known.get(path);
    const open = overlay?.get(path);
    const parse = (text: string): Module => parsePython(this.parser, text);
    if (open !== undefined) {
      const source = before?.source?.text === open ? before.source : new SourceText(open, parse);
      // No size fits it, so that the disk is read again once the document is closed.
      known.set(path, { size: -1, mtimeMs: 0, source });
      return source;
    }
    const stat = await this.port.stat(path);
    if (stat === undefined || stat.size > MOST_SOURCE_BYTES) {
      return undefined;
    }
    const unchanged = before?.size === stat.size && before.mtimeMs === stat.mtimeMs;
    const text = unchanged ? undefined : await readSource(this.port, path, stat.size);
    const source = unchanged ? before.source : text === undefined ? undefined : before?.source?.text === text ? before.source : new SourceText(text, parse);
    known.set(path, { size: stat.size, mtimeMs: stat.mtimeMs, source });
    return source;
  }
}

const BATCH = 32;

function stopIfAborted({ signal }: IndexOptions): void {
  if (signal?.aborted === true) {
    throw new Cancelled();
  }
}

/** Python files and notebooks below the folders, up to the caps. */
async function findSources(port: FilePort, folders: readonly string[], options: IndexOptions): Promise<{ readonly found: readonly Found[]; readonly capped: boolean }> {
  const cap = options.cap ?? 5000;
  const folderCap = options.folderCap ?? 20_000;
  const found: Found[] = [];
  let walked = 0;
  for (const root of folders) {
    const stat = await port.stat(root);
    if (stat?.kind === 'file') {
      found.push({ path: root, root: port.dirname(root) });
      continue;
    }
    const named = await importRoot(port, root);
    const pending = [root];
    for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
      stopIfAborted(options);
      if (walked++ === folderCap) {
        return { found, capped: true };
      }
      // The port leaves out links that lead back to a folder above them, so this ends.
      for (const entry of await port.list(folder)) {
        const path = port.join(folder, entry.name);
        if (entry.kind === 'folder') {
          if (!SKIPPED_FOLDERS.has(entry.name) || (options.packages === true && PACKAGES.has(entry.name))) {
            pending.push(path);
          }
        } else if (/\.(py|ipynb)$/.test(entry.name)) {
          if (found.length >= cap) {
            return { found, capped: true };
          }
          found.push({ path, root: named });
        }
      }
    }
  }
  return { found, capped: false };
}

/** Where the dotted names of a folder's files begin: above the outermost package that the folder lies in. */
async function importRoot(port: FilePort, folder: string): Promise<string> {
  let root = folder;
  while ((await port.stat(port.join(root, '__init__.py')))?.kind === 'file' && port.dirname(root) !== root) {
    root = port.dirname(root);
  }
  return root;
}

async function readSource(port: FilePort, path: string, size: number): Promise<string | undefined> {
  const bytes = await port.read(path, 0, size).catch((error: unknown) => {
    // A forbidden file costs only itself.
    if (error instanceof UnreadableInput) {
      return undefined;
    }
    throw error;
  });
  const text = bytes === undefined ? '' : new TextDecoder('utf-8').decode(bytes);
  // Packages hand on the names of their modules and need not name a framework for it.
  const handsOn = /(^|[\\/])__init__\.py$/.test(path) && /^\s*from\s/m.test(text);
  if (!handsOn && !FRAMEWORKS.test(text)) {
    return undefined;
  }
  return path.endsWith('.ipynb') ? notebookText(text) : text;
}

/** Code cells of a notebook, one after the other; IPython magics become comments so that lines keep their places. */
export function notebookText(json: string): string | undefined {
  try {
    const notebook = JSON.parse(json) as { readonly cells?: readonly { readonly cell_type?: string; readonly source?: string | readonly string[] }[] };
    return (notebook.cells ?? []).filter((cell) => cell.cell_type === 'code').map((cell) => (typeof cell.source === 'string' ? cell.source : (cell.source ?? []).join('')).replace(/^(\s*)[%!]/gm, '$1#')).join('\n');
  } catch {
    return undefined;
  }
}

export const scopeOf = (path: string, root: string, text: string, parser: Parser): ModuleScope => new FileScope(path, dottedName(path, root), new SourceText(text, (body) => parsePython(parser, body)));

/** Dotted name of a file below its root; `src/` and the like are no packages, but suffixes resolve too. */
function dottedName(path: string, root: string): string {
  const relative = path.startsWith(root) ? path.slice(root.length) : path;
  const parts = relative.replace(/\.(py|ipynb)$/, '').split(/[\\/]/).filter((part) => part !== '');
  if (parts[parts.length - 1] === '__init__') {
    parts.pop();
  }
  return parts.join('.');
}
