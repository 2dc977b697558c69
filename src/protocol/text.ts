/**
 * Every sentence the engine can say. The engine emits `{code, args}`; this turns it into English, or through a bundle into
 * another language. The sentences live in `messages/<area>.ts`, one table per area: add yours there, not here.
 *
 * A template's placeholders are names in braces, `{file}`, or a choice by number, `{count#row is#rows are}`. A bundle is keyed
 * by the English template (`l10n/bundle.l10n.<language>.json`), so a translation keeps the same names; it needs no choices.
 */
import type { Message, MessageArguments, Problem } from '../engine/profile/problems';
import { ascendMessages } from './messages/ascend';
import { captureMessages } from './messages/capture';
import { cliMessages } from './messages/cli';
import { cliRunMessages } from './messages/cliRuns';
import { compareMessages } from './messages/compare';
import { databaseMessages } from './messages/databases';
import { familyMessages } from './messages/families';
import { fingerprintMessages } from './messages/fingerprints';
import { fuseMessages } from './messages/fuse';
import { figureMessages } from './messages/figures';
import { kinetoMessages } from './messages/kineto';
import { openMessages } from './messages/open';
import { reportMessages } from './messages/report';
import { runMessages } from './messages/run';
import { sampleMessages } from './messages/sample';
import { taskMessages } from './messages/tasks';
import { timelineMessages } from './messages/timeline';
import { verifyMessages } from './messages/verify';
import { viewMessages } from './messages/views';
import { visibleText } from './visibleText';

/** All tables by area; a test proves that no code stands in two of them. */
export const MESSAGE_AREAS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  figures: figureMessages, families: familyMessages, report: reportMessages, open: openMessages, kineto: kinetoMessages, ascend: ascendMessages,
  databases: databaseMessages, timeline: timelineMessages, views: viewMessages, sample: sampleMessages, cli: cliMessages, compare: compareMessages, capture: captureMessages, fingerprints: fingerprintMessages, fuse: fuseMessages, verify: verifyMessages, tasks: taskMessages, run: runMessages, cliRuns: cliRunMessages,
};

/** Code → English template. */
export const MESSAGES: Readonly<Record<string, string>> = Object.assign({}, ...Object.values(MESSAGE_AREAS)) as Record<string, string>;

/** English template → template in the user's language (the same text when there is none). */
export type Translate = (english: string) => string;

export const english: Translate = (text) => text;

/** A translation from a bundle's content, as the CLI and the webviews use it; the host gives `vscode.l10n.t`. */
export function translateWith(bundle: Readonly<Record<string, string>> | undefined): Translate {
  return (text) => bundle?.[text] ?? text;
}

/**
 * Puts arguments into a template; a placeholder without an argument stays visible, so that the mistake is seen.
 * `{count#kernel has#kernels have}` takes the first words for 1 and the second for every other number.
 * Line breaks and the like in an argument (a file may be called so) are shown, not done.
 */
export function fill(template: string, args: MessageArguments = {}): string {
  return template.replace(/\{(\w+)(?:#([^#{}]*)#([^#{}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = args[name];
    if (one !== undefined && many !== undefined) {
      return Number(value) === 1 ? one : many;
    }
    return value === undefined ? whole : visibleText(String(value));
  });
}

/** A fusion that a workspace added has no sentence: its id is its name. */
const nameOf = (code: string): string => code.replace(/^fusion\.(?=[a-z][a-z0-9-]*$)/, '');

/** The sentence of a message. An unknown code gives the code itself: wrong, but never silent. */
export function render(message: Message, translate: Translate = english): string {
  const template = MESSAGES[message.code];
  return template === undefined ? nameOf(message.code) : fill(translate(template), withReason(message.args, translate));
}

/** A message may carry another one as its reason (`asReason`): a rank that could not be opened, and why. */
function withReason(args: MessageArguments | undefined, translate: Translate): MessageArguments | undefined {
  const { reason, cause, ...rest } = args ?? {};
  return typeof reason === 'string' && reason in MESSAGES ? { ...rest, reason: text(reason, cause === undefined ? rest : { ...rest, reason: cause }, translate) } : args;
}

/** The sentence of a code without a `Message` object round it. */
export function text(code: string, args?: MessageArguments, translate: Translate = english): string {
  return render(args === undefined ? { code } : { code, args }, translate);
}

/**
 * What happened (`problem.<kind>`) and what it does to the figures (`effect.<kind>`, may be empty). Templates can use
 * `{where}` and `{count}` besides the problem's own arguments.
 */
export function renderProblem(problem: Problem, translate: Translate = english): { readonly message: string; readonly effect: string } {
  const args: MessageArguments = { count: problem.count, kind: problem.kind, ...withReason(problem.args, translate), where: problem.where };
  const known = `problem.${problem.kind}` in MESSAGES;
  const message = text(known ? `problem.${problem.kind}` : 'problem.unknown-kind', args, translate);
  const effect = `effect.${problem.kind}` in MESSAGES ? text(`effect.${problem.kind}`, args, translate) : '';
  return { message, effect };
}
