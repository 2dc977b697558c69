import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** A folder of `media/python`, file by file: path below it (with `/`) → text. Beside the bundle in the package, in the repository in development. */
export async function pythonFolder(name: 'capture' | 'verify'): Promise<ReadonlyMap<string, string>> {
  const folder = ['..', path.join('..', '..')].map((up) => path.join(__dirname, up, 'media', 'python', name)).find((one) => existsSync(one));
  if (folder === undefined) {
    throw new Error(`media/python/${name} is missing from this installation`);
  }
  const names = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.py')).map((file) => file.replaceAll(path.sep, '/')).sort();
  return new Map(await Promise.all(names.map(async (file) => [file, await readFile(path.join(folder, file), 'utf8')] as const)));
}
