import { statSync } from 'node:fs';
import type { EngineEnvironment } from '../engine/session';
import { NodeColumnCache } from './cache';
import { nodeFilePort } from './filePort';
import { pythonParser } from './pythonParser';
import type { EngineSettings } from './settings';
import { NodeSpill } from './spill';

/** What a session needs, made from settings: files, the column cache and the spill store where a cache folder is given. */
export function engineEnvironment({ cacheFolder, cacheLimitBytes, build, familyRules, memoryBudgetBytes }: EngineSettings): EngineEnvironment {
  const port = nodeFilePort();
  const common = { pythonParser, ...(familyRules === undefined ? {} : { familyRules }), ...(memoryBudgetBytes === undefined ? {} : { memoryBudgetBytes }) };
  if (cacheFolder === undefined) {
    return { port, ...common };
  }
  const options = { folder: cacheFolder, ...(cacheLimitBytes === undefined ? {} : { limitBytes: cacheLimitBytes }), build: build ?? ownBuild() };
  const spill = new NodeSpill(options);
  return {
    port: { ...port, readSpill: (key, offset, length) => spill.read(key, offset, length) },
    cache: new NodeColumnCache(options),
    spill: (source) => spill.create(source).catch(() => undefined),
    ...common,
  };
}

/** This very script's size and time: a newer build may read differently, so it does not use what an older one kept. */
function ownBuild(): string {
  try {
    const { size, mtimeMs } = statSync(__filename);
    return `${size}-${mtimeMs}`;
  } catch {
    return '';
  }
}
