import { readdir, readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { RunFile } from './run';

/** Where the helper lies among the files of a run; this folder goes in front of PYTHONPATH. */
export const HELPER_FOLDER = 'capture';

/** The Python files that travel with a captured run: beside the bundle in the package, in `media` of the repository in development. */
export async function captureHelperFiles(): Promise<readonly RunFile[]> {
  const folder = [path.join(__dirname, '..'), path.join(__dirname, '..', '..')].map((root) => path.join(root, 'media', 'python', 'capture')).find((one) => existsSync(one));
  if (folder === undefined) {
    throw new Error('media/python/capture is missing from this installation');
  }
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.py')).sort();
  return Promise.all(names.map(async (name) => ({ path: `${HELPER_FOLDER}/${name.replaceAll(path.sep, '/')}`, content: await readFile(path.join(folder, name), 'utf8') })));
}
