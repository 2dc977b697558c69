/** Ascend ranks of any size for the benches: rows of a shared real kernel table, repeated later in time. */
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sharedPath } from '../sharedData';

const SOURCE = ['ascend', 'msinsight-qwen3-4rank', 'rank_0_ascend_pt', 'ASCEND_PROFILER_OUTPUT', 'kernel_details.csv'] as const;
const START = /(?<=,)(\d{16})\.(\d{3})(?=\t?,)/;

/** Writes a rank's folder with `kernels` rows in its kernel table; returns the table's bytes. */
export async function writeAscendRank(folder: string, rank: number, kernels: number): Promise<number> {
  const output = path.join(folder, 'ASCEND_PROFILER_OUTPUT');
  mkdirSync(output, { recursive: true });
  writeFileSync(path.join(folder, `profiler_info_${rank}.json`), JSON.stringify({ config: {}, rank_id: rank, start_info: {}, end_info: {} }));
  const [header, ...lines] = readFileSync(sharedPath(...SOURCE), 'latin1').trimEnd().split('\n');
  const rows = lines.map((line) => {
    const found = START.exec(line);
    if (found === null) {
      throw new Error(`no start time in: ${line.slice(0, 200)}`);
    }
    return { before: line.slice(0, found.index), start: BigInt(found[1]) * 1000n + BigInt(found[2]), after: line.slice(found.index + found[0].length) };
  });
  const span = rows[rows.length - 1].start - rows[0].start + 1_000_000n;
  const out = createWriteStream(path.join(output, 'kernel_details.csv'));
  let bytes = 0;
  const write = async (text: string): Promise<void> => {
    bytes += text.length;
    if (!out.write(text, 'latin1')) {
      await once(out, 'drain');
    }
  };
  await write(`${header}\n`);
  for (let done = 0; done < kernels; done += rows.length) {
    const shift = span * BigInt(done / rows.length);
    await write(rows.slice(0, kernels - done).map(({ before, start, after }) => {
      const digits = (start + shift).toString();
      return `${before}${digits.slice(0, -3)}.${digits.slice(-3)}${after}\n`;
    }).join(''));
  }
  out.end();
  await once(out, 'finish');
  return bytes;
}
