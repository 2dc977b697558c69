import type { FamilyRule } from '../engine/analysis/families';

/** What an engine is told when it starts; plain data, so that it crosses to a thread or process. */
export interface EngineSettings {
  /** Folder of the column cache; undefined = no cache. */
  readonly cacheFolder?: string;
  /** The cache is kept under this many bytes, least recently used first. */
  readonly cacheLimitBytes?: number;
  /** Loaded ranks beyond this many bytes are dropped. */
  readonly memoryBudgetBytes?: number;
  readonly familyRules?: readonly FamilyRule[];
}
