import { text } from '../protocol/text';
import { attachRun } from '../run/run';
import { parseCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { UsageError, type CommandContext } from './io';
import { withHosts } from './runTools';

const OPTIONS = { host: { type: 'string' }, grace: { type: 'string' }, lang: { type: 'string' } } as const;

/** `fuselens stop RUN [--host HOST]`: ends every process of a run. */
export async function stopCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  const [id, ...more] = command.positionals;
  const grace = command.value('grace');
  if (id === undefined || more.length > 0 || (grace !== undefined && !/^\d{1,5}$/.test(grace))) {
    throw new UsageError('cli.usage.stop', { option: more.join(' ') });
  }
  return withHosts(context, async (hosts) => {
    const run = await attachRun(hosts, command.value('host'), id, { signal: context.io.signal });
    const { exit, left } = await run.stop({ signal: context.io.signal, ...(grace === undefined ? {} : { graceSeconds: Number(grace) }) });
    context.io.err(`fuselens: ${text(left.length > 0 ? 'run.stopped-left' : 'run.stopped', { id: run.id, exit: exit ?? '', left: left.join(', ') }, context.translate)}\n`);
    return left.length > 0 ? ExitCode.Failed : ExitCode.Done;
  });
}
