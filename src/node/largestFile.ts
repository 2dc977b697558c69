import { opendir, stat } from 'node:fs/promises';
import path from 'node:path';

/** A profile folder has run, step, rank and output folders; deeper than this or wider is not worth the wait. */
const MAX_DEPTH = 5;
const MAX_ENTRIES = 20_000;

/** Bytes of the largest file at or below a path, 0 when nothing is there; stops looking once `enough` is passed. */
export async function largestFileBytes(root: string, enough = Number.POSITIVE_INFINITY): Promise<number> {
  let largest = 0;
  let entries = 0;
  let level = [root];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const at of level) {
      try {
        const found = await stat(at);
        if (found.isFile()) {
          largest = Math.max(largest, found.size);
        } else if (found.isDirectory()) {
          for await (const entry of await opendir(at)) {
            if (++entries > MAX_ENTRIES) {
              return largest;
            }
            next.push(path.join(at, entry.name));
          }
        }
      } catch {
        // What cannot be looked at is not read either.
      }
      if (largest > enough) {
        return largest;
      }
    }
    level = next;
  }
  return largest;
}
