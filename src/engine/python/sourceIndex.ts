/**
 * The Python files of a workspace, parsed: found by walking folders, filtered by bytes before parsing, with open documents
 * laid over the disk.
 */
import type { Parser } from 'web-tree-sitter';
import type { FilePort } from '../port';
import { Cancelled, UnreadableInput } from '../profile/problems';
import { parsePython } from './parsePython';
import { moduleScope, ModuleSet, type ModuleScope } from './program';

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
  /** Files that name no framework and so were not parsed. */
  readonly passedOver: number;
  readonly withErrors: readonly string[];
  /** True when a cap ended the walk. */
  readonly capped: boolean;
}

const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['node_modules', '__pycache__', 'build', 'dist', '.git', '.hg', '.tox', '.mypy_cache', '.pytest_cache', 'venv', '.venv', 'env', 'site-packages', '.eggs']);
const PACKAGES: ReadonlySet<string> = new Set(['venv', '.venv', 'env', 'site-packages']);
const FRAMEWORKS = ['torch', 'mindspore', 'paddle'];
/** Larger than this is generated data, not model code. */
const MAX_BYTES = 4 * 1024 * 1024;

export async function indexSources(port: FilePort, folders: readonly string[], parser: Parser, options: IndexOptions = {}): Promise<SourceIndex> {
  const cap = options.cap ?? 5000;
  const found: { path: string; root: string }[] = [];
  let capped = false;
  let walked = 0;
  const folderCap = options.folderCap ?? 20_000;
  for (const root of folders) {
    const stat = await port.stat(root);
    const pending = stat?.kind === 'file' ? [] : [root];
    if (stat?.kind === 'file') {
      found.push({ path: root, root: port.dirname(root) });
    }
    for (let folder = pending.pop(); folder !== undefined && !capped; folder = pending.pop()) {
      if (options.signal?.aborted === true) {
        throw new Cancelled();
      }
      if (walked++ === folderCap) {
        capped = true;
        break;
      }
      // The port leaves out links that lead back to a folder above them, so this ends.
      for (const entry of await port.list(folder)) {
        const path = port.join(folder, entry.name);
        if (entry.kind === 'folder') {
          if (!SKIPPED_FOLDERS.has(entry.name) || (options.packages === true && PACKAGES.has(entry.name))) {
            pending.push(path);
          }
        } else if (/\.(py|ipynb)$/.test(entry.name)) {
          capped = found.length >= cap;
          if (capped) {
            break;
          }
          found.push({ path, root });
        }
      }
    }
  }
  const scopes: ModuleScope[] = [];
  const withErrors: string[] = [];
  let passedOver = 0;
  for (let i = 0; i < found.length; i++) {
    if (options.signal?.aborted === true) {
      throw new Cancelled();
    }
    const { path, root } = found[i];
    const text = await textOf(port, path, options.overlay);
    if (text === undefined) {
      passedOver++;
    } else {
      const scope = scopeOf(path, root, text, parser);
      if (scope.module.errors.length > 0) {
        withErrors.push(path);
      }
      scopes.push(scope);
    }
    options.progress?.(i + 1, found.length);
  }
  return { program: new ModuleSet(scopes), scopes, files: found.length, passedOver, withErrors, capped };
}

/** Text of a file worth parsing: open document first, then the disk when its bytes name a framework. */
async function textOf(port: FilePort, path: string, overlay: ReadonlyMap<string, string> | undefined): Promise<string | undefined> {
  const open = overlay?.get(path);
  if (open !== undefined) {
    return open;
  }
  const stat = await port.stat(path);
  if (stat === undefined || stat.size > MAX_BYTES) {
    return undefined;
  }
  const bytes = await port.read(path, 0, stat.size).catch((error: unknown) => {
    // A forbidden file costs only itself.
    if (error instanceof UnreadableInput) {
      return undefined;
    }
    throw error;
  });
  if (bytes === undefined) {
    return undefined;
  }
  const text = new TextDecoder('utf-8').decode(bytes);
  if (!FRAMEWORKS.some((word) => text.includes(word))) {
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

/** Dotted name of a file below its root; `src/` and the like are no packages, but suffixes resolve too. */
export function scopeOf(path: string, root: string, text: string, parser: Parser): ModuleScope {
  const relative = path.startsWith(root) ? path.slice(root.length) : path;
  const parts = relative.replace(/\.(py|ipynb)$/, '').split(/[\\/]/).filter((part) => part !== '');
  if (parts[parts.length - 1] === '__init__') {
    parts.pop();
  }
  return moduleScope(path, parts.join('.'), text, parsePython(parser, text));
}
