import { StringDecoder } from 'node:string_decoder';
import { Cancelled } from '../engine/profile/problems';
import { text } from '../protocol/text';
import type { Run, RunState } from '../run/run';
import { explainRunEnd } from '../run/runEnd';
import { ExitCode } from './exitCode';
import type { CommandContext } from './io';

/** End of the log kept to explain a failure. */
const TAIL = 16_384;

/**
 * Streams a run's output to stdout until it ends; news of it go to stderr. Ctrl+C stops the run; any other end of this command (the
 * terminal closed) lets go of it, and it goes on.
 */
export async function followRun(run: Run, context: CommandContext, offsets?: Readonly<Record<string, number>>): Promise<ExitCode> {
  return (await followToEnd(run, context, offsets)).code;
}

/** The same; with the state in which it ended, where it was not let go of or stopped from here. */
export async function followToEnd(run: Run, context: CommandContext, offsets?: Readonly<Record<string, number>>): Promise<{ readonly code: ExitCode; readonly state?: RunState }> {
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
    return { code: reportEnd(run, state, tail.toString(), context), state };
  } catch (error) {
    if (!(error instanceof Cancelled)) {
      throw error;
    }
    if (io.signal.reason !== 'SIGINT') {
      say('run.detached', { id: run.id, host: run.hosts[0] ?? '' });
      return { code: ExitCode.Interrupted };
    }
    say('run.stopping', { id: run.id });
    const { exit, left } = await run.stop();
    say(left.length > 0 ? 'run.stopped-left' : 'run.stopped', { id: run.id, exit: exit ?? '', left: left.join(', ') });
    return { code: ExitCode.Interrupted };
  }
}

export function queueLine({ queue }: RunState, { translate }: CommandContext): string {
  if (queue === undefined) {
    return '';
  }
  const why = queue.explanation === undefined ? queue.reason ?? '' : text(queue.explanation.code, queue.explanation.args, translate);
  const { job, state, ahead, startEstimate } = queue;
  const place = ahead === undefined ? text('run.queue', { job, state }, translate) : text('run.queue-place', { job, state, place: ahead + 1 }, translate);
  const parts = [why === '' ? place : text('run.queue-why', { queue: place, reason: why }, translate), ...(startEstimate === undefined ? [] : [text('run.queue-start', { time: startEstimate }, translate)])];
  return parts.join(' · ');
}

function reportEnd(run: Run, state: RunState, tail: string, { io, translate }: CommandContext): ExitCode {
  const [host] = run.hosts;
  const failure = explainRunEnd(state, tail, run.id, { command: run.record.settings.command, ...(host === undefined ? {} : { host }) });
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
