import { attachRun } from '../run/run';
import { parseCommand } from './commandLine';
import { type ExitCode } from './exitCode';
import { followRun } from './followRun';
import { UsageError, type CommandContext } from './io';
import { withHosts } from './runTools';

const OPTIONS = { host: { type: 'string' }, from: { type: 'string' }, lang: { type: 'string' } } as const;

/** `fuselens attach RUN [--host HOST] [--from BYTE]`: streams a run on. */
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
    return followRun(run, context, run.hosts.length > 1 ? undefined : { [run.hosts[0] ?? '']: offset });
  });
}
