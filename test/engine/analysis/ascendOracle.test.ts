import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import Papa from 'papaparse';
import { rankReport } from '../../../src/engine/analysis/rankReport';
import { profilerStepTrace } from '../../../src/engine/analysis/overview';
import { detectProfile } from '../../../src/engine/detect';
import type { RankData } from '../../../src/engine/profile/columns';
import { ProblemList } from '../../../src/engine/profile/problems';
import { nodeFilePort } from '../../../src/node/filePort';
import type { KernelFigures, LaneFigures } from '../../../src/protocol/report';
import { hasSharedData, sharedPath } from '../../sharedData';

/** The same figures from the text of kernel_details.csv, with integers of any size and the simplest code that can be right. */
interface Row { readonly step: string; readonly communication: boolean; readonly start: bigint; readonly duration: bigint }

function rowsOf(csv: string): readonly Row[] {
  const parsed = Papa.parse<Readonly<Record<string, string>>>(readFileSync(csv, 'utf8').replace(/^\uFEFF/, ''), { header: true, skipEmptyLines: true });
  return parsed.data.map((row) => ({
    step: row['Step Id'] ?? '',
    communication: /^hcom_/i.test(row.Name) || row['Accelerator Core'] === 'HCCL' || row['Accelerator Core'] === 'COMMUNICATION',
    start: nanoseconds(row['Start Time(us)']), duration: nanoseconds(row['Duration(us)']),
  }));
}

function nanoseconds(cell: string): bigint {
  const [whole, fraction = ''] = cell.trim().replaceAll('"', '').trim().split('.');
  return BigInt(whole) * 1000n + BigInt(fraction.padEnd(4, '0').slice(0, 3)) + (fraction.padEnd(4, '0')[3] >= '5' ? 1n : 0n);
}

type Interval = readonly [bigint, bigint];

function union(rows: readonly Row[]): readonly Interval[] {
  const merged: [bigint, bigint][] = [];
  for (const { start, duration } of [...rows].sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0))) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last[1]) {
      last[1] = last[1] > start + duration ? last[1] : start + duration;
    } else {
      merged.push([start, start + duration]);
    }
  }
  return merged;
}

const length = (intervals: readonly Interval[]): bigint => intervals.reduce((sum, [start, end]) => sum + end - start, 0n);
const microseconds = (ns: bigint): number => Number(ns) / 1000;

/** Inclusion and exclusion instead of an intersection: |A ∩ B| = |A| + |B| − |A ∪ B|. */
function expected(rows: readonly Row[]): Partial<KernelFigures & LaneFigures> {
  const compute = length(union(rows.filter(({ communication }) => !communication)));
  const communication = length(union(rows.filter((row) => row.communication)));
  const both = length(union(rows));
  const first = rows.reduce((least, { start }) => (start < least ? start : least), rows[0].start);
  const last = rows.reduce((most, { start, duration }) => (start + duration > most ? start + duration : most), 0n);
  const durations = rows.map(({ duration }) => Number(duration)).sort((a, b) => a - b);
  return {
    count: rows.length, timedCount: rows.length, totalUs: microseconds(rows.reduce((sum, { duration }) => sum + duration, 0n)),
    spanUs: microseconds(last - first), busyUs: microseconds(both), idleUs: microseconds(last - first - both),
    computeBusyUs: microseconds(compute), communicationBusyUs: microseconds(communication), overlappedUs: microseconds(compute + communication - both),
    exposedCommunicationUs: microseconds(both - compute), computeIdleUs: microseconds(last - first - compute),
    p50Us: durations[Math.ceil(durations.length / 2) - 1] / 1000, minUs: durations[0] / 1000, maxUs: durations[durations.length - 1] / 1000,
  };
}

async function ranksOf(profile: string): Promise<readonly { readonly folder: string; readonly data: RankData }[]> {
  const port = nodeFilePort();
  const { sources } = await detectProfile(port, profile, { prefer: 'text' });
  const ranks = [];
  for (const { path: folder, read } of sources) {
    if (read !== undefined) {
      ranks.push({ folder, data: await read({ port, problems: new ProblemList() }) });
    }
  }
  return ranks;
}

