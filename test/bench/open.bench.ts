/**
 * Opening ranks as the product does, each measurement in a process of its own: a rank of 1,000,000 kernels (time, memory
 * after loading), 16 ranks of 20,000 kernels to their overviews, and how long a cancel takes to be answered and obeyed.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { directEngine } from '../../src/node/directEngine';
import { startEngine } from '../../src/node/engineClient';
import { engineEnvironment } from '../../src/node/environment';
import { buildWorker } from '../node/buildWorker';
import { hasSharedData } from '../sharedData';
import type { BenchRow } from './main';
import { writeAscendRank } from './rankFiles';

/** What a kernel may take after loading, names aside. */
const BYTES_A_KERNEL = 64;

interface Measured {
  readonly seconds: number;
  /** Of all threads: what a busy machine cannot inflate. */
  readonly processorSeconds: number;
  readonly kernels: number;
  readonly bufferBytes: number;
  readonly peakMegabytes: number;
}

export async function run({ smoke }: { readonly smoke: boolean }): Promise<readonly BenchRow[]> {
  if (!hasSharedData()) {
    return [];
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'fuselens-open-bench-'));
  try {
    const [large, many] = smoke ? [5_000, 500] : [1_000_000, 20_000];
    const one = path.join(folder, 'large');
    const bytes = await writeAscendRank(path.join(one, 'rank_0_ascend_pt'), 0, large);
    const sixteen = path.join(folder, 'sixteen');
    for (let rank = 0; rank < 16; rank++) {
      await writeAscendRank(path.join(sixteen, `rank_${rank}_ascend_pt`), rank, many);
    }
    const opened = measureApart('load', one);
    check(opened.kernels, large);
    const overviews = measureApart('overviews', sixteen);
    check(overviews.kernels, many * 16);
    return [
      { name: `${large} kernels (${(bytes / 1e6).toFixed(0)} MB): opened`, value: opened.seconds, unit: 's', target: 3, atMost: true },
      { name: `${large} kernels: processor time`, value: opened.processorSeconds, unit: 's' },
      { name: `${large} kernels: bytes a kernel after loading`, value: opened.bufferBytes / opened.kernels, unit: 'B', target: BYTES_A_KERNEL, atMost: true },
      { name: `${large} kernels: peak resident memory`, value: opened.peakMegabytes, unit: 'MB' },
      { name: `16 ranks of ${many} kernels: all overviews`, value: overviews.seconds, unit: 's', target: 3, atMost: true },
      { name: `16 ranks of ${many} kernels: processor time`, value: overviews.processorSeconds, unit: 's' },
      ...(await cancels(one)),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function check(actual: number, expected: number): void {
  if (actual !== expected) {
    throw new Error(`${actual} kernels, not ${expected}`);
  }
}

/** From the click to the caller's answer, and to the engine having stopped (it answers something else). */
async function cancels(profile: string): Promise<readonly BenchRow[]> {
  const script = await buildWorker(path.resolve(__dirname, '../../src/node/workerMain.ts'));
  const rows: BenchRow[] = [];
  for (const home of ['thread', 'process'] as const) {
    const engine = startEngine({ script, home });
    const { ranks } = await engine.call('open', { path: profile });
    const controller = new AbortController();
    // Cancelled in the middle: at the first progress past a tenth, else it is over before.
    const load = engine.call('load', { rank: ranks[0].id }, {
      signal: controller.signal,
      progress: ({ bytes, totalBytes }) => {
        if (bytes > totalBytes / 10) {
          controller.abort();
        }
      },
    });
    let clicked = 0;
    controller.signal.addEventListener('abort', () => {
      clicked = performance.now();
    });
    const cancelled = await load.then(() => false, () => true);
    if (cancelled) {
      const answered = performance.now() - clicked;
      await engine.call('release', { rank: ranks[0].id });
      rows.push(
        { name: `cancel answered (${home})`, value: answered, unit: 'ms', target: 100, atMost: true },
        { name: `cancel obeyed (${home})`, value: performance.now() - clicked, unit: 'ms', target: 100, atMost: true },
      );
    }
    await engine.dispose();
  }
  rmSync(path.dirname(script), { recursive: true });
  return rows;
}

function measureApart(what: 'load' | 'overviews', profile: string): Measured {
  const result = spawnSync(process.execPath, ['--expose-gc', '--import', 'tsx', __filename, `--${what}`, profile], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  return JSON.parse(result.stdout) as Measured;
}

async function measureHere(what: 'load' | 'overviews', profile: string): Promise<void> {
  const engine = directEngine(engineEnvironment({}));
  (globalThis as { gc?: () => void }).gc?.();
  const before = process.memoryUsage().arrayBuffers;
  const start = performance.now();
  const processor = process.cpuUsage();
  const { ranks } = await engine.call('open', { path: profile });
  let kernels = 0;
  for (const { id } of ranks) {
    if (what === 'load') {
      kernels += (await engine.call('load', { rank: id })).loaded?.kernels ?? 0;
    } else {
      kernels += (await engine.call('overview', { rank: id })).report.kernels.count ?? 0;
    }
  }
  const seconds = (performance.now() - start) / 1000;
  const used = process.cpuUsage(processor);
  // Buffers are given back by a sweeper that runs behind the collection.
  for (let i = 0; i < 3; i++) {
    (globalThis as { gc?: () => void }).gc?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const measured: Measured = { seconds, processorSeconds: (used.user + used.system) / 1e6, kernels, bufferBytes: process.memoryUsage().arrayBuffers - before, peakMegabytes: process.resourceUsage().maxRSS / 1024 };
  console.log(JSON.stringify(measured));
}

for (const what of ['load', 'overviews'] as const) {
  const at = process.argv.indexOf(`--${what}`);
  if (at >= 0) {
    void measureHere(what, process.argv[at + 1]);
  }
}
