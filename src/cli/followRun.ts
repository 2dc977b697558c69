import { StringDecoder } from 'node:string_decoder';
import { Cancelled } from '../engine/profile/problems';
import { text } from '../protocol/text';
import { explainRunFailure, type RunExplanation } from '../run/failure';
import type { Run, RunState } from '../run/run';
import { ExitCode } from './exitCode';
import type { CommandContext } from './io';

/** End of the log kept to explain a failure. */
const TAIL = 16_384;

/**
 * Streams a run's output to stdout until it ends; news of it go to stderr. Ctrl+C stops the run; any other end of this command (the
 * terminal closed) lets go of it, and it goes on.
 */
export async function followRun(run: Run, context: CommandContext, offsets?: Readonly<Record<string, number>>): Promise<ExitCode> {
  const { io, translate } = context;
  const say = (code: string, args: Readonly<Record<string, string | number>> = {}): void => io.err(`fuselens: ${text(code, args, translate)}\n`);
  let tail = Buffer.alloc(0);
  let queued = '';
  // A character may lie across two chunks.
  const decoders = new Map<string, StringDecoder>();
  try {
    const state = await run.follow({
      signal: io.signal, ...(offsets === undefined ? {} : { offsets }),
      onOutput: async ({ host = '', bytes }) => {
        tail = Buffer.concat([tail, bytes]).subarray(-TAIL);
        const decoder = decoders.get(host) ?? new StringDecoder('utf8');
        decoders.set(host, decoder);
        await io.out(decoder.write(Buffer.from(bytes)));
      },
      onConnection: ({ host, reconnected }) => say(reconnected ? 'run.reconnected' : 'run.connection-lost', { host: host ?? '', id: run.id }),
      onState: (now) => {
        const line = now.phase === 'queued' ? queueLine(now, context) : '';
        if (line !== '' && line !== queued) {
          io.err(`fuselens: ${line}\n`);
        }
        queued = line;
      },
    });
    return reportEnd(run, state, tail.toString(), context);
  } catch (error) {
    if (!(error instanceof Cancelled)) {
      throw error;
    }
    if (io.signal.reason !== 'SIGINT') {
      say('run.detached', { id: run.id, host: run.hosts[0] ?? '' });
      return ExitCode.Interrupted;
    }
    say('run.stopping', { id: run.id });
    const { exit, left } = await run.stop();
    say(left.length > 0 ? 'run.stopped-left' : 'run.stopped', { id: run.id, exit: exit ?? '', left: left.join(', ') });
    return ExitCode.Interrupted;
  }
}

export function queueLine({ queue }: RunState, { translate }: CommandContext): string {
  if (queue === undefined) {
    return '';
  }
  const why = queue.explanation === undefined ? queue.reason ?? '' : text(queue.explanation.code, queue.explanation.args, translate);
  const parts = [
    text('run.queue', { job: queue.job, state: queue.state }, translate), ...(why === '' ? [] : [text('run.queue-why', { reason: why }, translate)]),
    ...(queue.ahead === undefined ? [] : [text('run.queue-ahead', { count: queue.ahead }, translate)]), ...(queue.startEstimate === undefined ? [] : [text('run.queue-start', { time: queue.startEstimate }, translate)]),
  ];
  return parts.join(' · ');
}

/** Why a run that has ended failed; undefined when it did not. */
function failureOfRun(run: Run, state: RunState, tail: string): RunExplanation | undefined {
  const [host] = run.hosts;
  if (state.phase === 'lost') {
    return { code: 'error.run-lost', args: { id: run.id }, raw: tail };
  }
  if (state.exit === 0 || state.stopped === true) {
    return undefined;
  }
  return explainRunFailure(tail, state.exit, { transport: false, command: run.record.settings.command, ...(host === undefined ? {} : { host }) });
}

function reportEnd(run: Run, state: RunState, tail: string, { io, translate }: CommandContext): ExitCode {
  const failure = failureOfRun(run, state, tail);
  if (failure !== undefined) {
    io.err(`fuselens: ${text('run.ended', { id: run.id, exit: state.exit ?? '–' }, translate)} ${text(failure.code, failure.args, translate)}\n`);
    return ExitCode.Failed;
  }
  if (state.stopped === true) {
    io.err(`fuselens: ${text('run.stopped', { id: run.id, exit: state.exit ?? '' }, translate)}\n`);
    return ExitCode.Failed;
  }
  return ExitCode.Done;
}
