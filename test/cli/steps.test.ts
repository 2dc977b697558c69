import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AnalyzeReport } from '../../src/protocol/report';
import { cli, temporaryFolder } from './runCli';

describe('a run with several step folders, through the command', () => {
  const folder = temporaryFolder();

  /** `run/step-5/…` and `run/step-9/…` with ranks 0 and 1 each, whose only kernel lasts as many µs as the step's number. */
  function makeRun(): string {
    const run = folder.path('run');
    for (const step of [5, 9]) {
      for (const rank of [0, 1]) {
        const output = path.join(run, `step-${step}`, `rank${rank}_ascend_pt`, 'ASCEND_PROFILER_OUTPUT');
        mkdirSync(output, { recursive: true });
        writeFileSync(path.join(path.dirname(output), `profiler_info_${rank}.json`), JSON.stringify({ rank_id: String(rank) }));
        writeFileSync(path.join(output, 'kernel_details.csv'), `Name,Type,Accelerator Core,Start Time(us),Duration(us)\naclnnAdd,Add,AI_VECTOR_CORE,1757000000000000.125\t,${step}\n`);
      }
    }
    return run;
  }

  it('says of each rank which step folder it lies in', async () => {
    const run = makeRun();
    const { out } = await cli(['analyze', run, '--json']);
    const report = JSON.parse(out) as AnalyzeReport;
    const expected = [[0, 'step-5/rank0_ascend_pt', 5], [1, 'step-5/rank1_ascend_pt', 5], [0, 'step-9/rank0_ascend_pt', 9], [1, 'step-9/rank1_ascend_pt', 9]];
    assert.deepEqual(report.ranks.map(({ rank, label, kernels }) => [rank, label, kernels.totalUs]), expected);
    assert.deepEqual(report.profile.ranks.map(({ rank, label }) => [rank, label]), expected.map(([rank, label]) => [rank, label]));
    const text = (await cli(['analyze', run, '--md'])).out;
    for (const name of ['step-5 · rank 0', 'step-5 · rank 1', 'step-9 · rank 0', 'step-9 · rank 1']) {
      assert.ok(text.includes(`| ${name} |`), name);
    }
  });

  it('needs no such word where there is one', async () => {
    const { out } = await cli(['analyze', folder.path('run', 'step-9'), '--json']);
    assert.deepEqual((JSON.parse(out) as AnalyzeReport).ranks.map(({ label }) => label), ['rank0_ascend_pt', 'rank1_ascend_pt']);
  });
});
