import path from 'node:path';
import { text } from '../protocol/text';
import { ContainerShell } from '../run/containerShell';
import { fetchFiles, type FetchResult } from '../run/fetch';
import { analyseOnHost } from '../run/hostAnalysis';
import { absoluteThere, hostFacts } from '../run/hostFacts';
import { outputPlace } from '../run/outputPlace';
import { attachRun, type Hosts } from '../run/run';
import type { Shell } from '../run/shell';
import { parseCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { UsageError, type CommandContext } from './io';
import { progressLine } from './progress';
import { withHosts } from './runTools';

const OPTIONS = { host: { type: 'string' }, from: { type: 'string' }, to: { type: 'string' }, what: { type: 'string' }, json: { type: 'boolean' }, lang: { type: 'string' } } as const;

const KINDS = ['analysis', 'trace', 'columns'] as const;

/** `fuselens fetch [RUN] --host HOST [--from FOLDER] [--what …]`: brings what a profiler wrote there. */
export async function fetchCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  const [id, ...more] = command.positionals;
  const from = command.value('from');
  const what = KINDS.find((kind) => kind === (command.value('what') ?? 'analysis'));
  if (what === undefined || more.length > 0 || (id === undefined && from === undefined)) {
    throw new UsageError('cli.usage.fetch', { option: more.join(' ') });
  }
  return withHosts(context, async (hosts) => {
    const source = await sourceOf(hosts, command.value('host'), id, from, context.io.signal);
    const to = path.resolve(command.value('to') ?? path.join('outputs', id ?? path.posix.basename(source.folder)));
    const progress = progressLine(context);
    const common = { shell: source.shell, tools: hosts.tools, to, signal: context.io.signal, onProgress: progress.report };
    let fetched: FetchResult;
    try {
      if (what === 'columns') {
        const result = await analyseOnHost({ ...common, profile: source.folder });
        fetched = result.fetched;
        progress.clear();
        if (result.kind === 'files') {
          context.io.err(`fuselens: ${text(result.reason.code, result.reason.args, context.translate)}\n`);
        }
      } else {
        fetched = await fetchFiles({ ...common, from: source.folder, what });
      }
    } finally {
      progress.clear();
    }
    const bytes = fetched.files.reduce((sum, file) => sum + file.bytes, 0);
    if (command.flag('json')) {
      await context.io.out(`${JSON.stringify({ folder: to, ...fetched }, undefined, 2)}\n`);
    } else {
      context.io.err(`fuselens: ${text('run.fetched', { count: fetched.files.length, kept: fetched.kept, size: (bytes / 1e6).toFixed(1), received: (fetched.receivedBytes / 1e6).toFixed(1), left: fetched.leftThere.length, folder: to }, context.translate)}\n`);
      await context.io.out(`${to}\n`);
    }
    return ExitCode.Done;
  });
}

/** A run that captured says where its output lies; everything else has to be named. */
async function sourceOf(hosts: Hosts, host: string | undefined, id: string | undefined, from: string | undefined, signal: AbortSignal): Promise<{ readonly folder: string; readonly shell: Shell }> {
  const shell = hosts.shell(host);
  const home = async (): Promise<string> => (await hostFacts(shell, signal)).home;
  if (id === undefined) {
    return { folder: absoluteThere(await home(), from ?? ''), shell };
  }
  const { record } = await attachRun(hosts, host, id, { signal });
  const { exec, capture } = record.settings;
  if (from === undefined && capture === undefined) {
    throw new UsageError('cli.usage.fetch-from', { id });
  }
  const workdir = exec?.path ?? record.workdir ?? await home();
  if (from === undefined) {
    const { host: _, ...settings } = record.settings;
    return outputPlace(hosts, { ...record, settings: host === undefined ? settings : { ...settings, host } }, `${workdir}/outputs/${record.id}`, signal);
  }
  const folder = from.startsWith('/') ? from : `${workdir}/${from}`;
  return { folder, shell: exec === undefined ? shell : new ContainerShell(shell, exec) };
}
