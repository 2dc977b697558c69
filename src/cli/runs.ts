import { text } from '../protocol/text';
import { listRuns, type RunSummary } from '../run/run';
import { parseCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { queueLine } from './followRun';
import { UsageError, type CommandContext } from './io';
import { withHosts } from './runTools';

const OPTIONS = { host: { type: 'string' }, json: { type: 'boolean' }, lang: { type: 'string' } } as const;

/** `fuselens runs [--host HOST]`: what runs and has run there, newest first. */
export async function runsCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  if (command.positionals.length > 0) {
    throw new UsageError('cli.usage.runs', { option: command.positionals.join(' ') });
  }
  const host = command.value('host');
  const { io, translate } = context;
  return withHosts(context, async (hosts) => {
    const runs = await listRuns(hosts, host, { signal: io.signal });
    if (command.flag('json')) {
      await io.out(`${JSON.stringify(runs.map((run) => jsonOf(run)), undefined, 2)}\n`);
    } else if (runs.length === 0) {
      io.err(`fuselens: ${text(host === undefined ? 'run.none-here' : 'run.none', { host: host ?? '' }, translate)}\n`);
    } else {
      const rows = runs.map((run) => [run.id, stateWords(run, context), elapsed(run.state.elapsedSeconds), run.record?.provenance?.commit?.slice(0, 10) ?? '–', run.record?.name ?? '–']);
      const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column].length)));
      await io.out(`${rows.map((row) => row.map((cell, column) => (column < 4 ? cell.padEnd(widths[column]) : cell)).join('  ')).join('\n')}\n`);
    }
    return ExitCode.Done;
  });
}

function stateWords(run: RunSummary, context: CommandContext): string {
  const { phase, exit, stopped } = run.state;
  const words = text(stopped === true && phase === 'exited' ? 'run.phase.stopped' : `run.phase.${phase}`, { exit: exit ?? '' }, context.translate);
  const queue = phase === 'queued' ? queueLine(run.state, context) : '';
  return queue === '' ? words : `${words} (${queue})`;
}

function elapsed(seconds: number | undefined): string {
  if (seconds === undefined) {
    return '–';
  }
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${two(seconds / 3600)}:${two(seconds / 60 % 60)}:${two(seconds % 60)}`;
}

/** Unknown is null. */
function jsonOf({ id, folder, host, record, state }: RunSummary): Readonly<Record<string, unknown>> {
  return {
    id, host: host ?? null, folder, name: record?.name ?? null, startedAt: record?.startedAt ?? null, phase: state.phase, exit: state.exit ?? null, stopped: state.stopped === true,
    elapsedSeconds: state.elapsedSeconds ?? null, logBytes: state.logBytes, queue: state.queue ?? null, tasks: state.tasks ?? null,
    commit: record?.provenance?.commit ?? null, diffHash: record?.provenance?.diffHash ?? null, settings: record?.settings ?? null,
  };
}
