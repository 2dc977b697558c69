import type { Message, MessageArguments } from '../engine/profile/problems';
import { FAILURES } from './failureTable';

/** One sentence (`code`, `args`: see `protocol/messages/run.ts`) and what the programs printed, to show on request. */
export interface RunExplanation extends Message {
  readonly code: string;
  readonly args: MessageArguments;
  readonly raw: string;
}

/** A call that could not be carried out; `explanation` is for the user. */
export class RunFailure extends Error {
  constructor(readonly explanation: RunExplanation) {
    super(`${explanation.code} ${JSON.stringify(explanation.args)}\n${explanation.raw}`);
    this.name = 'RunFailure';
  }
}

export interface FailureContext {
  /** Undefined: this machine. */
  readonly host?: string;
  readonly command?: string;
  /** True: ssh itself failed, so only its own failures are looked for, and exit codes say nothing of the job. */
  readonly transport?: boolean;
}

/** Makes a failure of our own, with arguments, where no program's output is to be explained. */
export function runFailure(code: string, args: MessageArguments = {}, raw = ''): RunFailure {
  return new RunFailure({ code, args, raw });
}

/**
 * Why something failed, from what it printed (stderr or the end of a log) and its exit code (128 + n for signal n; undefined when
 * it never ended). Never undefined: what is not in the catalogue is said by its exit code, with the raw text.
 */
export function explainRunFailure(text: string, exit: number | undefined, context: FailureContext = {}): RunExplanation {
  // ssh ends its lines in CR LF; progress bars rewrite theirs.
  const raw = text.replace(/\r\n/g, '\n').trim();
  const base: MessageArguments = { host: context.host ?? '', command: context.command ?? '', exit: exit ?? -1 };
  for (const failure of FAILURES) {
    if (failure.transport === true && context.transport === false || failure.transport !== true && context.transport === true) {
      continue;
    }
    const found = failure.find(raw, exit);
    if (found !== undefined) {
      const code = context.host === undefined && failure.here !== undefined ? failure.here : failure.code;
      return { code, args: { ...base, ...found }, raw };
    }
  }
  if (context.transport === true) {
    return { code: raw === '' ? 'error.run-connection-ended' : 'error.run-ssh', args: { ...base, text: lastLine(raw) }, raw };
  }
  return { code: 'error.run-exit', args: { ...base, text: lastLine(raw) }, raw };
}

function lastLine(text: string): string {
  return text.split('\n').filter((line) => line.trim() !== '').at(-1)?.trim() ?? '';
}
