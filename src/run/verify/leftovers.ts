import { readdir, readFile } from 'node:fs/promises';

/** Looks this often: who is killed may have started others meanwhile. */
const ROUNDS = 10;

/** Kills every process that carries the mark in its environment, in whatever session it hides. Only Linux tells environments. */
export async function endMarked(mark: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const found = await marked(mark);
    if (found.length === 0) {
      return;
    }
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function marked(mark: string): Promise<readonly number[]> {
  const wanted = Buffer.from(mark);
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found = await Promise.all(pids.map(async (pid) => ((await readFile(`/proc/${pid}/environ`).catch(() => undefined))?.includes(wanted) === true ? [Number(pid)] : [])));
  return found.flat();
}
