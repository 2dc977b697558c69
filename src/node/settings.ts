import path from 'node:path';
import type { FamilyRule } from '../engine/analysis/families';

/** What an engine is told when it starts; plain data, so that it crosses to a thread or process. */
export interface EngineSettings {
  /** Folder of the column cache; undefined = no cache. */
  readonly cacheFolder?: string;
  /** The cache is kept under this many bytes, least recently used first. */
  readonly cacheLimitBytes?: number;
  /** Which build reads: columns kept by another one are not used. Default: told from the running script itself. */
  readonly build?: string;
  /** Loaded ranks beyond this many bytes are dropped. */
  readonly memoryBudgetBytes?: number;
  readonly familyRules?: readonly FamilyRule[];
}

/**
 * Where the command line keeps its cache: `$XDG_CACHE_HOME/fuselens`, else the platform's place for caches. Undefined when
 * no home folder is known.
 */
export function defaultCacheFolder(environment: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: local, HOME: home } = environment;
  if (xdg !== undefined && path.isAbsolute(xdg)) {
    return path.join(xdg, 'fuselens');
  }
  if (process.platform === 'win32') {
    return local === undefined ? undefined : path.join(local, 'FuseLens', 'Cache');
  }
  const caches = process.platform === 'darwin' ? ['Library', 'Caches'] : ['.cache'];
  return home === undefined || home === '' ? undefined : path.join(home, ...caches, 'fuselens');
}
