/**
 * The files of an archive as a port, so that readers of whole folders work on a zip, a tar or a gzipped file as on a disk.
 * Nothing is unpacked: members are streamed. Tar has no directory and is read from the front for every large member, so
 * its small files are kept from the first pass.
 */
import type { FilePort, FileStat, FolderEntry } from '../port';
import { openBytes, tarBytes, type ContainerKind } from './archive';
import { tarMembers } from './archiveTarMembers';
import { readZipDirectory } from './archiveZip';

/** Members up to this size are kept while a tar is listed, up to `KEPT_BYTES` in all. */
const SMALL = 1024 * 1024;
const KEPT_BYTES = 64 * 1024 * 1024;
/** More members than this are not looked at. */
const MAX_MEMBERS = 100_000;

/** Paths in it start at `/`. */
export interface ArchivePort extends FilePort {
  /** Name of a member as the archive spells it. */
  memberName(path: string): string;
}

const memberOf = (path: string): string => path.replace(/^\/+/, '');

export async function archivePort(port: FilePort, archive: string, container: ContainerKind): Promise<ArchivePort> {
  const { sizes, kept, stored } = await membersOf(port, archive, container);
  const folders = foldersOf(sizes.keys());
  const mtimeMs = (await port.stat(archive))?.mtimeMs ?? 0;
  async function* stream(path: string, options: Parameters<FilePort['stream']>[1] = {}): AsyncIterable<Uint8Array> {
    const { start = 0, end = Infinity, chunkSize } = options;
    const name = memberOf(path);
    const small = kept.get(name);
    if (small !== undefined) {
      yield small.subarray(start, Math.min(end, small.length));
      return;
    }
    let at = 0;
    for await (const chunk of openBytes(port, archive, container === 'gzip' ? undefined : (stored.get(name) ?? name), container, chunkSize === undefined ? {} : { chunkSize })) {
      const part = chunk.subarray(Math.max(0, start - at), Math.max(0, Math.min(chunk.length, end - at)));
      if (part.length > 0) {
        yield part;
      }
      at += chunk.length;
      if (at >= end) {
        return;
      }
    }
  }
  return {
    stat: (path): Promise<FileStat | undefined> => {
      const size = sizes.get(memberOf(path));
      return Promise.resolve(size !== undefined ? { kind: 'file', size, mtimeMs } : folders.has(memberOf(path)) ? { kind: 'folder', size: 0, mtimeMs } : undefined);
    },
    list: (folder) => Promise.resolve(folders.get(memberOf(folder)) ?? []),
    read: async (path, offset, length) => collect(stream(path, { start: offset, end: offset + length }), length),
    stream,
    inflate: (source, kind, onCut) => port.inflate(source, kind, onCut),
    memberName: (path) => stored.get(memberOf(path)) ?? memberOf(path),
    join: (...parts) => parts.join('/').replace(/\/{2,}/g, '/'),
    basename: (path) => memberOf(path).split('/').at(-1) ?? '',
    dirname: (path) => `/${memberOf(path).split('/').slice(0, -1).join('/')}`,
  };
}

interface Members {
  /** By path without `./` and with forward slashes; `stored` has the names as the archive spells them, where they differ. */
  readonly sizes: ReadonlyMap<string, number>;
  readonly stored: ReadonlyMap<string, string>;
  readonly kept: ReadonlyMap<string, Uint8Array>;
}

async function membersOf(port: FilePort, archive: string, container: ContainerKind): Promise<Members> {
  const sizes = new Map<string, number>();
  const kept = new Map<string, Uint8Array>();
  const stored = new Map<string, string>();
  const add = (name: string, size: number): string => {
    const plain = name.replaceAll('\\', '/').replace(/^(\.?\/)+/, '');
    // A name that stands twice means its last member.
    sizes.set(plain, size);
    kept.delete(plain);
    if (plain !== name) {
      stored.set(plain, name);
    } else {
      stored.delete(plain);
    }
    return plain;
  };
  switch (container) {
    case 'zip':
      for (const { name, size } of (await readZipDirectory(port, archive)).slice(0, MAX_MEMBERS)) {
        add(name, size);
      }
      break;
    case 'tar':
    case 'tgz': {
      let bytes = 0;
      for await (const entry of tarMembers(port, archive, tarBytes(port, archive, container))) {
        if (sizes.size === MAX_MEMBERS) {
          break;
        }
        const name = add(entry.name, entry.size);
        if (entry.size <= SMALL && bytes + entry.size <= KEPT_BYTES && /\.(csv|json)$/.test(entry.name)) {
          kept.set(name, await collect(entry.body, entry.size));
          bytes += entry.size;
        }
      }
      break;
    }
    case 'gzip':
    case 'plain':
      // One file; its size is known only after inflating it, so the stored size stands in.
      add(port.basename(archive).replace(/\.gz$/i, ''), (await port.stat(archive))?.size ?? 0);
      break;
  }
  return { sizes, kept, stored };
}

/** Folder → its entries by name, from the members' names. */
function foldersOf(names: Iterable<string>): ReadonlyMap<string, readonly FolderEntry[]> {
  const folders = new Map<string, Map<string, FolderEntry>>([['', new Map()]]);
  for (const name of names) {
    const parts = name.split('/').filter((part) => part !== '' && part !== '.');
    for (let depth = 0; depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join('/');
      const entries = folders.get(folder) ?? new Map<string, FolderEntry>();
      folders.set(folder, entries);
      entries.set(parts[depth], { name: parts[depth], kind: depth === parts.length - 1 ? 'file' : 'folder' });
    }
  }
  return new Map([...folders].map(([folder, entries]) => [folder, [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1))]));
}

async function collect(chunks: AsyncIterable<Uint8Array>, length: number): Promise<Uint8Array> {
  let out = new Uint8Array(Math.min(length, SMALL));
  let filled = 0;
  for await (const chunk of chunks) {
    if (filled + chunk.length > out.length) {
      const larger = new Uint8Array(Math.min(length, Math.max(out.length * 2, filled + chunk.length)));
      larger.set(out.subarray(0, filled));
      out = larger;
    }
    const part = chunk.subarray(0, out.length - filled);
    out.set(part, filled);
    filled += part.length;
  }
  return out.subarray(0, filled);
}
