/**
 * Trace JSON to columns against JSON.parse of the same bytes in the same run; neither sorts or links, and the finished rank stands beside. A
 * large shared trace is repeated until it is over 100 MB (1 MB for the smoke run). Each subject runs in a process of its own,
 * as the reader does in the product; they take turns, and the best of all rounds counts.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundle } from './bundled';
import type { Speeds } from './traceSubject';
import { hasSharedData, sharedPath } from '../sharedData';
import { repeatedTrace } from './traceFiles';
import type { BenchRow } from './main';

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
    const script = path.join(folder, 'subject.cjs');
    bundle('traceSubject.ts', script);
    for (const [name, source] of Object.entries(smoke ? SMALL : SOURCES)) {
      const file = path.join(folder, 'trace.json');
      writeFileSync(file, repeatedTrace(source, smoke ? 1e6 : 101e6));
      rows.push(...measure(name, script, file, smoke ? 1 : 8, smoke ? 1 : 3));
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function measure(name: string, script: string, file: string, rounds: number, turns: number): readonly BenchRow[] {
  const megabytes = statSync(file).size / 1e6;
  const best: Record<string, Speeds> = {};
  for (let turn = 0; turn < turns; turn++) {
    for (const subject of ['columns', 'parse', 'rank', 'scan']) {
      const speeds = JSON.parse(execFileSync(process.execPath, ['--expose-gc', script, subject, file, String(subject === 'parse' ? Math.min(rounds, 3) : rounds)], { encoding: 'utf8' })) as Speeds;
      best[subject] = best[subject] === undefined || speeds.best > best[subject].best ? speeds : best[subject];
    }
  }
  const { columns, parse, rank, scan } = best;
  if (parse.events !== columns.events || parse.events !== rank.events) {
    throw new Error(`${name}: ${columns.events} and ${rank.events} events, JSON.parse ${parse.events}`);
  }
  return [
    { name: `${name}, ${megabytes.toFixed(0)} MB, ${columns.events} events: trace to columns, warm`, value: columns.best, unit: 'MB/s', target: 250 },
    { name: `${name}: trace to columns, first run`, value: columns.first, unit: 'MB/s' },
    { name: `${name}: trace to a finished rank (sorted, linked, with steps)`, value: rank.best, unit: 'MB/s' },
    { name: `${name}: scanner alone`, value: scan.best, unit: 'MB/s' },
    { name: `${name}: JSON.parse`, value: parse.best, unit: 'MB/s' },
    { name: `${name}: times JSON.parse`, value: columns.best / parse.best, unit: '×', target: 2.5 },
  ];
}
