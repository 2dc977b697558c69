/** Members of a tar file by name. A name that stands twice means its last member, as every unpacking tool takes it. */
import type { FilePort } from '../port';
import { tarEntries, type TarItem } from './archiveTar';

/** What a pass over a tar file found out. */
interface TarFacts {
  /** Names that stand more than once → index of the last member of that name, counted from 0 over all members. */
  readonly last: ReadonlyMap<string, number>;
  /** Headers that make no sense; the members behind them are lost. */
  readonly damaged: number;
}

/** By port, then by file as it was: a tar file has no directory, and a second pass over all of it would cost as much as reading it. */
const known = new WeakMap<FilePort, Map<string, TarFacts>>();

/** All members from the front; a whole pass is remembered for `tarFacts`. */
export async function* tarMembers(port: FilePort, path: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarItem, void, undefined> {
  const key = await keyOf(port, path);
  const seen = new Set<string>();
  const last = new Map<string, number>();
  let index = 0;
  let damaged = 0;
  for await (const entry of tarEntries(bytes, () => { damaged++; })) {
    if (seen.has(entry.name)) {
      last.set(entry.name, index);
    }
    seen.add(entry.name);
    index++;
    yield entry;
  }
  const files = known.get(port) ?? new Map<string, TarFacts>();
  known.set(port, files.set(key, { last, damaged }));
}

/** `open` gives the bytes for a first pass, where there was none yet. */
export async function tarFacts(port: FilePort, path: string, open: () => AsyncIterable<Uint8Array>): Promise<TarFacts> {
  const key = await keyOf(port, path);
  const found = known.get(port)?.get(key);
  if (found !== undefined) {
    return found;
  }
  const names = tarMembers(port, path, open());
  while ((await names.next()).done !== true) {
    // Only what stands in the headers is of interest.
  }
  return known.get(port)?.get(key) ?? { last: new Map(), damaged: 0 };
}

async function keyOf(port: FilePort, path: string): Promise<string> {
  const stat = await port.stat(path);
  return `${path}\0${stat?.size ?? 0}\0${stat?.mtimeMs ?? 0}`;
}
