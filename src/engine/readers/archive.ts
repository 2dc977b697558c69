/**
 * Where the bytes of a trace come from: a plain file, gzip (any number of members), zip, tar or tar.gz, told by content.
 * Nothing is inflated whole: a member is a stream. Zip is read through its central directory (PKWARE APPNOTE 6.3, stored
 * and deflated members, zip64); tar from the front.
 */
import type { FilePort } from '../port';
import { UnreadableInput } from '../profile/problems';
import { tarEntries } from './archiveTar';
import { tarFacts, tarMembers } from './archiveTarMembers';
import { readZipDirectory, zipDataStart, type ZipMember } from './archiveZip';

export type ContainerKind = 'plain' | 'gzip' | 'zip' | 'tar' | 'tgz';

export interface ArchiveMember {
  /** Path inside the archive, `/` between folders. */
  readonly name: string;
  /** Uncompressed bytes. */
  readonly size: number;
}

export interface StreamHooks {
  /** Compressed (as stored) bytes read so far; plain files: bytes read. */
  readonly onRead?: (bytes: number) => void;
  /** The input ended early; what could be read has been delivered. */
  readonly onCut?: (reason: string) => void;
  readonly chunkSize?: number;
}

const HEAD = 64 * 1024;

export function isGzip(head: Uint8Array): boolean {
  return head.length >= 2 && head[0] === 0x1f && head[1] === 0x8b;
}

export function isZip(head: Uint8Array): boolean {
  return head.length >= 4 && head[0] === 0x50 && head[1] === 0x4b && ((head[2] === 3 && head[3] === 4) || (head[2] === 5 && head[3] === 6));
}

export function isTar(head: Uint8Array): boolean {
  return head.length >= 262 && 'ustar'.split('').every((letter, i) => head[257 + i] === letter.charCodeAt(0));
}

/** `head`: the first bytes of the file, 512 or more where it has them. */
export async function containerOf(port: FilePort, path: string, head?: Uint8Array): Promise<ContainerKind> {
  const bytes = head ?? (await port.read(path, 0, HEAD));
  if (isZip(bytes)) {
    return 'zip';
  }
  if (isTar(bytes)) {
    return 'tar';
  }
  if (!isGzip(bytes)) {
    return 'plain';
  }
  return isTar(await headOf(openBytes(port, path, undefined, 'gzip'), 512)) ? 'tgz' : 'gzip';
}

/** The first `length` bytes of a stream; the rest is not read. */
export async function headOf(chunks: AsyncIterable<Uint8Array>, length: number): Promise<Uint8Array> {
  const head = new Uint8Array(length);
  let filled = 0;
  for await (const chunk of chunks) {
    const part = chunk.subarray(0, length - filled);
    head.set(part, filled);
    filled += part.length;
    if (filled === length) {
      break;
    }
  }
  return head.subarray(0, filled);
}

/** Files in an archive, in its order, each name once; undefined when the file is no archive of files. */
export async function listMembers(port: FilePort, path: string, container: ContainerKind): Promise<readonly ArchiveMember[] | undefined> {
  if (container === 'zip') {
    return readZipDirectory(port, path);
  }
  if (container === 'tar' || container === 'tgz') {
    const members = new Map<string, ArchiveMember>();
    for await (const { name, size } of tarMembers(port, path, tarBytes(port, path, container))) {
      members.set(name, { name, size });
    }
    return [...members.values()];
  }
  return undefined;
}

/** Places where a tar file is damaged, so that members are missing; 0 for every other container. */
export async function damagedHeaders(port: FilePort, path: string, container: ContainerKind): Promise<number> {
  return container === 'tar' || container === 'tgz' ? (await tarFacts(port, path, () => tarBytes(port, path, container))).damaged : 0;
}

/** The tar stream itself, inflated. */
export function tarBytes(port: FilePort, path: string, container: 'tar' | 'tgz'): AsyncIterable<Uint8Array> {
  return openBytes(port, path, undefined, container === 'tgz' ? 'gzip' : 'plain');
}

