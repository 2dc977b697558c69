import { constants, rmSync } from 'node:fs';
import { chmod, copyFile, link, mkdtemp, open, readdir, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { UnreadableInput, type Message } from '../engine/profile/problems';

/** A database file as SQLite is to open it: a link or copy in a folder of our own. */
export interface StagedDatabase {
  readonly path: string;
  /** True for a copy, which SQLite may change. */
  readonly writable: boolean;
  readonly notes: readonly Message[];
  remove(): void;
}

const PREFIX = 'fuselens-db-';
/** No reading takes this long. */
const LEFT_OVER_MS = 24 * 3_600_000;
const MAGIC = 'SQLite format 3\0';
/** Bytes 18 and 19 of the header: 1 = rollback journal, 2 = write-ahead log. */
const WRITE_VERSION_AT = 18;

/**
 * Makes a database openable without touching its folder. The WebAssembly build locks by creating a folder beside the file
 * it opens, and a header that says "write-ahead log" makes SQLite create `-wal` and `-shm` files; so it gets
 *  - a link in our own temporary folder, in the normal case;
 *  - a copy whose header says "rollback journal", when the header says WAL but there is no log;
 *  - a copy of file and log, when the log holds pages that the file lacks (the copy folds them in).
 */
export async function stageDatabase(file: string): Promise<StagedDatabase> {
  const header = await readHeader(file);
  const usesLog = header[WRITE_VERSION_AT] === 2 || header[WRITE_VERSION_AT + 1] === 2;
  await (sweeping ??= sweepLeftovers());
  const folder = await mkdtemp(path.join(tmpdir(), PREFIX)).catch((error: unknown) => { throw notStaged(file, error); });
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const target = path.join(folder, 'database.db');
  try {
    if (!usesLog) {
      await linkFile(file, target);
      return { path: target, writable: false, notes: [], remove };
    }
    await copy(file, target);
    if ((await sizeOf(`${file}-wal`)) > 0) {
      await copy(`${file}-wal`, `${target}-wal`);
      return { path: target, writable: true, notes: [{ code: 'sqlite-pending-log', args: { file } }], remove };
    }
    await useRollbackJournal(target);
    return { path: target, writable: false, notes: [], remove };
  } catch (error) {
    remove();
    throw notStaged(file, error);
  }
}

function notStaged(file: string, error: unknown): UnreadableInput {
  const { code } = error as NodeJS.ErrnoException;
  const args = { file, folder: tmpdir() };
  return new UnreadableInput(code === 'ENOSPC' ? { code: 'error.sqlite-no-space', args } : { code: 'error.sqlite-not-copied', args: { ...args, reason: code ?? String(error) } });
}

let sweeping: Promise<void> | undefined;

/** A process that was killed could not remove its folder, which may hold a copy of gigabytes. Looked for once a process. */
async function sweepLeftovers(): Promise<void> {
  const now = Date.now();
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const folder = path.join(tmpdir(), name);
    if (name.startsWith(PREFIX) && now - ((await stat(folder).catch(() => undefined))?.mtimeMs ?? now) > LEFT_OVER_MS) {
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

async function readHeader(file: string): Promise<Uint8Array> {
  const header = new Uint8Array(100);
  let length: number;
  try {
    const handle = await open(file, 'r');
    try {
      length = (await handle.read(header, 0, header.length, 0)).bytesRead;
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw new UnreadableInput({ code: 'error.file-unreadable', args: { file, reason: (error as NodeJS.ErrnoException).code ?? String(error) } });
  }
  const magic = new TextDecoder('latin1').decode(header.subarray(0, MAGIC.length));
  if (length < header.length || magic !== MAGIC) {
    throw new UnreadableInput({ code: 'error.sqlite-not-a-database', args: { file } });
  }
  return header;
}

/** Windows lets only some users make symbolic links; a hard link needs the same volume; a copy always works. */
async function linkFile(file: string, target: string): Promise<void> {
  try {
    await symlink(path.resolve(file), target, 'file');
  } catch {
    try {
      await link(file, target);
    } catch {
      await copy(file, target);
    }
  }
}

/** Where the file system can, the copy shares its blocks with the original and costs nothing. A read-only file must not give a read-only copy. */
async function copy(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await chmod(to, 0o600);
}

async function useRollbackJournal(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.write(Uint8Array.of(1, 1), 0, 2, WRITE_VERSION_AT);
  } finally {
    await handle.close();
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    return 0;
  }
}
