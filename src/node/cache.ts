import { createHash } from 'node:crypto';
import { open, readdir, rename, rm, stat, unlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import type { RankData } from '../engine/profile/columns';
import type { Problem } from '../engine/profile/problems';
import { deserializeRank, RANK_FORMAT_VERSION, serializeRank, type StoredRank } from '../engine/profile/serialize';
import type { RankSource } from '../engine/readers/reader';
import type { ColumnCache } from '../engine/session';
import { makeFolder } from './makeFolder';

export interface CacheOptions {
  /** Made when first needed; never beside a profile. */
  readonly folder: string;
  /** Default 4 GiB. */
  readonly limitBytes?: number;
  /** Changes with every build that reads differently, e.g. the extension's version. */
  readonly build?: string;
}

const DEFAULT_LIMIT = 4 * 1024 ** 3;
const PROBE_BYTES = 4096;
const COLUMNS = '.columns';
const TEMPORARY = '.tmp';
/** A temporary file this old was left by a window that died. */
const STALE_MS = 3_600_000;

/**
 * Columns of ranks on disk, so that a second open need not read the profile again. A file is written under a temporary name
 * and renamed, so that two windows can share the folder; a file that is damaged or cut is ignored and written again.
 * Nothing here ever fails a load: without disk space the cache just stops, with one problem that says so.
 */
export class NodeColumnCache implements ColumnCache {
  /** Why nothing is written any more. */
  private stopped = false;
  /** Keys as they were before reading: a file that changed meanwhile must not be stored as what it is now. */
  private readonly keys = new WeakMap<RankSource, string>();

  constructor(private readonly options: CacheOptions) {}

  async load(source: RankSource): Promise<StoredRank | undefined> {
    try {
      const key = await cacheKey(source, this.options.build);
      this.keys.set(source, key);
      const file = this.file(key);
      const bytes = await readWhole(file);
      if (bytes === undefined) {
        return undefined;
      }
      const stored = deserializeRank(bytes);
      if (stored === undefined) {
        await unlink(file);
        return undefined;
      }
      await touch(file);
      return stored;
    } catch {
      return undefined;
    }
  }

  /** Resolves with a problem the first time that the folder cannot be written. */
  async store(source: RankSource, data: RankData, problems: readonly Problem[]): Promise<Problem | undefined> {
    if (this.stopped) {
      return undefined;
    }
    try {
      const key = await cacheKey(source, this.options.build);
      if (key !== (this.keys.get(source) ?? key)) {
        return undefined;
      }
      const parts = serializeRank({ data, problems });
      const bytes = parts.reduce((sum, part) => sum + part.length, 0);
      if (bytes <= this.limit) {
        await makeFolder(this.options.folder);
        await writeWhole(this.file(key), parts);
        await trimCache(this.options.folder, this.limit);
      }
      return undefined;
    } catch (error) {
      this.stopped = true;
      const reason = (error as NodeJS.ErrnoException).code ?? String(error);
      return { kind: reason === 'ENOSPC' ? 'cache-full' : 'cache-unusable', severity: 'info', count: 1, where: this.options.folder, args: { reason } };
    }
  }

  private get limit(): number {
    return this.options.limitBytes ?? DEFAULT_LIMIT;
  }

  private file(key: string): string {
    return path.join(this.options.folder, `${key}${COLUMNS}`);
  }
}

/** What a rank's columns depend on: format, and for each file its path, size, time, first and last bytes. */
export async function cacheKey(source: RankSource, build = ''): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([RANK_FORMAT_VERSION, build, source.format, source.id]));
  const files = source.files.length > 0 ? source.files : [source.path];
  for (const file of [...files].sort()) {
    const found = await stat(file).catch(() => undefined);
    hash.update(JSON.stringify([path.resolve(file), found?.size ?? -1, found?.mtimeMs ?? -1]));
    if (found?.isFile() === true) {
      const handle = await open(file, 'r');
      try {
        for (const at of [0, Math.max(0, found.size - PROBE_BYTES)]) {
          const { buffer, bytesRead } = await handle.read(new Uint8Array(PROBE_BYTES), 0, PROBE_BYTES, at);
          hash.update(buffer.subarray(0, bytesRead));
        }
      } finally {
        await handle.close();
      }
    }
  }
  return hash.digest('hex').slice(0, 40);
}

/** Deletes the files used longest ago until the folder is within its limit, and what dead windows left. */
export async function trimCache(folder: string, limitBytes: number): Promise<void> {
  const now = Date.now();
  const files: { readonly file: string; readonly size: number; readonly used: number }[] = [];
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    const found = await stat(file).catch(() => undefined);
    if (found === undefined || !found.isFile()) {
      continue;
    }
    if (name.endsWith(TEMPORARY) && now - found.mtimeMs > STALE_MS) {
      await rm(file, { force: true }).catch(() => undefined);
    } else {
      files.push({ file, size: found.size, used: found.mtimeMs });
    }
  }
  let total = files.reduce((sum, { size }) => sum + size, 0);
  for (const { file, size } of files.sort((a, b) => a.used - b.used)) {
    if (total <= limitBytes) {
      return;
    }
    // Another window may have it open or have deleted it: both are fine.
    await rm(file, { force: true }).catch(() => undefined);
    total -= size;
  }
}

/** Writes pieces to a file that appears only when it is whole. */
async function writeWhole(file: string, parts: readonly Uint8Array[]): Promise<void> {
  const temporary = temporaryName(file);
  try {
    const handle = await open(temporary, 'wx');
    try {
      await writeAll(handle, parts);
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

let temporaries = 0;

/** Unique over windows and calls. */
export const temporaryName = (file: string): string => `${file}.${process.pid}-${++temporaries}-${Math.random().toString(36).slice(2)}${TEMPORARY}`;

/** The time of last change is the time of last use: nobody else reads it. */
export async function touch(file: string): Promise<void> {
  const now = new Date();
  await utimes(file, now, now).catch(() => undefined);
}

async function writeAll(handle: Awaited<ReturnType<typeof open>>, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts) {
    // A write may take less than it was given when the disk is nearly full.
    for (let done = 0; done < part.length; ) {
      const { bytesWritten } = await handle.write(part, done, part.length - done);
      done += bytesWritten;
    }
  }
}

async function readWhole(file: string): Promise<Uint8Array | undefined> {
  let handle;
  try {
    handle = await open(file, 'r');
  } catch {
    return undefined;
  }
  try {
    const { size } = await handle.stat();
    const bytes = new Uint8Array(size);
    for (let done = 0; done < size; ) {
      const { bytesRead } = await handle.read(bytes, done, Math.min(size - done, 2 ** 30), done);
      if (bytesRead === 0) {
        return undefined;
      }
      done += bytesRead;
    }
    return bytes;
  } finally {
    await handle.close();
  }
}
