import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../node/makeFolder';
import type { Hosts } from './hosts';
import { quoteWord } from './posix';
import type { Run } from './run';

const RUN_RECORD_NAME = 'fuselens-run.json';

/** The run's commit, changes and environment stay with the profile, so that a comparison knows what changed. */
export async function keepRecord(hosts: Hosts, run: Run, output: string): Promise<void> {
  const { exit, stdout } = await hosts.shell(run.hosts[0]).run(`cat ${quoteWord(`${run.folder}/environment`)} 2>/dev/null`);
  const environment = Object.fromEntries((exit === 0 ? stdout : '').split('\n').flatMap((line) => {
    const at = line.indexOf('=');
    return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
  }));
  await makeFolder(output);
  await writeFile(path.join(output, RUN_RECORD_NAME), `${JSON.stringify({ ...run.record, environment }, undefined, 2)}\n`);
}
