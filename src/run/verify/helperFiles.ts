import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** The Python helper, file by file: from beside the bundle, or from the sources in development. */
export async function helperFiles(): Promise<ReadonlyMap<string, string>> {
  const folder = ['..', path.join('..', '..', '..')].map((up) => path.join(__dirname, up, 'media', 'python', 'verify')).find((one) => existsSync(path.join(one, 'verify.py')));
  if (folder === undefined) {
    throw new Error('media/python/verify is not beside the program');
  }
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.py')).map((name) => name.split(path.sep).join('/'));
  return new Map(await Promise.all(names.sort().map(async (name) => [name, await readFile(path.join(folder, name), 'utf8')] as const)));
}
