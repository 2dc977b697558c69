/**
 * `kernel_details.csv` to columns against papaparse on the same bytes in the same run. The file is a shared real one whose
 * rows are repeated until it is over 100 MB (1 MB for the smoke run).
 */
import { readFileSync } from 'node:fs';
import Papa from 'papaparse';
import type { FilePort } from '../../src/engine/port';
import { ProblemList } from '../../src/engine/profile/problems';
import { StringTable } from '../../src/engine/profile/strings';
import { readKernelTable } from '../../src/engine/readers/ascendKernels';
import { hasSharedData, sharedPath } from '../sharedData';

export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the value is held against; met when at least this much. */
  readonly target?: number;
}

const SOURCES = {
  'Level2, 47 columns (Qwen3)': sharedPath('ascend', 'msinsight-qwen3-4rank', 'rank_0_ascend_pt', 'ASCEND_PROFILER_OUTPUT', 'kernel_details.csv'),
  'Level0, 8 columns (AlexNet)': sharedPath('ascend', 'msinsight-alexnet', 'text', 'level0', 'rank0_ascend_pt', 'ASCEND_PROFILER_OUTPUT', 'kernel_details.csv'),
};

export async function run({ smoke }: { readonly smoke: boolean }): Promise<readonly BenchRow[]> {
  if (!hasSharedData()) {
    return [];
  }
  const rows: BenchRow[] = [];
  for (const [name, file] of Object.entries(SOURCES)) {
    rows.push(...(await compare(name, repeated(readFileSync(file), smoke ? 1e6 : 100e6), smoke ? 1 : 3)));
  }
  return rows;
}

async function compare(name: string, bytes: Buffer, rounds: number): Promise<readonly BenchRow[]> {
  const megabytes = bytes.length / 1e6;
  const ours = await best(rounds + 1, async () => {
    const table = await readKernelTable({ port: memoryPort(bytes), problems: new ProblemList() }, 'kernel_details.csv', new StringTable());
    return table?.events.count ?? 0;
  });
  // As it is used by default: the text decoded, every row an array of strings.
  const papaparse = await best(Math.min(rounds, 2), () => Promise.resolve(Papa.parse<string[]>(bytes.toString('utf8'), { skipEmptyLines: true }).data.length - 1));
  // Rows thrown away as they come, text already decoded, separators given: its fastest, and it leaves nothing behind.
  const text = bytes.toString('latin1');
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const discarding = await best(Math.min(rounds, 2), () => {
    let count = -1;
    Papa.parse<string[]>(text, { delimiter: ',', newline, skipEmptyLines: true, step: () => void count++ });
    return Promise.resolve(count);
  });
  if (ours.result !== papaparse.result || ours.result !== discarding.result) {
    throw new Error(`${name}: ${ours.result} rows, papaparse ${papaparse.result} and ${discarding.result}`);
  }
  return [
    { name: `${name}: CSV to columns`, value: megabytes / ours.seconds, unit: 'MB/s', target: 150 },
    { name: `${name}: papaparse to rows`, value: megabytes / papaparse.seconds, unit: 'MB/s' },
    { name: `${name}: papaparse, rows thrown away`, value: megabytes / discarding.seconds, unit: 'MB/s' },
    { name: `${name}: times papaparse to rows`, value: papaparse.seconds / ours.seconds, unit: '×', target: 3 },
  ];
}

async function best(rounds: number, once: () => Promise<number>): Promise<{ readonly seconds: number; readonly result: number }> {
  let seconds = Infinity;
  let result = 0;
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    result = await once();
    seconds = Math.min(seconds, (performance.now() - start) / 1000);
  }
  return { seconds, result };
}

/** The header once, the rows as often as needed. */
function repeated(file: Buffer, size: number): Buffer {
  const header = file.indexOf(10) + 1;
  const rows = file.subarray(header);
  return Buffer.concat([file.subarray(0, header), ...Array<Buffer>(Math.ceil(size / rows.length)).fill(rows)]);
}

function memoryPort(bytes: Uint8Array): FilePort {
  async function* stream(_path: string, options?: { readonly chunkSize?: number }): AsyncIterable<Uint8Array> {
    const size = options?.chunkSize ?? 1024 * 1024;
    for (let i = 0; i < bytes.length; i += size) {
      yield await Promise.resolve(bytes.subarray(i, i + size));
    }
  }
  return {
    stat: () => Promise.resolve({ kind: 'file', size: bytes.length, mtimeMs: 0 }),
    list: () => Promise.resolve([]),
    read: (_path, offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)),
    stream,
    inflate: (source) => source,
    join: (...parts) => parts.join('/'),
    basename: (path) => path,
    dirname: () => '',
  };
}
