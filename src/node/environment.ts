import type { EngineEnvironment } from '../engine/session';
import { nodeFilePort } from './filePort';
import type { EngineSettings } from './settings';

/** What a session needs, made from settings: files, the column cache and the spill store where a cache folder is given. */
export function engineEnvironment(settings: EngineSettings): EngineEnvironment {
  return {
    port: nodeFilePort(),
    ...(settings.familyRules === undefined ? {} : { familyRules: settings.familyRules }),
    ...(settings.memoryBudgetBytes === undefined ? {} : { memoryBudgetBytes: settings.memoryBudgetBytes }),
  };
}
