/**
 * Second open against first, both warm (best of several in one process, the file cached by the system), so that only the
 * reading differs and not the JIT or the disk.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { directEngine } from '../../src/node/directEngine';
import { engineEnvironment } from '../../src/node/environment';
import { hasSharedData, sharedPath } from '../sharedData';
import type { BenchRow } from './main';
import { writeAscendRank } from './rankFiles';

export async function run({ smoke }: { readonly smoke: boolean }): Promise<readonly BenchRow[]> {
  if (!hasSharedData()) {
    return [];
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'fuselens-cache-bench-'));
  try {
    const kernels = smoke ? 2_000 : 200_000;
    const generated = path.join(folder, 'rank_0_ascend_pt');
    await writeAscendRank(generated, 0, kernels);
    const profiles: readonly (readonly [string, string])[] = [
      [`Ascend text, ${kernels} kernels`, generated],
      ['Ascend text with trace (AlexNet level 2)', sharedPath('ascend', 'msinsight-alexnet', 'text', 'level2', 'rank0_ascend_pt')],
      ['Ascend database (AlexNet level 2)', sharedPath('ascend', 'msinsight-alexnet', 'db', 'level2', 'rank0_ascend_pt')],
      ['Kineto trace (16 ranks, A100)', sharedPath('kineto', 'cuda-a100-16rank-r0')],
      ['Kineto trace (MI300X, SD 3.5)', sharedPath('kineto', 'rocm-mi300-sd35-big')],
    ];
    const rows: BenchRow[] = [];
    for (const [name, profile] of profiles) {
      rows.push(...(await compare(name, profile, path.join(folder, `cache ${rows.length}`), smoke ? 1 : 4)));
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function compare(name: string, profile: string, cacheFolder: string, rounds: number): Promise<readonly BenchRow[]> {
  const first = await bestLoad(profile, undefined, rounds);
  await bestLoad(profile, cacheFolder, 1);
  // It is short, so more rounds find its best more surely.
  const second = await bestLoad(profile, cacheFolder, rounds * 3);
  if (first.kernels !== second.kernels) {
    throw new Error(`${name}: ${first.kernels} kernels first, ${second.kernels} from the cache`);
  }
  const cached = readdirSync(cacheFolder).filter((file) => file.endsWith('.columns')).reduce((sum, file) => sum + statSync(path.join(cacheFolder, file)).size, 0);
  return [
    { name: `${name}: first open`, value: first.milliseconds, unit: 'ms' },
    { name: `${name}: second open (${(cached / 1e6).toFixed(1)} MB cached)`, value: second.milliseconds, unit: 'ms' },
    { name: `${name}: times faster`, value: first.milliseconds / second.milliseconds, unit: '×', target: 5 },
  ];
}

async function bestLoad(profile: string, cacheFolder: string | undefined, rounds: number): Promise<{ readonly milliseconds: number; readonly kernels: number }> {
  let milliseconds = Infinity;
  let kernels = 0;
  for (let round = 0; round < rounds; round++) {
    const engine = directEngine(engineEnvironment(cacheFolder === undefined ? {} : { cacheFolder }));
    const { ranks } = await engine.call('open', { path: profile });
    const rank = ranks.find(({ readable }) => readable);
    if (rank === undefined) {
      throw new Error(`${profile}: no rank to read`);
    }
    const start = performance.now();
    kernels = (await engine.call('load', { rank: rank.id })).loaded?.kernels ?? 0;
    milliseconds = Math.min(milliseconds, performance.now() - start);
    await engine.dispose();
  }
  return { milliseconds, kernels };
}
