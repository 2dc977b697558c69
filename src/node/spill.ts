import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRaw } from 'node:zlib';
import type { SpillStore } from '../engine/port';
import type { RankSource } from '../engine/readers/reader';
import { cacheKey, temporaryName, touch, trimCache, type CacheOptions } from './cache';
import { makeFolder } from './makeFolder';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

const SPILL = '.spill';
const BLOCK_BYTES = 1024 * 1024;
/** Blocks being deflated or written at a time; more would only fill memory. */
const IN_FLIGHT = 4;
const MAGIC = 0x4c4c_4950_534c_46;
const DEFAULT_LIMIT = 4 * 1024 ** 3;
/** Inflated blocks kept for the next click, which is usually near the last. */
const KEPT_BLOCKS = 4;

/**
 * Text of event arguments from compressed traces, kept in the cache folder because a gzip stream cannot seek: blocks of
 * about 1 MB, each deflated on its own. File: blocks · index (per block: first offset, end offset, place, bytes) · footer
 * (place of the index, number of blocks, magic), all doubles. A block holds a list of its stretches, then their bytes.
 */
export class NodeSpill {
  private readonly readers = new Map<string, Promise<SpillReader | undefined>>();

  constructor(private readonly options: CacheOptions) {}

  /** A store for one source; nothing is written before the first `append`. Without disk space it silently keeps nothing. */
  async create(source: RankSource): Promise<{ readonly key: string; readonly store: SpillStore }> {
    const key = await cacheKey(source, this.options.build);
    this.readers.delete(key);
    return { key, store: new SpillWriter(this.options.folder, this.file(key), this.options.limitBytes ?? DEFAULT_LIMIT) };
  }

  /** Bytes of the uncompressed stream; undefined when they were not kept (any more): stream the trace again then. */
  async read(key: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    if (!/^[0-9a-f]+$/.test(key)) {
      return undefined;
    }
    let reader = this.readers.get(key);
    if (reader === undefined) {
      reader = SpillReader.open(this.file(key));
      this.readers.set(key, reader);
    }
    const opened = await reader;
    const bytes = await opened?.read(offset, length).catch(() => undefined);
    if (bytes === undefined) {
      // It may be written later, or have been trimmed: look again next time.
      this.readers.delete(key);
    }
    return bytes;
  }

  private file(key: string): string {
    return path.join(this.options.folder, `${key}${SPILL}`);
  }
}

interface Stretch {
  readonly offset: number;
  length: number;
}

class SpillWriter implements SpillStore {
  private readonly temporary: string;
  private handle: Awaited<ReturnType<typeof open>> | undefined;
  private failed = false;
  private block = new Uint8Array(BLOCK_BYTES);
  private used = 0;
  private stretches: Stretch[] = [];
  private readonly index: number[] = [];
  private place = 0;
  private readonly inFlight = new Set<Promise<void>>();

  constructor(private readonly folder: string, private readonly file: string, private readonly limitBytes: number) {
    this.temporary = temporaryName(file);
  }

