import { explainRunFailure, runFailure, RunFailure } from './failure';
import { quoteWord } from './posix';
import type { Shell } from './shell';

/** A file below a folder of a host. */
export interface HostFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly bytes: number;
  /** Whole seconds since 1970. */
  readonly modified: number;
}

/** GNU find prints what we ask; elsewhere `stat` does, in either of its two dialects. Names may hold anything but NUL. */
const LIST = String.raw`if find . -maxdepth 0 -printf '' 2>/dev/null; then find . -type f -printf '%s %T@ %p\0'
elif stat -c %s . >/dev/null 2>&1; then find . -type f -exec sh -c 'for f; do printf "%s %s\0" "$(stat -c "%s %Y" "$f")" "$f"; done' sh {} +
else find . -type f -exec sh -c 'for f; do printf "%s %s\0" "$(stat -f "%z %m" "$f")" "$f"; done' sh {} +; fi`;

/** All files below a folder; undefined when there is no such folder. Folders that cannot be read are left out. */
export async function listHostFiles(shell: Shell, folder: string, signal?: AbortSignal): Promise<readonly HostFile[] | undefined> {
  const { exit, stdout, stderr } = await shell.run(`cd -- ${quoteWord(folder)} 2>/dev/null || exit 97\n${LIST}\n:`, signal === undefined ? {} : { signal });
  if (exit === 97) {
    return undefined;
  }
  if (exit !== 0) {
    throw new RunFailure(explainRunFailure(stderr, exit, { transport: false, ...(shell.host === undefined ? {} : { host: shell.host }) }));
  }
  return stdout.split('\0').flatMap((entry) => {
    const found = /^(\d+) (\d+)(?:\.\d+)? \.\/([^]+)$/.exec(entry);
    return found === null ? [] : [{ bytes: Number(found[1]), modified: Number(found[2]), path: found[3] }];
  });
}

/** As above, but a folder that is not there is a failure. */
export async function requireHostFiles(shell: Shell, folder: string, signal?: AbortSignal): Promise<readonly HostFile[]> {
  const files = await listHostFiles(shell, folder, signal);
  if (files === undefined) {
    throw runFailure('error.run-fetch-folder', { folder, host: shell.host ?? '' });
  }
  return files;
}
