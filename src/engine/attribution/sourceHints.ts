/**
 * What is known of a run besides its kernels: the script it was started with, the model in its `config.json`, the files open in
 * the editor. Hints never make an answer; they put equals in order.
 */
import type { SourceHints } from '../../protocol/fingerprints';
import type { FilePort } from '../port';
import type { ModuleScope, ModuleSet } from '../python/program';
import type { Candidate } from './candidates';

const README = /^readme(\.\w+)?$/i;
const MOST_TEXT = 64 * 1024;
/** Folders below each source folder that are looked into for a `config.json`. */
const MOST_FOLDERS = 40;

/**
 * Hints that lie in the folders themselves: scripts that a README or `launch.json` starts, else files with a `__main__`
 * block; and `config.json` files in each folder and right below it. What cannot be read gives no hint.
 */
export async function gatherHints(port: FilePort, folders: readonly string[], scopes: readonly ModuleScope[], beside: readonly string[] = []): Promise<SourceHints> {
  const named: string[] = [];
  const models: string[] = [];
  for (const folder of [...folders, ...beside]) {
    if ((await port.stat(folder))?.kind !== 'folder') {
      if (folders.includes(folder) && folder.endsWith('.py')) {
        named.push(folder);
      }
      continue;
    }
    const entries = await port.list(folder).catch(() => []);
    for (const { name, kind } of entries) {
      if (kind === 'file' && README.test(name)) {
        named.push(...startedScripts(await headOf(port, port.join(folder, name)), folder, port));
      }
    }
    named.push(...startedScripts(await headOf(port, port.join(folder, '.vscode', 'launch.json')), folder, port));
    const below = entries.filter(({ kind, name }) => kind === 'folder' && !name.startsWith('.')).slice(0, MOST_FOLDERS).map(({ name }) => port.join(folder, name));
    for (const place of [folder, ...below]) {
      models.push(...modelsIn(await headOf(port, port.join(place, 'config.json'))));
    }
  }
  const files = new Set(scopes.map(({ file }) => file));
  const mains = scopes.filter(({ text }) => /^if\s+__name__\s*==\s*['"]__main__['"]/m.test(text)).map(({ file }) => file);
  const known = named.filter((file) => files.has(file));
  return { entries: known.length > 0 ? [...new Set(known)] : mains, models: [...new Set(models)] };
}

async function headOf(port: FilePort, file: string): Promise<string> {
  try {
    const stat = await port.stat(file);
    return stat?.kind === 'file' ? new TextDecoder().decode(await port.read(file, 0, Math.min(stat.size, MOST_TEXT))) : '';
  } catch {
    return '';
  }
}

/** `torchrun … pkg/train.py`, `python -m pkg.train`, `"program": "${workspaceFolder}/train.py"`. */
function startedScripts(text: string, folder: string, port: FilePort): readonly string[] {
  const scripts = [...text.matchAll(/\b(?:python3?|torchrun|accelerate launch|deepspeed|program)\b[^\n]*?([\w./-]+\.py)\b/g)].map(([, script]) => script);
  const modules = [...text.matchAll(/\b(?:python3?|torchrun)\b[^\n]*?\s-m\s+([\w.]+)/g)].map(([, module]) => `${module.replaceAll('.', '/')}.py`);
  return [...scripts, ...modules].map((script) => port.join(folder, ...script.replace(/^\.?\//, '').split('/')));
}

function modelsIn(text: string): readonly string[] {
  try {
    const config = JSON.parse(text) as { readonly model_type?: unknown; readonly architectures?: unknown };
    return [config.model_type, ...(Array.isArray(config.architectures) ? config.architectures as unknown[] : [])].filter((name): name is string => typeof name === 'string' && name !== '');
  } catch {
    return [];
  }
}

/** Order of equal candidates under hints: reach from the entry point, the configured model, the open editor, own code before packages. */
export class HintOrder {
  private readonly distances: ReadonlyMap<string, number>;

  constructor(program: ModuleSet | undefined, private readonly hints: SourceHints) {
    this.distances = program === undefined ? new Map() : importDistances(program, hints.entries ?? []);
  }

  /** Negative when `a` is the likelier of two equals, 0 where no hint tells. */
  compare(a: Candidate, b: Candidate): number {
    return compareLists(this.keyOf(a), this.keyOf(b));
  }

  private keyOf({ scope, owner }: Candidate): readonly number[] {
    const { models = [], open = [] } = this.hints;
    const parts = scope.file.split(/[\\/]/);
    const named = models.some((model) => owner?.name === model || scope.names.get(model)?.kind === 'class' || parts.includes(model) || [`${model}.py`, `modeling_${model}.py`].includes(parts[parts.length - 1]));
    const at = open.indexOf(scope.file);
    return [this.distances.get(scope.file) ?? Infinity, named ? 0 : 1, at < 0 ? Infinity : at, /(^|[\\/])(site|dist)-packages[\\/]/.test(scope.file) ? 1 : 0];
  }
}

function compareLists(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : a[at] < b[at] ? -1 : 1;
}

/** Steps of imports from the nearest entry, by file. */
function importDistances(program: ModuleSet, entries: readonly string[]): ReadonlyMap<string, number> {
  const distances = new Map<string, number>();
  const pending = [...program.modules()].filter(({ file }) => entries.includes(file));
  pending.forEach(({ file }) => distances.set(file, 0));
  for (let i = 0; i < pending.length; i++) {
    const scope = pending[i];
    const next = (distances.get(scope.file) ?? 0) + 1;
    for (const name of scope.names.values()) {
      if (name.kind !== 'import') {
        continue;
      }
      // `from pkg import module` names a module or something in one.
      const asModule = name.name === undefined ? undefined : program.resolve(name.module === '' ? name.name : `${name.module}.${name.name}`, name.level, scope);
      for (const target of [asModule, program.resolve(name.module, name.level, scope)]) {
        if (target !== undefined && !distances.has(target.file)) {
          distances.set(target.file, next);
          pending.push(target);
        }
      }
    }
  }
  return distances;
}
