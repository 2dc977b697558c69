import { constants, type Stats } from 'node:fs';
import { access, open, rename, rm, stat, utimes, type FileHandle } from 'node:fs/promises';
import { once } from 'node:events';
import * as path from 'node:path';
import { createGunzip } from 'node:zlib';
import { makeFolder } from '../node/makeFolder';
import { writeRefusal } from '../node/writeRefusal';
import { runFailure, explainRunFailure, RunFailure } from './failure';
import type { FetchOptions, FetchResult } from './fetch';
import { requireHostFiles, type HostFile } from './hostFiles';
import { selectProfileFiles } from './profileFiles';
import { quoteWord } from './posix';
import { canRsync, runRsync } from './rsync';

/** What a fetch would take and leave. Rejects with `RunFailure` when there is no such folder. */
export async function listProfileFiles({ shell, from, what, signal }: Pick<FetchOptions, 'shell' | 'from' | 'what' | 'signal'>): Promise<ReturnType<typeof selectProfileFiles>> {
  return selectProfileFiles(await requireHostFiles(shell, from, signal), what);
}

/**
 * Brings profile files here, compressed. What is here already, whole, is kept; what was cut off is gone on with. A file stands
 * under its name only when it is whole. Rejects with `RunFailure`.
 */
export async function fetchFiles(options: FetchOptions): Promise<FetchResult> {
  const { shell, tools = {}, from, to, signal, onProgress } = options;
  const { wanted, leftThere } = await listProfileFiles(options);
  if (wanted.length === 0) {
    throw runFailure('error.run-nothing-to-fetch', { folder: from });
  }
  const missing: HostFile[] = [];
  for (const file of wanted) {
    const here = await fileHere(path.join(to, safePath(file.path)));
    if (here === undefined || here.size !== file.bytes || Math.abs(Math.floor(here.mtimeMs / 1000) - file.modified) > 1) {
      missing.push(file);
    }
  }
  const totalBytes = missing.reduce((sum, { bytes }) => sum + bytes, 0);
  const report = (bytes: number, file: string): void => onProgress?.({ bytes: Math.min(bytes, totalBytes), totalBytes, file });
  const result = { files: missing.map(({ path: name, bytes }) => ({ path: name, bytes })), kept: wanted.length - missing.length, leftThere: leftThere.map(({ path: name, bytes }) => ({ path: name, bytes })) };
  if (missing.length === 0) {
    return { ...result, receivedBytes: 0, method: 'stream' };
  }
  await makeFolder(to).then(() => access(to, constants.W_OK)).catch((error: unknown) => { throw refused(to, error); });
  if (await canRsync(shell, tools)) {
    const receivedBytes = await runRsync(shell, { tools, direction: 'fetch', local: to, remote: from, files: missing.map((file) => file.path), onBytes: (bytes) => report(bytes, ''), ...(signal === undefined ? {} : { signal }) });
    report(totalBytes, '');
    return { ...result, receivedBytes, method: 'rsync' };
  }
  return { ...result, receivedBytes: await stream(options, missing, report), method: 'stream' };
}

/** Undefined: not there yet. Something else where a file has to be is told before anything is sent. */
async function fileHere(target: string): Promise<Stats | undefined> {
  const found = await stat(target).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') {
      throw refused(target, error);
    }
    return undefined;
  });
  if (found?.isDirectory() === true) {
    throw runFailure('error.run-fetch-onto-folder', { file: target });
  }
  return found;
}

/** What the file system here said, as one sentence. */
function refused(file: string, error: unknown): Error {
  const refusal = writeRefusal(file, error);
  return refusal === undefined ? error instanceof Error ? error : new Error(String(error)) : runFailure(refusal.code, refusal.args, String(error));
}

