import type { Message } from '../engine/profile/problems';
import { checkRunSettings } from './checkRunSettings';
import { runFailure } from './failure';
import type { RunSettings } from './runSettings';
import { arrayTasks } from './slurm';

/** What is wrong with settings, first things first; `[]` when they can be run. */
export function checkSettings(settings: unknown): readonly Message[] {
  const checked = checkRunSettings(settings);
  if (!checked.ok) {
    return checked.problems;
  }
  const array = checked.settings.slurm?.array;
  return array !== undefined && arrayTasks(array) === undefined ? [{ code: 'error.run-array', args: { array } }] : [];
}

/** Settings from JSON text. Throws `RunFailure` with the first thing that is wrong. */
export function readSettings(json: string, file: string): RunSettings {
  let value: unknown;
  try {
    value = JSON.parse(json.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw runFailure('error.run-settings', { file, text: error instanceof Error ? error.message : String(error) });
  }
  const problem = checkSettings(value)[0];
  if (problem !== undefined) {
    throw runFailure(problem.code, { ...problem.args });
  }
  return value as RunSettings;
}
