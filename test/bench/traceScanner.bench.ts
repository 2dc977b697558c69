/**
 * Trace JSON to columns (file to RankData: links, steps and all) against JSON.parse of the same bytes in the same run. A
 * large shared trace is repeated until it is over 100 MB (1 MB for the smoke run). Rounds alternate and the best counts.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadBundled } from './bundled';
import type * as Subject from './traceSubject';
import { hasSharedData, sharedPath } from '../sharedData';
import { repeatedTrace } from './traceFiles';
import type { BenchRow } from './main';

const { ProblemList, readKinetoTrace, TraceScanner, nodeFilePort } = loadBundled('traceSubject.ts') as typeof Subject;

const SOURCES = {
  'MI300X with Python stacks': sharedPath('kineto', 'rocm-mi300-sd35-big', 'profile_trace_rank_0.json.gz'),
  'A100, rank of 16': sharedPath('kineto', 'cuda-a100-16rank-r0', 'rank0.json.gz'),
};

/** For the smoke run. */
const SMALL = { 'V100, one step': sharedPath('kineto', 'cuda-v100-dlrm-8rank', 'ranks', 'worker0_step_12.1694128201545.pt.trace.json.gz') };

export async function run({ smoke }: { readonly smoke: boolean }): Promise<readonly BenchRow[]> {
  if (!hasSharedData()) {
    return [];
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'fuselens-bench-'));
  try {
    const rows: BenchRow[] = [];
    for (const [name, source] of Object.entries(smoke ? SMALL : SOURCES)) {
      rows.push(...(await measure(name, repeatedTrace(source, smoke ? 1e6 : 101e6), path.join(folder, 'trace.json'), smoke ? 1 : 6)));
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measure(name: string, bytes: Buffer, file: string, rounds: number): Promise<readonly BenchRow[]> {
  writeFileSync(file, bytes);
  const megabytes = bytes.length / 1e6;
  const port = nodeFilePort();
  const best = { columns: 0, scan: 0, parse: 0 };
  let cold = 0;
  let events = 0;
  let parsed = 0;
  for (let round = 0; round < rounds; round++) {
    const columns = await speed(megabytes, async () => {
      const rank = await readKinetoTrace({ port, problems: new ProblemList() }, file);
      events = Number(rank.facts['events']);
    });
    cold ||= columns;
    best.columns = Math.max(best.columns, columns);
    best.scan = Math.max(best.scan, await speed(megabytes, () => scanOnly(bytes)));
    if (round % 2 === 0) {
      best.parse = Math.max(best.parse, await speed(megabytes, () => {
        parsed = (JSON.parse(bytes.toString('utf8')) as { traceEvents: unknown[] }).traceEvents.length;
      }));
    }
  }
  if (parsed !== events) {
    throw new Error(`${name}: ${events} events, JSON.parse ${parsed}`);
  }
  return [
    { name: `${name}, ${megabytes.toFixed(0)} MB, ${events} events: trace to columns, warm`, value: best.columns, unit: 'MB/s', target: 250 },
    { name: `${name}: trace to columns, first run`, value: cold, unit: 'MB/s' },
    { name: `${name}: scanner alone`, value: best.scan, unit: 'MB/s' },
    { name: `${name}: JSON.parse`, value: best.parse, unit: 'MB/s' },
    { name: `${name}: times JSON.parse`, value: best.columns / best.parse, unit: '×', target: 2.5 },
  ];
}

function scanOnly(bytes: Uint8Array): number {
  let events = 0;
  const scanner = new TraceScanner({ event: () => void events++ });
  for (let at = 0; at < bytes.length; at += 1 << 20) {
    scanner.push(bytes.subarray(at, at + (1 << 20)));
  }
  scanner.finish();
  return events;
}

async function speed(megabytes: number, work: () => unknown): Promise<number> {
  (globalThis as { gc?: () => void }).gc?.();
  const start = performance.now();
  await work();
  return megabytes / ((performance.now() - start) / 1000);
}
