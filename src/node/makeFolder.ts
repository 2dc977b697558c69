import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Makes a folder and those it lies in; one that is there already is fine. Rejects with what the system says of the first that
 * cannot be made. Node's own recursive `mkdir` goes on for ever where a file system says ENOENT of a folder whose parent is there, as
 * /proc does.
 */
export async function makeFolder(folder: string): Promise<void> {
  const refusal = await tryMake(folder);
  if (refusal === undefined) {
    return;
  }
  const parent = path.dirname(folder);
  if (refusal.code !== 'ENOENT' || parent === folder) {
    throw refusal;
  }
  await makeFolder(parent);
  const again = await tryMake(folder);
  if (again !== undefined) {
    throw again;
  }
}

/** Why it was not made; undefined: it is there now. */
async function tryMake(folder: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(folder);
    return undefined;
  } catch (error) {
    const found = await stat(folder).catch(() => undefined);
    return found?.isDirectory() === true ? undefined : error as NodeJS.ErrnoException;
  }
}
