import * as vscode from 'vscode';
import { visibleText } from '../../protocol/visibleText';
import type { LineProgress } from '../../run/progressLine';
import type { QueueState, RunRecord, RunState } from '../../run/run';
import { sentenceOf } from '../sentences';

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

export function stateWord({ state, failure }: RunEntry): string {
  if (state === undefined) {
    return failure === undefined ? '' : vscode.l10n.t('not reachable');
  }
  const { queue } = state;
  switch (state.phase) {
    case 'starting': return vscode.l10n.t('starting');
    case 'queued': return queueWords(state);
    case 'running': return queue === undefined ? vscode.l10n.t('running') : vscode.l10n.t('running (job {0})', queue.job);
    case 'lost': return vscode.l10n.t('gone without an exit code');
    case 'exited': return state.stopped === true ? vscode.l10n.t('stopped') : state.exit === 0 ? vscode.l10n.t('done') : vscode.l10n.t('failed ({0})', state.exit ?? '–');
  }
}

function queueWords({ queue }: RunState): string {
  if (queue === undefined) {
    return vscode.l10n.t('waiting');
  }
  const ahead = queue.ahead === undefined ? '' : vscode.l10n.t('{0} before it', queue.ahead);
  const start = queue.startEstimate === undefined ? '' : vscode.l10n.t('start {0}', queue.startEstimate);
  return [vscode.l10n.t('waiting (job {0})', queue.job), reasonWords(queue), ahead, start].filter((word) => word !== '').join(', ');
}

/** A sentence where the system's own word is known. */
export const reasonWords = ({ reason = '', explanation }: QueueState): string => (explanation === undefined ? reason : sentenceOf(explanation));

function stepWords({ step, totalSteps }: LineProgress): string {
  return step === undefined ? '' : totalSteps === undefined ? vscode.l10n.t('step {0}', step) : vscode.l10n.t('step {0}/{1}', step, totalSteps);
}

const lossWords = ({ loss }: LineProgress): string => (loss === undefined ? '' : vscode.l10n.t('loss {0}', Number.isFinite(loss) ? Number(loss.toPrecision(5)) : String(loss)));

function elapsedWords(entry: RunEntry, now: number): string {
  const seconds = entry.state?.elapsedSeconds;
  return seconds === undefined ? '' : duration(seconds + (entry.state?.phase === 'running' ? Math.max(0, now - entry.seenAt) / 1000 : 0));
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
