import path from 'node:path';
import { Hosts } from '../run/run';
import type { RunTools } from '../run/tools';
import type { CommandContext } from './io';

/**
 * How runs reach hosts from the command line. There is a terminal, so ssh asks its questions itself. `FUSELENS_SSH`,
 * `FUSELENS_SSH_CONFIG` (ssh's `-F`), `FUSELENS_SSH_ARGUMENTS` (one a line), `FUSELENS_RSYNC`, `FUSELENS_RUNS` and
 * `FUSELENS_NODE_ON_HOST` stand for the editor's settings.
 */
export function runTools({ io: { environment } }: CommandContext): RunTools {
  const value = (name: string): string | undefined => (environment[name] === '' ? undefined : environment[name]);
  const ssh = value('FUSELENS_SSH');
  const config = value('FUSELENS_SSH_CONFIG');
  const sshArguments = [...(config === undefined ? [] : ['-F', config]), ...(value('FUSELENS_SSH_ARGUMENTS')?.split('\n') ?? [])];
  const rsync = value('FUSELENS_RSYNC');
  const runsFolder = value('FUSELENS_RUNS');
  const nodeOnHost = value('FUSELENS_NODE_ON_HOST');
  return {
    cli: value('FUSELENS_CLI') ?? path.join(__dirname, 'cli.js'),
    ...(ssh === undefined ? {} : { ssh }), ...(sshArguments.length === 0 ? {} : { sshArguments }), ...(rsync === undefined ? {} : { rsync }),
    ...(runsFolder === undefined ? {} : { runsFolder }), ...(nodeOnHost === undefined ? {} : { nodeOnHost }),
  };
}

/** Shells for one command; closed when it ends, while runs go on. */
export async function withHosts<T>(context: CommandContext, use: (hosts: Hosts) => Promise<T>): Promise<T> {
  const hosts = new Hosts(runTools(context));
  try {
    return await use(hosts);
  } finally {
    await hosts.dispose();
  }
}
