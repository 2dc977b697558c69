import { randomBytes } from 'node:crypto';
import * as path from 'node:path';
import { explainRunFailure, runFailure, RunFailure } from './failure';
import { absoluteThere, hostFacts, type HostFacts } from './hostFacts';
import type { Hosts } from './hosts';
import { hiddenFolder } from './containerPrefix';
import { commandScript, type JobPlace } from './jobScript';
import { plainArgv, portOf, torchrunArgv, type Rendezvous } from './launchers';
import { provenanceOf } from './provenance';
import { RAY_DRIVER, RAY_JOB_FILE, rayCommand, rayJobFile, rayJson } from './ray';
import { isConnectionLoss, RemoteShell } from './remoteShell';
import type { Run, RunRecord, StartOptions } from './run';
import { memberFolder, runHandle } from './runHandle';
import type { RunSettings } from './runSettings';
import { checkSettings } from './settingsFile';
import { arrayTasks, batchScript, SLURM_STOP, sbatchOptions, slurmArgv, slurmCommand } from './slurm';
import { detachScript, sbatchScript } from './startScript';
import { containerStop } from './stopScript';

/** Times a start is asked for again when the answer was lost; the folder on the host sees to it that it starts once. */
const START_TRIES = 4;

/**
 * Starts a run and returns as soon as it is under way (or queued). Rejects with `RunFailure`: bad settings, no connection, no disk,
 * no batch system. A command that cannot be found is not a failed start but a run with exit 127.
 */
export async function startRun(hosts: Hosts, settings: RunSettings, options: StartOptions = {}): Promise<Run> {
  const problem = checkSettings(settings)[0];
  if (problem !== undefined) {
    throw runFailure(problem.code, { ...problem.args });
  }
  const id = options.id ?? newRunId();
  const members = membersOf(settings);
  const kept = options.workspace === undefined ? undefined : await provenanceOf(options.workspace, hosts.tools, options.signal);
  const record: RunRecord = {
    schema: 'fuselens-run/1', id, name: options.name ?? nameOf(settings), settings, startedAt: new Date().toISOString(),
    ...(members.length > 1 ? { hosts: members.map((host) => host ?? '') } : {}),
    ...(kept === undefined ? {} : { provenance: kept.provenance }), ...(options.nextPass === undefined ? {} : { nextPass: options.nextPass }),
  };
  const started: { readonly folder: string; readonly workdir: string }[] = [];
  const endpoint = members.length > 1 ? settings.rendezvous ?? `${await addressOf(hosts, members)}:${portOf(id)}` : undefined;
  for (const [node, host] of members.entries()) {
    const rendezvous = endpoint === undefined ? undefined : { id, endpoint, nodes: members.length, node };
    try {
      started.push(await startOn(hosts, host, record, options, kept?.patch, rendezvous));
    } catch (error) {
      if (node > 0) {
        await runHandle(hosts, { ...record, hosts: members.slice(0, node).map((name) => name ?? '') }, started[0].folder).stop({ graceSeconds: 5 }).catch(() => undefined);
        const raw = error instanceof RunFailure ? error.explanation.raw : '';
        throw runFailure('error.run-member-start', { host: host ?? '', text: raw.split('\n')[0] ?? '' }, raw);
      }
      throw error;
    }
  }
  return runHandle(hosts, { ...record, workdir: started[0].workdir }, started[0].folder);
}

/** Sorts by time, and says when: `20261130-093012-4f2a9c`. */
export function newRunId(): string {
  return `${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}-${randomBytes(4).toString('hex')}`;
}

function membersOf({ host, launcher, nodes }: RunSettings): readonly (string | undefined)[] {
  return launcher === 'torchrun' && typeof nodes === 'object' && nodes.length > 0 ? nodes : [host];
}

function nameOf(settings: RunSettings): string {
  const words = plainArgv(settings).map((word) => path.posix.basename(word)).filter((word) => !/^(python[\d.]*|-m|bash|sh|-c|torchrun)$/.test(word));
  return (words[0] ?? settings.command).replace(/\s+/g, ' ').slice(0, 60);
}

/** The first host as the others reach it: on one machine loopback, else its own first address. */
async function addressOf(hosts: Hosts, members: readonly (string | undefined)[]): Promise<string> {
  const names = await Promise.all(members.map(async (host) => {
    const shell = hosts.shell(host);
    return shell instanceof RemoteShell ? (await shell.config()).get('hostname') ?? '' : '127.0.0.1';
  }));
  if (names.every((name) => /^(127\.|localhost$|::1$)/.test(name))) {
    return '127.0.0.1';
  }
  return (await hostFacts(hosts.shell(members[0]))).address ?? names[0];
}