/** Uncompressed bytes of a file, or of one member of an archive. A gzip file inside an archive is inflated, too. */
export async function* openBytes(port: FilePort, path: string, member: string | undefined, container: ContainerKind, hooks: StreamHooks = {}): AsyncGenerator<Uint8Array, void, undefined> {
  const stored = await storedBytes(port, path, member, container, hooks);
  if (member === undefined) {
    yield* stored;
    return;
  }
  yield* inflateIfGzip(port, stored, hooks.onCut ?? ignore);
}

function ignore(): void {
  // A caller that does not ask about cuts (detection, listing) takes what there is.
}

async function storedBytes(port: FilePort, path: string, member: string | undefined, container: ContainerKind, hooks: StreamHooks): Promise<AsyncIterable<Uint8Array>> {
  const onCut = hooks.onCut ?? ignore;
  const options = hooks.chunkSize === undefined ? {} : { chunkSize: hooks.chunkSize };
  if (container === 'zip') {
    const entry = (await readZipDirectory(port, path)).find(({ name }) => name === member);
    if (entry === undefined) {
      throw new UnreadableInput({ code: 'error.archive-member-missing', args: { file: path, member: member ?? '' } });
    }
    return zipMember(port, path, entry, hooks);
  }
  const file = counted(port.stream(path, options), hooks);
  if (container === 'plain') {
    return file;
  }
  const bytes = container === 'tar' ? file : port.inflate(file, 'gzip', onCut);
  if (container === 'gzip' || member === undefined) {
    return bytes;
  }
  const { last } = await tarFacts(port, path, () => tarBytes(port, path, container));
  return tarMember(bytes, member, last.get(member) ?? 0, path);
}

async function* zipMember(port: FilePort, path: string, entry: ZipMember, hooks: StreamHooks): AsyncGenerator<Uint8Array, void, undefined> {
  const start = await zipDataStart(port, path, entry);
  const options = { start, end: start + entry.compressedSize, ...(hooks.chunkSize === undefined ? {} : { chunkSize: hooks.chunkSize }) };
  const stored = counted(port.stream(path, options), hooks);
  if (entry.method === 0) {
    yield* stored;
  } else if (entry.method === 8) {
    yield* port.inflate(stored, 'deflate-raw', hooks.onCut ?? ignore);
  } else {
    throw new UnreadableInput({ code: 'error.archive-method', args: { file: path, member: entry.name, method: entry.method } });
  }
}

/** `from`: members before this one are passed over, for a name that stands twice. */
async function* tarMember(bytes: AsyncIterable<Uint8Array>, member: string, from: number, path: string): AsyncGenerator<Uint8Array, void, undefined> {
  let index = 0;
  for await (const entry of tarEntries(bytes)) {
    if (index++ >= from && entry.name === member) {
      for await (const chunk of entry.body) {
        yield chunk;
      }
      return;
    }
  }
  throw new UnreadableInput({ code: 'error.archive-member-missing', args: { file: path, member } });
}

async function* inflateIfGzip(port: FilePort, bytes: AsyncIterable<Uint8Array>, onCut: (reason: string) => void): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator = bytes[Symbol.asyncIterator]();
  let head = new Uint8Array(0);
  let done = false;
  while (head.length < 2 && !done) {
    const next = await iterator.next();
    if (next.done === true) {
      done = true;
    } else {
      const joined = new Uint8Array(head.length + next.value.length);
      joined.set(head);
      joined.set(next.value, head.length);
      head = joined;
    }
  }
  const whole = (async function* () {
    try {
      yield head;
      while (!done) {
        const next = await iterator.next();
        if (next.done === true) {
          return;
        }
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  })();
  yield* isGzip(head) ? port.inflate(whole, 'gzip', onCut) : whole;
}

async function* counted(bytes: AsyncIterable<Uint8Array>, hooks: StreamHooks): AsyncGenerator<Uint8Array, void, undefined> {
  let read = 0;
  for await (const chunk of bytes) {
    read += chunk.length;
    hooks.onRead?.(read);
    yield chunk;
  }
}
