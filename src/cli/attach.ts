import { text } from '../protocol/text';
import { finishCapture } from '../run/captureRun';
import { attachRun, type Hosts, type Run, type RunState } from '../run/run';
import { exitOf, inspectionSession, wordsOf } from './captureWords';
import { parseCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { followToEnd } from './followRun';
import { UsageError, type CommandContext } from './io';
import { withHosts } from './runTools';

const OPTIONS = { host: { type: 'string' }, from: { type: 'string' }, lang: { type: 'string' } } as const;

/** `fuselens attach RUN [--host HOST] [--from BYTE]`: streams a run on, and goes on with the second pass of a capture where it was the first. */
export async function attachCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  const [id, ...more] = command.positionals;
  const from = command.value('from') ?? '0';
  if (id === undefined || more.length > 0 || !/^(\d+|end)$/.test(from)) {
    throw new UsageError('cli.usage.attach', { option: more.join(' ') });
  }
  return withHosts(context, async (hosts): Promise<ExitCode> => {
    const run = await attachRun(hosts, command.value('host'), id, { signal: context.io.signal });
    const offset = from === 'end' ? (await run.state({ signal: context.io.signal })).logBytes : Number(from);
    // Several hosts have logs of their own; an offset is one log's.
    const { code, state } = await followToEnd(run, context, run.hosts.length > 1 ? undefined : { [run.hosts[0] ?? '']: offset });
    return run.record.nextPass === undefined || state?.exit !== 0 || state.stopped === true ? code : secondPass(hosts, run, state, context);
  });
}

/** Nobody was there when the first pass ended, or this command was the one to wait for it. */
async function secondPass(hosts: Hosts, first: Run, state: RunState, context: CommandContext): Promise<ExitCode> {
  const { io, translate } = context;
  const say = (code: string, args: Readonly<Record<string, string | number>> = {}): void => io.err(`fuselens: ${text(code, args, translate)}\n`);
  const followed: ExitCode[] = [];
  const passes = await finishCapture(hosts, first, state, {
    workspace: process.cwd(), signal: io.signal, session: inspectionSession(context),
    onNote: ({ code, args = {} }) => say(code, args),
    onStart: ({ id, record }, pass) => say('capture.running', { id, pass: text(`capture.pass.${pass.name}`, undefined, translate), command: [record.settings.command, ...record.settings.args ?? []].join(' ') }),
    follow: async (run) => {
      const { code, state: ended } = await followToEnd(run, context);
      followed.push(code);
      return ended;
    },
  });
  io.err(passes.map((pass) => wordsOf(pass, context)).join('\n'));
  return followed.includes(ExitCode.Interrupted) ? ExitCode.Interrupted : exitOf(passes);
}
