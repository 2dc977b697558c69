import path from 'node:path';
import { text } from '../protocol/text';
import { planPush, push } from '../run/push';
import { pushedFolder, startRun, type Hosts } from '../run/run';
import type { RunSettings } from '../run/runSettings';
import { checkSettings } from '../run/settingsFile';
import { parseCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { followRun } from './followRun';
import { CommandFailure, UsageError, type CommandContext } from './io';
import { planLines } from './push';
import { RUN_OPTIONS, runSettingsOf, splitCommand } from './runOptions';
import { withHosts } from './runTools';

const OPTIONS = { ...RUN_OPTIONS, name: { type: 'string' }, detach: { type: 'boolean' }, 'dry-run': { type: 'boolean' }, json: { type: 'boolean' }, lang: { type: 'string' } } as const;

/** `fuselens run [options] -- COMMAND…`: starts a run here or on a host and follows it. */
export async function runTrainingCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const { own, argv } = splitCommand(args);
  const command = parseCommand(own, OPTIONS);
  if (command.positionals.length > 0) {
    throw new UsageError('cli.usage.run-command', { option: command.positionals.join(' ') });
  }
  const settings = await runSettingsOf(command, argv);
  const problem = checkSettings(settings)[0];
  if (problem !== undefined) {
    throw new CommandFailure(problem.code, problem.args ?? {});
  }
  const { io, translate } = context;
  return withHosts(context, async (hosts) => {
    const dry = command.flag('dry-run');
    if (settings.sync?.push === true && settings.host !== undefined) {
      await pushSources(hosts, settings, dry, context);
    }
    if (dry) {
      await io.out(`${JSON.stringify(settings, undefined, 2)}\n`);
      return ExitCode.Done;
    }
    const name = command.value('name');
    const run = await startRun(hosts, settings, { workspace: process.cwd(), signal: io.signal, ...(name === undefined ? {} : { name }) });
    if (command.flag('json')) {
      await io.out(`${JSON.stringify({ id: run.id, host: run.hosts[0] ?? null, folder: run.folder }, undefined, 2)}\n`);
    } else {
      io.err(`fuselens: ${text(run.hosts[0] === undefined ? 'run.started-here' : 'run.started', { id: run.id, host: run.hosts.join(', ') }, translate)}\n`);
    }
    if (command.flag('detach')) {
      if (!command.flag('json')) {
        await io.out(`${run.id}\n`);
      }
      return ExitCode.Done;
    }
    return followRun(run, context);
  });
}

async function pushSources(hosts: Hosts, settings: RunSettings, dry: boolean, context: CommandContext): Promise<void> {
  const members = Array.isArray(settings.nodes) && settings.launcher === 'torchrun' ? settings.nodes as readonly string[] : [settings.host];
  for (const host of members) {
    const options = {
      shell: hosts.shell(host), tools: hosts.tools, from: path.resolve('.'), to: settings.workdir ?? pushedFolder('.'), signal: context.io.signal,
      ...(settings.sync?.ignore === undefined ? {} : { ignore: settings.sync.ignore }),
    };
    const plan = await planPush(options);
    context.io.err(planLines(plan, host ?? '', context));
    if (!dry) {
      await push(options, plan);
    }
  }
}
