import type { Message } from '../engine/profile/problems';

/** What the file system says when it takes no file or folder, by the code of the error (`man 2 open`, `man 2 mkdir`). */
const SENTENCES: Readonly<Record<string, string>> = {
  EACCES: 'error.write-denied', EPERM: 'error.write-denied', EROFS: 'error.write-read-only',
  ENOSPC: 'error.write-full', EDQUOT: 'error.write-full', EFBIG: 'error.write-full',
  EEXIST: 'error.write-in-the-way', ENOTDIR: 'error.write-in-the-way', EISDIR: 'error.write-folder', ENOENT: 'error.write-nowhere', ENAMETOOLONG: 'error.write-name',
};

/** One sentence that names the file and what to do; undefined for what is no answer of a file system. */
export function writeRefusal(file: string, error: unknown): Message & { readonly args: Readonly<Record<string, string>> } | undefined {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return code === undefined ? undefined : { code: Object.hasOwn(SENTENCES, code) ? SENTENCES[code] : 'error.write', args: { file, reason: code } };
}
