/**
 * How the engine reaches the outside world. The same engine runs in a worker, in the CLI, on a remote host and in tests;
 * each gives it one of these. Nothing under `engine/` imports `node:*`, `vscode` or the DOM.
 */

import type { Message } from './profile/problems';

export interface FileStat {
  readonly kind: 'file' | 'folder';
  /** Bytes; 0 for a folder. */
  readonly size: number;
  readonly mtimeMs: number;
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder';
}

/** One row of a query: column name → value. 64-bit integers that do not fit a double arrive as bigint. */
export type SqlValue = number | bigint | string | Uint8Array | null;

/** A SQLite database opened read-only. */
export interface SqlDatabase {
  /**
   * Rows as arrays in the order of the selected columns; streamed, so a million rows never sit in memory as objects. Columns
   * need distinct names that are no numbers (`SELECT 0 AS zero`).
   */
  rows(sql: string, parameters?: readonly SqlValue[]): Iterable<readonly SqlValue[]>;
  /** Column names of a table, in order; empty when the table does not exist. */
  columns(table: string): readonly string[];
  /** What was odd about opening it, as problem kinds. */
  readonly notes?: readonly Message[];
  close(): void;
}

/** Where decoded text of event arguments goes while a compressed trace is read (a gzip stream cannot seek). */
export interface SpillStore {
  /** Appends bytes of the uncompressed stream that starts at `offset`. Calls come in ascending order. */
  append(offset: number, bytes: Uint8Array): Promise<void>;
  finish(): Promise<void>;
}

export interface FilePort {
  /** `undefined` when nothing is there or it may not be read. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Entries sorted by name; an unreadable folder gives an empty list, and `onRefused` the system's reason (one that is not there does not). */
  list(folder: string, onRefused?: (reason: string) => void): Promise<readonly FolderEntry[]>;
  /** Up to `length` bytes from `offset`; shorter at the end of the file. */
  read(path: string, offset: number, length: number): Promise<Uint8Array>;
  /** The file's bytes in chunks. A chunk may be reused by the port after the next one was asked for: copy what must stay. */
  stream(path: string, options?: { readonly start?: number; readonly end?: number; readonly chunkSize?: number }): AsyncIterable<Uint8Array>;
  /**
   * Inflates gzip (all members) or zlib/raw deflate. Ends early, without throwing, when the input is cut: `onCut` is then
   * called with a short reason and what could be inflated has been delivered.
   */
  inflate(source: AsyncIterable<Uint8Array>, kind: 'gzip' | 'deflate-raw', onCut: (reason: string) => void): AsyncIterable<Uint8Array>;
  /** Opens SQLite; rejects with a plain sentence when the file is no database or cannot be opened. Absent where unsupported. */
  openSqlite?(path: string): Promise<SqlDatabase>;
  /** Bytes of an uncompressed stream that a `SpillStore` kept under `key`; undefined when they are not there (any more). Absent without a cache. */
  readSpill?(key: string, offset: number, length: number): Promise<Uint8Array | undefined>;
  join(...parts: readonly string[]): string;
  basename(path: string): string;
  dirname(path: string): string;
}

/** Small text files (metadata, summary CSVs). Refuses files over `limit` bytes, so that no trace ever becomes a string. */
export async function readSmallText(port: FilePort, path: string, limit = 64 * 1024 * 1024): Promise<string | undefined> {
  const stat = await port.stat(path);
  if (stat === undefined || stat.kind !== 'file' || stat.size > limit) {
    return undefined;
  }
  const bytes = await port.read(path, 0, stat.size);
  return new TextDecoder('utf-8').decode(bytes);
}
