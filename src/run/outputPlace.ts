import * as path from 'node:path';
import { ContainerShell } from './containerShell';
import { containerKind } from './containerPrefix';
import type { Hosts } from './hosts';
import type { RunRecord } from './run';
import type { Shell } from './shell';

/** Where what a job left can be read, and through which shell. */
export interface OutputPlace {
  readonly shell: Shell;
  readonly folder: string;
  /** True: only the container sees the folder, so that it has to be fetched even from this machine. */
  readonly contained: boolean;
}

/**
 * The place of an output folder, given as the job or as its host sees it. A container's working directory is mostly the host's, under
 * another name; where it is not, what lies in it comes through the container. Rejects with `RunFailure` when the host cannot be asked.
 */
export async function outputPlace(hosts: Hosts, record: RunRecord, output: string, signal?: AbortSignal): Promise<OutputPlace> {
  const { exec, host } = record.settings;
  const shell = hosts.shell(host);
  const outside = outsideContainer(record, output);
  const abort = signal === undefined ? {} : { signal };
  if (exec === undefined || containerKind(exec) !== 'exec' || (await shell.exec(['test', '-d', outside], abort)).exit === 0) {
    return { shell, folder: outside, contained: false };
  }
  const container = new ContainerShell(shell, exec);
  const inside = moved(output, record.workdir, exec.path);
  // A folder that is nowhere is looked for where people look first.
  return (await container.exec(['test', '-d', inside], abort)).exit === 0 ? { shell: container, folder: inside, contained: true } : { shell, folder: outside, contained: false };
}

/** A path of the job, as its host sees it: the container's folder is the host's working directory. */
function outsideContainer({ settings, workdir }: Pick<RunRecord, 'settings' | 'workdir'>, output: string): string {
  return moved(output, settings.exec?.path, workdir);
}

/** A path below `from` as one below `to`; others stay. */
function moved(file: string, from: string | undefined, to: string | undefined): string {
  if (from === undefined || to === undefined) {
    return file;
  }
  const relative = path.posix.relative(from, file);
  return relative.startsWith('..') ? file : path.posix.join(to, relative);
}
