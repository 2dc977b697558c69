import * as vscode from 'vscode';
import type { Message } from '../engine/profile/problems';
import type { Problem } from '../protocol/engine';
import { withinProfile } from '../protocol/problemPlace';
import { render, renderProblem } from '../protocol/text';

/** The editor's language for templates of `protocol/text`; placeholders are filled afterwards. */
export const translate = (english: string): string => vscode.l10n.t(english);

/** Codes of calls that ended because somebody wanted so: the user cancelled, or the profile was closed meanwhile. */
const ENDED_ON_PURPOSE: ReadonlySet<string> = new Set(['error.cancelled', 'error.engine-disposed']);

/** True for the error that a cancelled call ends with; nothing needs to be said then. */
export function isCancelled(error: unknown): boolean {
  return (error instanceof Error && error.name === 'Cancelled') || ENDED_ON_PURPOSE.has(codeOf(error));
}

/** Message code of an engine error, '' when there is none. */
export function codeOf(error: unknown): string {
  return messageOf(error)?.code ?? '';
}

/** An engine error carries its message either as `detail` (thrown here) or as `code` and `args` (came from the worker), a run's as `explanation`. */
function messageOf(error: unknown): Message | undefined {
  if (typeof error !== 'object' || error === null) {
    return undefined;
  }
  const { detail, explanation, code, args } = error as { readonly detail?: unknown; readonly explanation?: unknown; readonly code?: unknown; readonly args?: Message['args'] };
  for (const carried of [detail, explanation]) {
    if (typeof carried === 'object' && carried !== null && typeof (carried as Message).code === 'string') {
      return carried as Message;
    }
  }
  return typeof code === 'string' ? { code, ...(args === undefined ? {} : { args }) } : undefined;
}

/** One sentence for any error. */
export function sentenceOf(error: unknown): string {
  const message = messageOf(error);
  if (message !== undefined) {
    const sentence = render(message, translate);
    if (sentence !== message.code) {
      return sentence;
    }
  }
  const reason = error instanceof Error ? error.message : String(error);
  return vscode.l10n.t('FuseLens met an error it does not know: {0}', reason);
}

/** A problem as one line: what happened and, where known, what it does to the figures. */
export function problemLine(problem: Problem, profilePath: string): string {
  const { message, effect } = renderProblem(withinProfile(problem, profilePath), translate);
  return effect === '' ? message : `${message} ${effect}`;
}

/** Bytes for people: 999 B, 12 kB, 3.4 MB. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(unit > 1 && value < 10 ? 1 : 0)} ${units[unit]}`;
}
