import type { FilePort } from '../port';
import { decodeDetail } from '../readers/traceDetail';
import type { DecodeArgs } from './eventDetail';

const MOST_ARGS = 100;
const VALUE_CHARACTERS = 2000;

/** Recorded arguments as rows of text, in the order of the file. */
export function decodeArgs(port: FilePort): DecodeArgs {
  return async (rank, side, index) => {
    const values = await decodeDetail(port, rank, side, index, port.readSpill === undefined ? {} : { readSpill: (key, offset, length) => Promise.resolve(port.readSpill?.(key, offset, length)) });
    return values === undefined ? undefined : Object.entries(values).slice(0, MOST_ARGS).map(([name, value]) => [name, textOf(value).slice(0, VALUE_CHARACTERS)]);
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'bigint' ? value.toString() : JSON.stringify(value) ?? '';
}
