/** All arguments of one event, read from the file when somebody asks (a click), never kept. */
import type { FilePort } from '../port';
import type { DetailSource, RankData } from '../profile/columns';
import { containerOf, openBytes } from './archive';
import { csvDetail } from './csvDetail';
import { isJsonObject, parseLenient } from './traceText';

/** Reads bytes `[offset, offset + length)` of the uncompressed trace from what was spilled under `key`; undefined when it is gone. */
export type ReadSpill = (key: string, offset: number, length: number) => Promise<Uint8Array | undefined>;

export interface DetailOptions {
  readonly readSpill?: ReadSpill;
  readonly signal?: AbortSignal;
}

/** A 16-bit length column holds this for anything longer. */
const CLIPPED = 0xffff;
/** Read for an event of unknown length. */
const LONG_EVENT = 1 << 20;

/**
 * The arguments of an event of the trace as plain data; undefined when it has none or they cannot be reached any more.
 * Compressed files without a spill are inflated again up to the place.
 */
export async function decodeDetail(
  port: FilePort, rank: Pick<RankData, 'deviceEvents' | 'hostEvents' | 'detailSource' | 'deviceDetailSource'>, which: 'device' | 'host', index: number, options: DetailOptions = {},
): Promise<Record<string, unknown> | undefined> {
  const events = which === 'device' ? rank.deviceEvents : rank.hostEvents;
  const source = which === 'device' ? rank.deviceDetailSource : rank.detailSource;
  const length = events.detailLength[index] ?? 0;
  if (length === 0 || source.kind === 'none') {
    return undefined;
  }
  if (source.format === 'csv') {
    const row = await bytesAt(port, source, events.detailAt[index], length, options);
    return row === undefined || source.header === undefined ? undefined : csvDetail(source.header, row);
  }
  const wanted = which === 'device' && length === CLIPPED ? LONG_EVENT : length;
  const bytes = await bytesAt(port, source, events.detailAt[index], wanted, options);
  const value = bytes === undefined ? undefined : parseLenient(bytes, 0, bytes.length);
  return isJsonObject(value) ? value : undefined;
}

async function bytesAt(port: FilePort, source: Exclude<DetailSource, { kind: 'none' }>, offset: number, length: number, { readSpill, signal }: DetailOptions): Promise<Uint8Array | undefined> {
  if (source.kind === 'spill') {
    const spilled = await readSpill?.(source.key, offset, length);
    if (spilled !== undefined) {
      return spilled;
    }
  }
  const container = await containerOf(port, source.path);
  if (container === 'plain') {
    return port.read(source.path, offset, length);
  }
  return rangeOf(openBytes(port, source.path, source.member, container), offset, length, signal);
}

/** Part of a stream; reading stops behind it. */
async function rangeOf(chunks: AsyncIterable<Uint8Array>, offset: number, length: number, signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
  const out = new Uint8Array(length);
  let at = 0;
  let filled = 0;
  for await (const chunk of chunks) {
    if (signal?.aborted === true) {
      return undefined;
    }
    const from = Math.max(0, offset + filled - at);
    if (from < chunk.length) {
      const part = chunk.subarray(from, from + length - filled);
      out.set(part, filled);
      filled += part.length;
      if (filled === length) {
        break;
      }
    }
    at += chunk.length;
  }
  return filled === 0 ? undefined : out.subarray(0, filled);
}