  async append(offset: number, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && !this.failed; ) {
      const length = Math.min(bytes.length - at, BLOCK_BYTES - this.used);
      this.block.set(bytes.subarray(at, at + length), this.used);
      const last = this.stretches.at(-1);
      if (last !== undefined && last.offset + last.length === offset + at) {
        last.length += length;
      } else {
        this.stretches.push({ offset: offset + at, length });
      }
      this.used += length;
      at += length;
      if (this.used === BLOCK_BYTES) {
        await this.flush();
      }
    }
  }

  async finish(): Promise<void> {
    if (this.used > 0) {
      await this.flush();
    }
    await Promise.all(this.inFlight);
    if (this.handle === undefined) {
      return;
    }
    try {
      if (!this.failed) {
        const blocks = this.index.length / 4;
        const order = Array.from({ length: blocks }, (_, i) => i).sort((a, b) => this.index[a * 4] - this.index[b * 4]);
        const table = Float64Array.from([...order.flatMap((i) => this.index.slice(i * 4, i * 4 + 4)), this.place, blocks, MAGIC]);
        await this.handle.write(new Uint8Array(table.buffer), 0, table.byteLength, this.place);
      }
    } catch {
      this.failed = true;
    }
    await this.handle.close();
    await this.settle();
  }

  private async settle(): Promise<void> {
    try {
      if (this.failed) {
        await rm(this.temporary, { force: true });
      } else {
        await rename(this.temporary, this.file);
        await trimCache(this.folder, this.limitBytes);
      }
    } catch {
      // Without it a click streams the trace again.
      await rm(this.temporary, { force: true }).catch(() => undefined);
    }
  }

  private async flush(): Promise<void> {
    const { stretches, used, block } = this;
    this.block = new Uint8Array(BLOCK_BYTES);
    this.used = 0;
    this.stretches = [];
    while (this.inFlight.size >= IN_FLIGHT) {
      await Promise.race(this.inFlight);
    }
    const work = this.writeBlock(stretches, block.subarray(0, used)).catch(() => {
      this.failed = true;
    });
    this.inFlight.add(work);
    void work.then(() => this.inFlight.delete(work));
  }

  private async writeBlock(stretches: readonly Stretch[], text: Uint8Array): Promise<void> {
    const list = Float64Array.from([stretches.length, ...stretches.flatMap(({ offset, length }) => [offset, length])]);
    const plain = new Uint8Array(list.byteLength + text.length);
    plain.set(new Uint8Array(list.buffer));
    plain.set(text, list.byteLength);
    const packed = await deflate(plain, { level: constants.Z_BEST_SPEED });
    if (this.handle === undefined && !this.failed) {
      await this.start();
    }
    if (this.failed || this.handle === undefined) {
      return;
    }
    const { place } = this;
    this.place += packed.length;
    const last = stretches[stretches.length - 1];
    this.index.push(stretches[0].offset, last.offset + last.length, place, packed.length);
    const { bytesWritten } = await this.handle.write(packed, 0, packed.length, place);
    this.failed ||= bytesWritten !== packed.length;
  }

  private opening: Promise<void> | undefined;

  /** Several blocks may come here at once; the file is made once. */
  private async start(): Promise<void> {
    this.opening ??= (async () => {
      await makeFolder(this.folder);
      this.handle = await open(this.temporary, 'wx+');
    })();
    await this.opening;
  }
}

class SpillReader {
  private readonly blocks = new Map<number, Uint8Array<ArrayBuffer>>();

  private constructor(private readonly file: string, private readonly index: Float64Array) {}

  static async open(file: string): Promise<SpillReader | undefined> {
    try {
      const handle = await open(file, 'r');
      try {
        const { size } = await handle.stat();
        const footer = await readDoubles(handle, size - 24, 3);
        const [place, blocks, magic] = footer;
        if (magic !== MAGIC || place + blocks * 32 + 24 !== size) {
          return undefined;
        }
        await touch(file);
        return new SpillReader(file, await readDoubles(handle, place, blocks * 4));
      } finally {
        await handle.close();
      }
    } catch {
      return undefined;
    }
  }

  async read(offset: number, length: number): Promise<Uint8Array | undefined> {
    const out = new Uint8Array(length);
    let filled = 0;
    for (let block = this.firstBlock(offset); block * 4 < this.index.length && this.index[block * 4] < offset + length; block++) {
      const plain = await this.block(block);
      const [count] = new Float64Array(plain.buffer, 0, 1);
      const list = new Float64Array(plain.buffer, 0, 1 + count * 2);
      let at = list.byteLength;
      for (let i = 0; i < count; i++) {
        const [start, bytes] = [list[1 + i * 2], list[2 + i * 2]];
        const from = Math.max(offset, start);
        const to = Math.min(offset + length, start + bytes);
        if (to > from) {
          out.set(plain.subarray(at + from - start, at + to - start), from - offset);
          filled += to - from;
        }
        at += bytes;
      }
    }
    return filled === length ? out : undefined;
  }

  /** The last block that starts at or before the offset. */
  private firstBlock(offset: number): number {
    let low = 0;
    let high = this.index.length / 4;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.index[middle * 4] <= offset) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private async block(number: number): Promise<Uint8Array<ArrayBuffer>> {
    const known = this.blocks.get(number);
    if (known !== undefined) {
      return known;
    }
    const handle = await open(this.file, 'r');
    try {
      const [place, bytes] = [this.index[number * 4 + 2], this.index[number * 4 + 3]];
      const packed = new Uint8Array(bytes);
      await handle.read(packed, 0, bytes, place);
      // A copy of its own: small buffers share one, at odd places.
      const plain = new Uint8Array(await inflate(packed));
      this.blocks.set(number, plain);
      const [oldest] = this.blocks.keys();
      if (this.blocks.size > KEPT_BLOCKS) {
        this.blocks.delete(oldest);
      }
      return plain;
    } finally {
      await handle.close();
    }
  }
}

async function readDoubles(handle: Awaited<ReturnType<typeof open>>, place: number, count: number): Promise<Float64Array> {
  const doubles = new Float64Array(count);
  await handle.read(new Uint8Array(doubles.buffer), 0, count * 8, place);
  return doubles;
}