function kernelTable(folder: string): string | undefined {
  return [path.join(folder, 'ASCEND_PROFILER_OUTPUT', 'kernel_details.csv'), path.join(folder, 'kernel_details.csv'), folder].find((file) => file.endsWith('.csv') && existsSync(file));
}

const SETS = ['msinsight-qwen3-4rank', 'msinsight-alexnet/text/level0', 'msinsight-alexnet/text/level1', 'msinsight-alexnet/text/level2', 'msinsight-gpt3-2023',
  'msprof-analyze/kernel_details_2023_arithmetic.csv', 'msprof-analyze/kernel_details_2025_pipe_quoted_tab.csv'];
/** Rows of these were cut out after step_trace_time.csv was made. */
const TRIMMED = 'msinsight-gpt3-2023';

describe('figures of the Ascend sets', () => {
  if (!hasSharedData()) {
    it.skip('need ../shared/data');
    return;
  }
  for (const set of SETS) {
    it(`equal integer arithmetic on the text of kernel_details.csv: ${set}`, async () => {
      let checked = 0;
      for (const { folder, data } of await ranksOf(sharedPath('ascend', set))) {
        const csv = kernelTable(folder);
        if (csv === undefined) {
          continue;
        }
        const rows = rowsOf(csv);
        const hold = (step: number | undefined, wanted: readonly Row[]): void => {
          const { kernels, lanes } = rankReport(data, { label: '', ...(step === undefined ? {} : { step }) });
          const actual: Readonly<Record<string, number | null>> = { ...kernels, ...lanes };
          for (const [name, value] of Object.entries(expected(wanted))) {
            assert.equal(actual[name], value, `${folder} step ${step}: ${name}`);
          }
          checked++;
        };
        hold(undefined, rows);
        data.steps.forEach((step, index) => {
          if (step.source === 'profiler') {
            hold(index, rows.filter((row) => row.step === String(step.number)));
          }
        });
      }
      assert.ok(checked > 0, 'nothing was compared');
    });
  }

  for (const set of SETS.filter((name) => !name.endsWith('.csv') && name !== TRIMMED)) {
    it(`agree with the profiler's step_trace_time up to its rounding, copies apart: ${set}`, async () => {
      let checked = 0;
      for (const { folder, data } of await ranksOf(sharedPath('ascend', set))) {
        for (const [index, step] of data.steps.entries()) {
          const table = profilerStepTrace(data, step.number);
          if (table === null || kernelTable(folder) === undefined || step.number === undefined) {
            continue;
          }
          assert.equal(table.rows.length, 1, folder);
          const cell = (name: string): number => Number(table.rows[0][table.columns.indexOf(name)]);
          const { lanes, kernels } = rankReport(data, { label: '', step: index });
          const close = (ours: number | null, theirs: number, tolerance: number, what: string): void =>
            assert.ok(ours !== null && Math.abs(ours - theirs) <= tolerance, `${folder} ${what}: ${ours} and ${theirs}`);
          close(lanes.computeBusyUs, cell('Computing'), 0.03, 'Computing');
          close(lanes.communicationBusyUs, cell('Communication'), 0.03, 'Communication');
          close(lanes.exposedCommunicationUs, cell('Communication(Not Overlapped)'), 0.02, 'Communication(Not Overlapped)');
          close(lanes.overlappedUs, cell('Overlapped'), 0.02, 'Overlapped');
          close((lanes.freeUs ?? NaN) + (lanes.exposedCopyUs ?? 0), cell('Free'), 0.03, 'Free');
          close(kernels.spanUs, cell('Stage') + cell('Bubble'), 0.25, 'Stage');
          const { leadInUs } = rankReport(data, { label: '', step: index }).steps[0];
          if (leadInUs !== null && leadInUs !== undefined && table.columns.includes('Preparing')) {
            close(leadInUs, cell('Preparing'), 0.5, 'Preparing');
          }
          checked++;
        }
      }
      assert.ok(checked > 0, 'nothing was compared');
    });
  }
});
