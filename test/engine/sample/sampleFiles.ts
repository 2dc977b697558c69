import { createHash } from 'node:crypto';
import type { SampleOptions, SampleWriter } from '../../../src/engine/sample/writeSample';
import { writeSample } from '../../../src/engine/sample/writeSample';

/** What one call wrote: folders, a hash per file, and the text of the files a test wants to read. */
export interface WrittenSample {
  readonly folders: readonly string[];
  readonly hashes: ReadonlyMap<string, string>;
  readonly bytes: number;
  /** Whole text of kept files. */
  readonly texts: ReadonlyMap<string, string>;
  /** The first 30 lines of every kernel_details.csv. */
  readonly heads: ReadonlyMap<string, string>;
}

/** Writes into memory; keeps the text of the first rank of each run and of everything outside rank folders. */
export async function writeToMemory(options: Partial<SampleOptions> = {}): Promise<WrittenSample> {
  const folders: string[] = [];
  const hashes = new Map<string, string>();
  const texts = new Map<string, string>();
  const heads = new Map<string, string>();
  let bytes = 0;
  const writer: SampleWriter = {
    mkdir: async (folder) => { folders.push(folder); },
    write: async (file, chunks) => {
      const hash = createHash('sha256');
      const keep = !file.includes('_ascend_pt/') || file.includes('_40960_');
      const kept: string[] = [];
      let first = '';
      for (const chunk of chunks) {
        hash.update(chunk);
        bytes += Buffer.byteLength(chunk);
        first = first === '' ? chunk : first;
        if (keep) {
          kept.push(chunk);
        }
      }
      if (file.endsWith('kernel_details.csv')) {
        heads.set(file, first.split('\n').slice(0, 30).join('\n'));
      }
      if (keep) {
        texts.set(file, kept.join(''));
      }
      hashes.set(file, hash.digest('hex'));
    },
    join: (...parts) => parts.join('/'),
  };
  await writeSample(writer, { folder: 'sample', ...options });
  return { folders, hashes, bytes, texts, heads };
}

let whole: Promise<WrittenSample> | undefined;

/** All 16 ranks, written once for the whole test run. */
export function wholeSample(): Promise<WrittenSample> {
  whole ??= writeToMemory();
  return whole;
}

export type RunName = 'baseline' | 'optimized';

/** Text of a file of rank 0, by its name. */
export async function rank0Text(run: RunName, name: string): Promise<string> {
  for (const [file, text] of (await wholeSample()).texts) {
    if (file.startsWith(`sample/${run}/`) && file.endsWith(`/${name}`)) {
      return text;
    }
  }
  throw new Error(`${run}: ${name} was not written`);
}
