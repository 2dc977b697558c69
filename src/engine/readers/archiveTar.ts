/**
 * Files of a tar stream (POSIX ustar, GNU long names, pax paths and sizes), pulled from the front as the caller takes them.
 * Own code because modern-tar's decoder pushes: a member longer than one chunk can stall it for ever when read through a
 * reader, and a caller that stops early leaves it waiting.
 */

export interface TarItem {
  readonly name: string;
  readonly size: number;
  /** To be read before the next entry is asked for, or not at all. */
  readonly body: AsyncIterable<Uint8Array>;
}

const BLOCK = 512;
/** Longer names and pax records are damage. */
const MAX_EXTENSION = 1024 * 1024;

/**
 * Ends early, without throwing, where the archive is cut. A damaged header costs its member: reading goes on with the next
 * block that is a header, and `onDamage` is called once for each such place.
 */
export async function* tarEntries(bytes: AsyncIterable<Uint8Array>, onDamage?: () => void): AsyncGenerator<TarItem, void, undefined> {
  const source = new ByteSource(bytes);
  try {
    let extension: Extension = {};
    let lost = false;
    for (;;) {
      const header = await source.take(BLOCK);
      if (header.length < BLOCK) {
        return;
      }
      if (!isHeader(header)) {
        if (!lost && isBlank(header)) {
          return;
        }
        if (!lost) {
          onDamage?.();
        }
        lost = true;
        extension = {};
        continue;
      }
      lost = false;
      const size = extension.size ?? numberAt(header, 124, 12);
      const padding = (BLOCK - (size % BLOCK)) % BLOCK;
      const type = String.fromCharCode(header[156]);
      if (type === 'L' || type === 'x') {
        if (size > MAX_EXTENSION) {
          onDamage?.();
          lost = true;
          continue;
        }
        extension = { ...extension, ...(type === 'L' ? { name: textAt(await source.take(size), 0, size) } : paxOf(await source.take(size))) };
        await source.skip(padding);
        continue;
      }
      const body = new Body(source, size);
      if (type === '0' || type === '\0' || type === '7') {
        yield { name: extension.name ?? nameOf(header), size, body };
      }
      await body.finish();
      await source.skip(padding);
      extension = {};
    }
  } finally {
    await source.close();
  }
}

interface Extension {
  readonly name?: string;
  readonly size?: number;
}

const decoder = new TextDecoder('utf-8');

function textAt(bytes: Uint8Array, start: number, length: number): string {
  const end = bytes.indexOf(0, start);
  return decoder.decode(bytes.subarray(start, end < 0 || end > start + length ? start + length : end));
}

/** Octal text, or base 256 with the top bit set (sizes of 8 GB and more). */
function numberAt(header: Uint8Array, start: number, length: number): number {
  if ((header[start] & 0x80) === 0) {
    return parseInt(textAt(header, start, length).trim() || '0', 8) || 0;
  }
  let value = header[start] & 0x7f;
  for (let i = start + 1; i < start + length; i++) {
    value = value * 256 + header[i];
  }
  return value;
}

function nameOf(header: Uint8Array): string {
  const name = textAt(header, 0, 100);
  const isPosix = textAt(header, 257, 6) === 'ustar';
  const prefix = isPosix ? textAt(header, 345, 155) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** The sum of all bytes, with blanks in place of the sum itself; blocks of zeros fail it. */
function isHeader(header: Uint8Array): boolean {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) {
    sum += i >= 148 && i < 156 ? 32 : header[i];
  }
  return sum === numberAt(header, 148, 8) && header[0] !== 0;
}

/** The end of the archive is blocks of zeros. */
function isBlank(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

/** Records of `<length> <key>=<value>\n`; the length counts the whole record in bytes. */
function paxOf(bytes: Uint8Array): Extension {
  let extension: Extension = {};
  for (let at = 0; at < bytes.length;) {
    const blank = bytes.indexOf(32, at);
    const length = Number(decoder.decode(bytes.subarray(at, Math.max(at, blank))));
    if (blank < 0 || !(length > blank - at)) {
      break;
    }
    const record = decoder.decode(bytes.subarray(blank + 1, at + length - 1));
    const equals = record.indexOf('=');
    const value = record.slice(equals + 1);
    switch (record.slice(0, equals)) {
      case 'path':
        extension = { ...extension, name: value };
        break;
      case 'size':
        extension = { ...extension, size: Number(value) };
        break;
      default:
        break;
    }
    at += length;
  }
  return extension;
}

/** Bytes of one member; what nobody read is skipped by `finish`. */
class Body implements AsyncIterable<Uint8Array> {
  private left: number;

  constructor(private readonly source: ByteSource, size: number) {
    this.left = size;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    while (this.left > 0) {
      const part = await this.source.some(this.left);
      if (part.length === 0) {
        return;
      }
      this.left -= part.length;
      yield part;
    }
  }

  async finish(): Promise<void> {
    const rest = this.left;
    this.left = 0;
    await this.source.skip(rest);
  }
}

/** Takes bytes from a stream in pieces of any size. */
class ByteSource {
  private readonly iterator: AsyncIterator<Uint8Array>;
  private chunk: Uint8Array = new Uint8Array(0);

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.iterator = bytes[Symbol.asyncIterator]();
  }

  /** Up to `most` bytes, as many as are at hand; empty at the end. Valid until the next call. */
  async some(most: number): Promise<Uint8Array> {
    while (this.chunk.length === 0) {
      const next = await this.iterator.next();
      if (next.done === true) {
        return this.chunk;
      }
      this.chunk = next.value;
    }
    const part = this.chunk.subarray(0, most);
    this.chunk = this.chunk.subarray(part.length);
    return part;
  }

  /** Exactly `length` bytes, fewer at the end. */
  async take(length: number): Promise<Uint8Array> {
    const out = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      const part = await this.some(length - filled);
      if (part.length === 0) {
        break;
      }
      out.set(part, filled);
      filled += part.length;
    }
    return out.subarray(0, filled);
  }

  async skip(length: number): Promise<void> {
    for (let left = length; left > 0;) {
      const part = await this.some(left);
      if (part.length === 0) {
        return;
      }
      left -= part.length;
    }
  }

  async close(): Promise<void> {
    await this.iterator.return?.();
  }
}
