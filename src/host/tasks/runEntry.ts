import * as vscode from 'vscode';
import { visibleText } from '../../protocol/visibleText';
import type { LineProgress } from '../../run/progressLine';
import type { ArrayTasks, QueueState, RunRecord, RunState } from '../../run/run';
import { failedTasks } from '../../run/runEnd';
import { sentenceOf } from '../sentences';

/** Characters of a list of nodes. */
const LONGEST_NODES = 24;

/** One run as this window knows it. Plain data: the handle to the run itself is got when something is done with it. */
export interface RunEntry {
  readonly id: string;
  /** Undefined: this machine. */
  readonly host: string | undefined;
  readonly name: string;
  /** Absolute, on the host. */
  readonly folder: string;
  readonly record: RunRecord | undefined;
  readonly state: RunState | undefined;
  /** When `state` was true, in milliseconds of our clock. */
  readonly seenAt: number;
  readonly progress: LineProgress;
  /** Started from this workspace, or attached to from it. */
  readonly mine: boolean;
  /** A terminal of this window streams it. */
  readonly followed: boolean;
  /** Where its profile lies on this machine, once it is here. */
  readonly profile: string | undefined;
  /** Why nothing newer is known, as a sentence. */
  readonly failure: string | undefined;
}

export const keyOf = ({ host, id }: Pick<RunEntry, 'host' | 'id'>): string => `${host ?? ''}\0${id}`;

export function isLive({ state }: RunEntry): boolean {
  return state === undefined ? false : state.phase === 'starting' || state.phase === 'queued' || state.phase === 'running';
}

/** A capture of ours: it has, or will have, a profile. */
export const isCapture = ({ record }: RunEntry): boolean => record?.settings.capture !== undefined;

export const placeName = (host: string | undefined): string => (host === undefined ? vscode.l10n.t('this machine') : visibleText(host));

/** "running · step 12/100 · loss 2.31 · 1 min 20 s". */
export function statusWords(entry: RunEntry, now = Date.now()): string {
  return [stateWord(entry), stepWords(entry.progress), lossWords(entry.progress), elapsedWords(entry, now)].filter((word) => word !== '').join(' · ');
}

export function stateWord({ state, failure }: Pick<RunEntry, 'state' | 'failure'>): string {
  if (state === undefined) {
    return failure === undefined ? '' : vscode.l10n.t('not reachable');
  }
  const { queue, tasks } = state;
  switch (state.phase) {
    case 'starting': return vscode.l10n.t('starting');
    case 'queued': return queueWords(state);
    // Each task of an array has nodes of its own.
    case 'running': return tasks === undefined ? runningWords(queue) : `${vscode.l10n.t('running')} · ${arrayWords(tasks)}`;
    case 'lost': return vscode.l10n.t('gone without an exit code');
    case 'exited': return endWord(state);
  }
}

/** "queued, place 2: jobs with a higher priority go first". A row is narrow: the number of the job stands in the tooltip. */
function queueWords({ queue }: RunState): string {
  const place = queue?.ahead === undefined ? vscode.l10n.t('waiting') : vscode.l10n.t('queued, place {0}', queue.ahead + 1);
  const why = queue === undefined ? '' : reasonWords(queue);
  return why === '' ? place : vscode.l10n.t('{0}: {1}', place, why);
}

const runningWords = (queue: QueueState | undefined): string => (queue?.nodes === undefined ? vscode.l10n.t('running') : vscode.l10n.t('running on {0}', nodesWord(queue.nodes)));

/** Slurm folds names (`n[1-4]`); what is still long is cut. */
export const nodesWord = (nodes: string): string => visibleText(nodes.length > LONGEST_NODES ? `${nodes.slice(0, LONGEST_NODES)}…` : nodes);

/** "2 of 5 tasks ended, 1 failed". */
function arrayWords(tasks: ArrayTasks): string {
  const failed = failedTasks(tasks).length;
  const ended = vscode.l10n.t('{0} of {1} tasks ended', Object.keys(tasks.exits).length, tasks.total);
  return failed === 0 ? ended : vscode.l10n.t('{0}, {1} failed', ended, failed);
}

function endWord({ stopped, exit, queue, tasks }: RunState): string {
  if (stopped === true) {
    return queue === undefined ? vscode.l10n.t('stopped') : vscode.l10n.t('cancelled');
  }
  if (exit === 0) {
    return vscode.l10n.t('done');
  }
  const failed = failedTasks(tasks).length;
  return tasks !== undefined && failed > 0 ? vscode.l10n.t('{0} of {1} tasks failed', failed, tasks.total) : vscode.l10n.t('failed ({0})', exit ?? '–');
}

/** One task of a Slurm array, by its number. */
export interface ArrayTask {
  readonly of: RunEntry;
  readonly number: number;
}

/** In the order of their numbers: those that ended and those in the queue; what Slurm no longer knows has no row. */
export function arrayTasks(entry: RunEntry): readonly ArrayTask[] {
  const { tasks } = entry.state ?? {};
  const numbers = [...Object.keys(tasks?.exits ?? {}), ...Object.keys(tasks?.live ?? {})].map(Number);
  return numbers.sort((a, b) => a - b).map((number) => ({ of: entry, number }));
}

export type TaskPhase = 'queued' | 'running' | 'done' | 'failed';

/** How a task of an array is, in one word to choose an icon by and in words. */
export function taskState({ of: { state }, number }: ArrayTask): { readonly phase: TaskPhase; readonly words: string } {
  const { exits = {}, live = {} } = state?.tasks ?? {};
  const exit = exits[number];
  if (exit !== undefined) {
    return exit === 0 ? { phase: 'done', words: vscode.l10n.t('done') } : { phase: 'failed', words: vscode.l10n.t('failed ({0})', exit) };
  }
  const task = live[number];
  if (task?.nodes !== undefined) {
    return { phase: 'running', words: vscode.l10n.t('running on {0}', nodesWord(task.nodes)) };
  }
  const why = task === undefined ? '' : reasonWords(task);
  return { phase: 'queued', words: why === '' ? vscode.l10n.t('waiting') : vscode.l10n.t('{0}: {1}', vscode.l10n.t('waiting'), why) };
}

/** A sentence where the system's own word is known. */
export const reasonWords = ({ reason = '', explanation }: Pick<QueueState, 'reason' | 'explanation'>): string => (explanation === undefined ? reason : sentenceOf(explanation));

function stepWords({ step, totalSteps }: LineProgress): string {
  return step === undefined ? '' : totalSteps === undefined ? vscode.l10n.t('step {0}', step) : vscode.l10n.t('step {0}/{1}', step, totalSteps);
}

const lossWords = ({ loss }: LineProgress): string => (loss === undefined ? '' : vscode.l10n.t('loss {0}', Number.isFinite(loss) ? Number(loss.toPrecision(5)) : String(loss)));

function elapsedWords(entry: RunEntry, now: number): string {
  const seconds = entry.state?.elapsedSeconds;
  return seconds === undefined ? '' : duration(seconds + (entry.state?.phase === 'running' || entry.state?.phase === 'queued' ? Math.max(0, now - entry.seenAt) / 1000 : 0));
}

/** "42 s", "1 min 20 s", "2 h 05 min". */
function duration(seconds: number): string {
  const whole = Math.floor(seconds);
  if (whole < 60) {
    return vscode.l10n.t('{0} s', whole);
  }
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? vscode.l10n.t('{0} min {1} s', minutes, whole % 60) : vscode.l10n.t('{0} h {1} min', Math.floor(minutes / 60), String(minutes % 60).padStart(2, '0'));
}
