/**
 * Memory and time for a generated trace, plain and gzip: 300 MB by default, `FUSELENS_BENCH_GIGABYTES=2.2` for the full
 * recipe. Peak resident memory is that of a process of its own for each form.
 */
import { spawnSync } from 'node:child_process';
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { loadBundled } from './bundled';
import type * as Subject from './readerModules';
import type { BenchRow } from './main';
import { writeLargeTrace } from './traceFiles';

interface Reading {
  readonly kernels: number;
  readonly linked: number;
  readonly seconds: number;
  readonly peakMegabytes: number;
}

export async function run({ smoke }: { readonly smoke: boolean }): Promise<readonly BenchRow[]> {
  const gigabytes = Number(process.env['FUSELENS_BENCH_GIGABYTES'] ?? '0.3');
  const folder = mkdtempSync(path.join(tmpdir(), 'fuselens-bench-'));
  try {
    const plain = path.join(folder, 'large.pt.trace.json');
    const steps = await writeLargeTrace(plain, smoke ? 3e6 : gigabytes * 1e9);
    const zipped = `${plain}.gz`;
    await pipeline(createReadStream(plain), createGzip({ level: 1 }), createWriteStream(zipped));
    const size = statSync(plain).size / 1e6;
    return [plain, zipped].flatMap(file => {
      const reading = readApart(file);
      if (reading.kernels !== 3 * steps || reading.linked !== 3 * steps) {
        throw new Error(`${file}: ${reading.kernels} kernels, ${reading.linked} linked, not ${3 * steps}`);
      }
      const name = `${size.toFixed(0)} MB trace${file === zipped ? ' as .gz' : ''}, ${reading.kernels} kernels`;
      return [
        { name: `${name}: peak resident memory`, value: reading.peakMegabytes, unit: 'MB', target: 1000, atMost: true },
        { name: `${name}: time`, value: reading.seconds, unit: 's' },
        { name: `${name}: speed`, value: size / reading.seconds, unit: 'MB/s' },
      ];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readApart(file: string): Reading {
  const result = spawnSync(process.execPath, ['--import', 'tsx', __filename, '--read', file], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  return JSON.parse(result.stdout) as Reading;
}

async function readHere(file: string): Promise<void> {
  const { ProblemList, readKinetoTrace, nodeFilePort } = loadBundled('readerModules.ts') as typeof Subject;
  const start = performance.now();
  const rank = await readKinetoTrace({ port: nodeFilePort(), problems: new ProblemList() }, file);
  const seconds = (performance.now() - start) / 1000;
  // Before anything is counted, which takes memory as well.
  const peakMegabytes = process.resourceUsage().maxRSS / 1024;
  const reading: Reading = {
    kernels: rank.deviceEvents.count, linked: rank.deviceEvents.launch.filter(launch => launch >= 0).length, seconds, peakMegabytes,
  };
  console.log(JSON.stringify(reading));
}

const read = process.argv.indexOf('--read');
if (read >= 0) {
  void readHere(process.argv[read + 1]);
}
