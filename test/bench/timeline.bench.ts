/**
 * The Timeline at 1,000,000 kernels in headless Chromium: what a frame costs while zooming and panning, what a window
 * request costs, and the same with 150 ms between the view and its engine, where no frame may be blank.
 */
import { performance } from 'node:perf_hooks';
import type { RankData } from '../../src/engine/profile/columns';
import { timelineLayout } from '../../src/engine/timeline/layout';
import { timelinePyramid } from '../../src/engine/timeline/pyramid';
import { timelineWindow } from '../../src/engine/timeline/window';
import { largeRank } from '../engine/timeline/generatedRank';
import { canRun, startHarness, subjectOf, type Motion } from '../webview/harness';
import type { BenchRow } from './main';

const SCREEN = 1400;

export async function run({ smoke }: { readonly smoke: boolean }): Promise<readonly BenchRow[]> {
  const kernels = smoke ? 20_000 : 1_000_000;
  const rank = largeRank(kernels);
  const rows: BenchRow[] = [...measureEngine(rank, smoke)];
  if (!canRun()) {
    console.log('  no Chromium: set CHROMIUM to a browser, or apt-get install chromium; frame times left out');
    return rows;
  }
  const harness = await startHarness(subjectOf(rank));
  try {
    for (const latency of [0, 150]) {
      const page = await harness.open({ latency, width: SCREEN, height: 900 });
      await page.waitForSelector('.lanes-canvas', { timeout: 60_000 });
      await page.waitForTimeout(smoke ? 500 : 2500);
      const label = latency === 0 ? 'locally' : `with ${latency} ms of round trip`;
      await page.evaluate(`harness.move(${smoke ? 30 : 120})`);
      const { script, interval, requests } = await page.evaluate<Motion>(`harness.move(${smoke ? 60 : 400})`);
      const frames = smoke ? 20 : 150;
      const blank = await page.evaluate<number>(`harness.countBlank(${frames})`);
      rows.push(
        { name: `frame while zooming and panning, script, p95, ${label}`, value: quantile(script, 0.95), unit: 'ms', target: 16, atMost: true },
        { name: `frame to frame, p95, ${label}`, value: quantile(interval, 0.95), unit: 'ms' },
        { name: `blank frames of ${frames}, ${label}`, value: blank, unit: '', target: 0, atMost: true },
        { name: `window requests while moving, ${label}`, value: requests, unit: '' },
      );
      await page.close();
    }
  } finally {
    await harness.close();
  }
  return rows;
}

function measureEngine(rank: RankData, smoke: boolean): readonly BenchRow[] {
  const before = performance.now();
  const layout = timelineLayout(rank, undefined);
  const layoutMs = performance.now() - before;
  const pyramidStart = performance.now();
  timelinePyramid(rank);
  const pyramidMs = performance.now() - pyramidStart;
  const lanes = layout.lanes.map(({ id, rows }) => ({ id, from: 0, to: rows }));
  const ask = (zoom: number, at: number): number => {
    const width = (layout.spanNs / zoom) * (zoom > 1 ? Math.min(3, zoom) : 1);
    const startNs = layout.originNs + at * (layout.spanNs - width);
    const start = performance.now();
    timelineWindow(rank, { rank: '', requestId: 0, lanes, startNs, endNs: startNs + width, pixels: SCREEN * Math.min(3, zoom) });
    return performance.now() - start;
  };
  const first = ask(1, 0);
  const times: number[] = [];
  for (let round = 0; round < (smoke ? 1 : 4); round++) {
    for (let zoom = 1; zoom < 1e6; zoom *= 1.7) {
      // Best of three: what the request costs, not what else the machine was doing.
      const at = (round * 0.27 + zoom * 0.013) % 1;
      times.push(Math.min(ask(zoom, at), ask(zoom, at), ask(zoom, at)));
    }
  }
  return [
    { name: 'layout and index, once a rank', value: layoutMs, unit: 'ms' },
    { name: 'pyramid', value: pyramidMs, unit: 'ms' },
    { name: 'first window (coarse levels are built)', value: first, unit: 'ms' },
    { name: 'window request, p95 over all zooms, best of three each', value: quantile(times, 0.95), unit: 'ms', target: 30, atMost: true },
    { name: 'window request, median', value: quantile(times, 0.5), unit: 'ms' },
  ];
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? 0 : sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}
