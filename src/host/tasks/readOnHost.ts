import * as path from 'node:path';
import type { RunSettings } from '../../run/runSettings';
import type { RunContext } from './runContext';

const MOST_BYTES = 4 * 1024 * 1024;

/** A text file as the run would open it: relative to its working directory, on its host. Undefined when it is not there, or is no small text. */
export async function readOnHost({ runs }: RunContext, settings: RunSettings, local: string | undefined, file: string): Promise<string | undefined> {
  const workdir = settings.host === undefined ? path.resolve(local ?? '.', settings.workdir ?? '.') : settings.workdir ?? '.';
  const { exit, stdout } = await runs.connections.shell(settings.host).exec(['sh', '-c', 'cd -- "$1" && [ "$(wc -c < "$2")" -lt "$3" ] && cat -- "$2"', 'sh', workdir, file, String(MOST_BYTES)]);
  return exit === 0 ? stdout : undefined;
}