/** A path of the host that must stay below the folder it is fetched into. */
function safePath(name: string): string {
  const safe = name.split('/').map((part) => (part === '..' ? '_' : part)).join('/');
  return process.platform === 'win32' ? safe.replace(/[<>:"\\|?*]/g, '_') : safe;
}

/** The part so far; size and time in its name, so that a part of another version is never gone on with. */
function partOf(to: string, { path: name, bytes, modified }: HostFile): string {
  const file = path.join(to, safePath(name));
  return path.join(path.dirname(file), `.${path.basename(file)}.${bytes}-${modified}.fuselens-part`);
}

/** Sends exactly the bytes that were announced, then one line: whether the file is still the one that was listed. */
function sendScript(from: string): string {
  return String.raw`cd -- ${quoteWord(from)} || exit 97
fl_stat() { stat -c '%s %Y' -- "$1" 2>/dev/null || stat -f '%z %m' -- "$1" 2>/dev/null; }
{ while IFS= read -r line; do
  n=${'$'}{line%% *}; rest=${'$'}{line#* }; off=${'$'}{rest%% *}; rest=${'$'}{rest#* }; want=${'$'}{rest%% *}; f=$(printf %s "${'$'}{rest#* }" | base64 -d; printf x); f=${'$'}{f%x}
  { tail -c +$((off + 1)) -- "$f"; [ "$n" -gt 0 ] && head -c "$n" /dev/zero; } 2>/dev/null | head -c "$n"
  if [ "$(fl_stat "$f")" = "$(printf %s "$want" | tr _ ' ')" ]; then printf 'ok\n'; else printf 'no\n'; fi
done; } | gzip -1 -c`;
}

async function stream({ shell, from, to, signal }: FetchOptions, files: readonly HostFile[], report: (bytes: number, file: string) => void): Promise<number> {
  const offsets: number[] = [];
  for (const file of files) {
    const size = (await stat(partOf(to, file)).catch(() => undefined))?.size ?? 0;
    offsets.push(Math.min(size, file.bytes));
  }
  const request = files.map(({ path: name, bytes, modified }, i) => `${bytes - offsets[i]} ${offsets[i]} ${bytes}_${modified} ${Buffer.from(`./${name}`).toString('base64')}\n`).join('');
  const gunzip = createGunzip();
  let received = 0;
  const receiving = receive(gunzip, shell.host ?? '', to, files, offsets, report);
  // Told by the shell's own result, too; nobody may be waiting for it yet.
  receiving.catch(() => undefined);
  const { exit, stderr } = await shell.run(sendScript(from), {
    input: request, ...(signal === undefined ? {} : { signal }),
    onStdout: async (chunk) => {
      received += chunk.length;
      if (!gunzip.write(chunk) && !gunzip.destroyed) {
        await Promise.race([once(gunzip, 'drain'), receiving]);
      }
    },
  }).catch(async (error: unknown) => {
    // What has come is worth keeping: the next fetch goes on from there.
    gunzip.end();
    await receiving.catch(() => undefined);
    throw error;
  });
  gunzip.end();
  if (exit !== 0) {
    await receiving.catch(() => undefined);
    throw new RunFailure(explainRunFailure(stderr, exit, { transport: false, ...(shell.host === undefined ? {} : { host: shell.host }) }));
  }
  await receiving;
  return received;
}

/** Splits the stream into files: for each its bytes, then `ok` or `no`. */
async function receive(source: AsyncIterable<Buffer>, host: string, to: string, files: readonly HostFile[], offsets: readonly number[], report: (bytes: number, file: string) => void): Promise<void> {
  let at = 0;
  let left = -1;
  let answer = '';
  let out: FileHandle | undefined;
  let done = offsets.reduce((sum, offset) => sum + offset, 0);
  const begin = async (): Promise<void> => {
    left = files[at].bytes - offsets[at];
    answer = '';
    const part = partOf(to, files[at]);
    await makeFolder(path.dirname(part));
    out = await open(part, offsets[at] > 0 ? 'r+' : 'w');
    await out.truncate(offsets[at]);
  };
  const close = async (): Promise<void> => {
    await out?.close();
    out = undefined;
  };
  const finish = async (): Promise<void> => {
    const file = files[at];
    await close();
    const part = partOf(to, file);
    if (answer !== 'ok\n') {
      await rm(part, { force: true });
      throw runFailure('error.run-fetch-changed', { file: file.path });
    }
    const target = path.join(to, safePath(file.path));
    await rename(part, target);
    await utimes(target, file.modified, file.modified);
    at++;
    left = -1;
  };
  try {
    for await (const chunk of source) {
      for (let i = 0; i < chunk.length;) {
        if (left < 0) {
          await begin();
        }
        if (left > 0) {
          const piece = chunk.subarray(i, i + left);
          await out?.write(piece, 0, piece.length, files[at].bytes - left);
          i += piece.length;
          left -= piece.length;
          done += piece.length;
          report(done, files[at].path);
        } else {
          answer += String.fromCharCode(chunk[i++]);
          if (answer.length === 3) {
            await finish();
          }
        }
      }
    }
  } catch (error) {
    // A stream that was cut in the middle of a compressed block: what came before it is written.
    if (!isCut(error)) {
      throw error instanceof RunFailure ? error : refused(path.join(to, at < files.length ? safePath(files[at].path) : ''), error);
    }
  } finally {
    await close();
  }
  if (at < files.length) {
    throw runFailure('error.run-connection-closed', { host });
  }
}

function isCut(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR';
}
