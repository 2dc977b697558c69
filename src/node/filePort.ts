import { access, constants, open, readdir, realpath, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { FilePort, FileStat, FolderEntry, SqlDatabase } from '../engine/port';
import { UnreadableInput } from '../engine/profile/problems';
import { inflateStream } from './inflate';

const DEFAULT_CHUNK = 1024 * 1024;
/** One read call asks for at most this much, so that a huge `length` never becomes one allocation the file cannot fill. */
const READ_LIMIT = 2 ** 31 - 4096;

/**
 * The engine's files through Node. Paths are taken as they are: spaces, `#`, `%`, CJK and (on Windows) more than 260
 * characters work, because no path is ever turned into a URL. Offsets are doubles, so files over 4 GiB are fine.
 */
export function nodeFilePort(): FilePort {
  return {
    stat: statOf,
    list,
    read: readRange,
    stream: streamRange,
    inflate: inflateStream,
    openSqlite: async (file: string): Promise<SqlDatabase> => (await import('./sqlite')).openSqlite(file),
    join: (...parts) => path.join(...parts),
    basename: (file) => path.basename(file),
    dirname: (file) => path.dirname(file),
  };
}

async function statOf(file: string): Promise<FileStat | undefined> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) {
      await access(file, constants.R_OK | constants.X_OK);
      return { kind: 'folder', size: 0, mtimeMs: found.mtimeMs };
    }
    // Sockets, devices and pipes would block a reader for ever: for us nothing is there.
    return found.isFile() ? { kind: 'file', size: found.size, mtimeMs: found.mtimeMs } : undefined;
  } catch {
    return undefined;
  }
}

async function list(folder: string, onRefused?: (reason: string) => void): Promise<readonly FolderEntry[]> {
  let names;
  try {
    names = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    if (reason !== 'ENOENT' && reason !== 'ENOTDIR') {
      onRefused?.(reason);
    }
    return [];
  }
  const entries: FolderEntry[] = [];
  for (const entry of names) {
    if (entry.isDirectory()) {
      entries.push({ name: entry.name, kind: 'folder' });
    } else if (entry.isFile()) {
      entries.push({ name: entry.name, kind: 'file' });
    } else if (entry.isSymbolicLink()) {
      const target = await statOf(path.join(folder, entry.name));
      if (target !== undefined && !(target.kind === 'folder' && (await leadsBack(folder, entry.name)))) {
        entries.push({ name: entry.name, kind: target.kind });
      }
    }
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** A link to a folder that its own path runs through: following it would list the same files again under longer and longer names. */
async function leadsBack(folder: string, name: string): Promise<boolean> {
  const target = await realpath(path.join(folder, name)).catch(() => undefined);
  for (let above = path.resolve(folder), before = ''; above !== before; before = above, above = path.dirname(above)) {
    if (target === undefined || (await realpath(above).catch(() => undefined)) === target) {
      return true;
    }
  }
  return false;
}

/** A file that was listed may still be forbidden, or gone by now: that is said of the file, it is no mistake of ours. */
async function openToRead(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r');
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): UnreadableInput {
  return new UnreadableInput({ code: 'error.file-unreadable', args: { file, reason: (error as NodeJS.ErrnoException).code ?? String(error) } });
}

async function readRange(file: string, offset: number, length: number): Promise<Uint8Array> {
  const handle = await openToRead(file);
  try {
    const { size } = await handle.stat();
    const wanted = Math.max(0, Math.min(length, size - offset, READ_LIMIT));
    const buffer = new Uint8Array(wanted);
    let filled = 0;
    while (filled < wanted) {
      const { bytesRead } = await handle.read(buffer, filled, wanted - filled, offset + filled).catch((error: unknown) => { throw unreadable(file, error); });
      if (bytesRead === 0) {
        break;
      }
      filled += bytesRead;
    }
    return filled === wanted ? buffer : buffer.subarray(0, filled);
  } finally {
    await handle.close();
  }
}

/**
 * Two buffers take turns: while the caller scans one chunk the next is being read. A file that grows or shrinks while it
 * is read ends where it ends; nothing is read twice.
 */
async function* streamRange(
  file: string,
  options: { readonly start?: number; readonly end?: number; readonly chunkSize?: number } = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const handle = await openToRead(file);
  let pending: Promise<{ readonly bytesRead: number }> | undefined;
  try {
    const size = Math.max(1, Math.floor(options.chunkSize ?? DEFAULT_CHUNK));
    const end = options.end ?? Number.POSITIVE_INFINITY;
    const buffers = [new Uint8Array(size), new Uint8Array(size)];
    let offset = options.start ?? 0;
    let turn = 0;
    const readNext = (): Promise<{ readonly bytesRead: number }> | undefined => {
      const length = Math.min(size, end - offset);
      return length <= 0 ? undefined : handle.read(buffers[turn], 0, length, offset).catch((error: unknown) => { throw unreadable(file, error); });
    };
    pending = readNext();
    while (pending !== undefined) {
      const { bytesRead } = await pending;
      pending = undefined;
      if (bytesRead === 0) {
        return;
      }
      const chunk = buffers[turn].subarray(0, bytesRead);
      offset += bytesRead;
      turn = 1 - turn;
      pending = readNext();
      // A read that fails while the caller still works on this chunk is reported when it is awaited, not as unhandled.
      pending?.catch(() => undefined);
      yield chunk;
    }
  } finally {
    await pending?.catch(() => undefined);
    await handle.close();
  }
}
