/** What the ranks of a capture wrote about themselves: `fuselens-rank<R>-<pid>.json` in the output folder (media/python/capture). */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { StepWindow } from './captureSteps';

const NOTE_STATES = ['waiting', 'recording', 'complete', 'partial', 'aside', 'failed', 'ended-before', 'not-asked'] as const;
export type NoteState = (typeof NOTE_STATES)[number];

export interface RankNote {
  readonly rank: number;
  readonly world: number;
  readonly state: NoteState;
  readonly host: string;
  readonly pid: number;
  /** Optimizer steps that were seen. */
  readonly steps: number;
  /** First and last step of each recording. */
  readonly recorded: readonly StepWindow[];
  /** Files or folders of the recordings, relative to the output folder. */
  readonly results: readonly string[];
  /** Why it stepped aside or failed, in the program's words. */
  readonly reason: string;
  /** How long the rank stood still to write it; NaN unknown. */
  readonly exportSeconds: number;
  readonly profiler: string;
  readonly skippedByScaler: number;
}

/** The latest note of every process, by rank. What is no note is left out. */
export async function readRankNotes(output: string): Promise<readonly RankNote[]> {
  const names = (await readdir(output).catch(() => [])).filter((name) => /^fuselens-rank\d+-\d+\.json$/.test(name));
  const notes = await Promise.all(names.map(async (name) => noteOf(await readFile(path.join(output, name), 'utf8').catch(() => ''))));
  return notes.flatMap((note) => (note === undefined ? [] : [note])).sort((a, b) => a.rank - b.rank || a.pid - b.pid);
}

function noteOf(text: string): RankNote | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) {
    return undefined;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const state = NOTE_STATES.find((known) => known === fields.state);
  const rank = whole(fields.rank);
  if (state === undefined || rank === undefined) {
    return undefined;
  }
  return {
    rank, state, world: whole(fields.world) ?? 1, host: words(fields.host), pid: whole(fields.pid) ?? 0, steps: whole(fields.steps) ?? 0,
    recorded: list(fields.recorded).flatMap(windowOf), results: list(fields.results).map(words).filter((file) => file !== ''),
    reason: words(fields.reason), exportSeconds: typeof fields.exportSeconds === 'number' ? fields.exportSeconds : NaN, profiler: words(fields.profiler), skippedByScaler: whole(fields.skippedByScaler) ?? 0,
  };
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function windowOf(value: unknown): readonly StepWindow[] {
  const [first, last] = list(value).map(whole);
  return first === undefined || last === undefined ? [] : [[first, last]];
}

const whole = (value: unknown): number | undefined => (typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined);
const words = (value: unknown): string => (typeof value === 'string' ? value : '');