/** One host's part. */
async function startOn(hosts: Hosts, host: string | undefined, record: RunRecord, options: StartOptions, patch: Uint8Array | undefined, rendezvous: Rendezvous | undefined): Promise<{ readonly folder: string; readonly workdir: string }> {
  const shell = hosts.shell(host);
  const { signal } = options;
  const facts = await hostFacts(shell, signal);
  const folder = `${absoluteThere(facts.home, hosts.tools.runsFolder ?? '.fuselens/runs')}/${memberFolder(record.id, rendezvous?.node ?? 0)}`;
  const workdir = workdirOf(record.settings, facts, options.workspace, host === undefined);
  const script = folderScript(host, workdir, folder, { ...record, workdir }, options, patch, rendezvous);
  for (let attempt = 1; ; attempt++) {
    try {
      const { exit, stderr, stdout } = await shell.run(script, signal === undefined ? {} : { signal });
      if (exit !== 0) {
        throw new RunFailure(explainRunFailure(`${stderr}\n${stdout}`, exit, { transport: false, ...(host === undefined ? {} : { host }) }));
      }
      return { folder, workdir };
    } catch (error) {
      if (attempt >= START_TRIES || !isConnectionLoss(error)) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, attempt * 1000));
    }
  }
}

function folderScript(host: string | undefined, hostWorkdir: string, folder: string, record: RunRecord, options: StartOptions, patch: Uint8Array | undefined, rendezvous: Rendezvous | undefined): string {
  const { settings, id } = record;
  const container = settings.exec;
  const local = host === undefined;
  const hidden = settings.launcher === 'ray' || container !== undefined;
  const workdir = container === undefined ? hostWorkdir : container.path ?? hostWorkdir;
  const filesFolder = hidden ? hiddenFolder(id) : `${folder}/files`;
  const base: JobPlace = {
    id, runFolder: hidden ? undefined : folder, workdir, filesFolder, files: options.files ?? [],
    addition: options.add?.({ id, filesFolder, workdir }) ?? {},
  };
  const changed = base.addition.argv === undefined ? settings : { ...settings, command: base.addition.argv[0], args: base.addition.argv.slice(1) };
  const login = !local;
  const scripts: Record<string, string> = { login: login ? '-l\n' : '' };
  const content = { folder, id, record: JSON.stringify(record, undefined, 2), files: hidden ? [] : base.files, ...(patch === undefined ? {} : { patch }), scripts };
  switch (settings.launcher) {
    case 'command':
    case 'torchrun': {
      const argv = settings.launcher === 'command' ? plainArgv(changed) : torchrunArgv(changed, plainArgv(changed), rendezvous);
      scripts['command.sh'] = commandScript(changed, base, argv, hostWorkdir, folder);
      const stop = container === undefined ? undefined : containerStop(container, id);
      if (stop !== undefined) {
        scripts['stop.sh'] = stop;
      }
      return detachScript(content, login);
    }
    case 'slurm': {
      const outside: JobPlace = { ...base, runFolder: folder, workdir: hostWorkdir };
      scripts['command.sh'] = slurmCommand(changed, outside, slurmArgv(changed).argv, base);
      const array = settings.slurm?.array;
      scripts['batch.sh'] = batchScript(id, folder, login, array !== undefined, container !== undefined);
      scripts['stop.sh'] = [...(settings.setup ?? []), SLURM_STOP].join('\n');
      return sbatchScript(content, sbatchOptions(settings, record.name, folder), settings.setup ?? [], array === undefined ? undefined : arrayTasks(array));
    }
    case 'ray':
      scripts['command.sh'] = rayCommand(settings, folder, 'run');
      scripts['stop.sh'] = rayCommand(settings, folder, 'stop');
      scripts['ray.json'] = rayJson(settings, id);
      scripts['ray_driver.py'] = RAY_DRIVER;
      scripts[`ray_files/${RAY_JOB_FILE}`] = rayJobFile(commandScript(changed, base, settings.procs === undefined ? plainArgv(changed) : torchrunArgv(changed, plainArgv(changed)), hostWorkdir, undefined));
      return detachScript(content, login);
  }
}

/** Absent: the workspace here, the folder that a push would fill there. */
function workdirOf({ workdir, sync }: RunSettings, { home }: HostFacts, workspace: string | undefined, local: boolean): string {
  if (local) {
    return path.resolve(workspace ?? '.', workdir?.replace(/^~(?=\/|$)/, home) ?? '.');
  }
  return absoluteThere(home, workdir ?? (sync?.push === true && workspace !== undefined ? pushedFolder(workspace) : ''));
}

/** Where a workspace is pushed when no workdir is given, relative to the home folder. */
export function pushedFolder(workspace: string): string {
  return `fuselens/${path.basename(path.resolve(workspace))}`;
}
