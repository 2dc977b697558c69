import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { overview } from '../../../src/engine/analysis/overview';
import { EngineSession } from '../../../src/engine/session';
import { nodeFilePort } from '../../../src/node/filePort';
import { hasSharedData, sharedPath } from '../../sharedData';

/** Ranks of which only the profiler's own sums are left: unknown kernels, never 0. */
describe('ranks without kernels', () => {
  const profile = (): string => sharedPath('ascend', 'msinsight-qwen3-4rank');
  const file = (rank: number, name: string): string => readFileSync(path.join(profile(), `rank_${rank}_ascend_pt`, 'ASCEND_PROFILER_OUTPUT', name), 'utf8');

  describe('of the real four', function () {
    before(function () {
      if (!hasSharedData()) {
        this.skip();
      }
    });

    for (const rank of [1, 3]) {
      it(`rank ${rank} shows what its step table and communication.json say`, async () => {
        const session = new EngineSession({ port: nodeFilePort() });
        await session.call('open', { path: profile() });
        const { data, problems } = await session.rank(`rank_${rank}_ascend_pt`);
        // The oracle: the text of the files, cut at commas, and JSON.parse.
        const [header, row] = file(rank, 'step_trace_time.csv').trim().split(/\r?\n/).map((line) => line.split(','));
        assert.deepEqual(overview(data, { label: '' }).profilerStepTrace, { columns: header, rows: [row] });
        assert.deepEqual([data.device, data.steps.map(({ number }) => String(number))], [row[0], [row[1]]]);
        const steps = JSON.parse(file(rank, 'communication.json')) as Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, { readonly 'Communication Time Info': Readonly<Record<string, number>> }>>>>>>;
        const wanted = Object.entries(steps).flatMap(([step, kinds]) => Object.values(kinds).flatMap((operations) => Object.entries(operations)
          .filter(([key]) => !key.startsWith('Total')).map(([key, { 'Communication Time Info': time }]) => [step, key, time['Elapse Time(ms)'], time['Wait Time(ms)']] as const)));
        const told = overview(data, { label: '' }).profilerCommunication?.rows ?? [];
        assert.ok(wanted.length > 5);
        const keys = (rows: readonly (readonly unknown[])[]): readonly string[] => rows.map((one) => JSON.stringify(one)).sort();
        assert.deepEqual(keys(told.map((one) => [one.step, `${one.name}@${one.group}`, one.elapseMs, one.waitMs])), keys(wanted));
        assert.deepEqual(problems, []);
      });
    }

    it('they are null in the report, and the sums over ranks leave them out', async () => {
      const session = new EngineSession({ port: nodeFilePort() });
      await session.call('open', { path: profile() });
      const report = await session.call('analyze', {});
      assert.deepEqual(report.profile.ranks.map(({ rank, kernels }) => [rank, kernels]), [[0, 2463], [1, null], [2, 2587], [3, null]]);
      assert.deepEqual(report.profile.versions, { torch_npu: '2.7.1', cann: '8.3.RC1' });
      for (const { rank, kernels, lanes, split, steps, families, topKernels, streams } of report.ranks.filter((one) => one.rank === 1 || one.rank === 3)) {
        const figures: readonly unknown[] = [...Object.values<unknown>({ ...kernels }), ...Object.values<unknown>({ ...lanes }), ...Object.values(split).flatMap(({ count, totalUs }) => [count, totalUs]), ...steps.map((step) => step.kernels)];
        assert.deepEqual([...new Set(figures)], [null], `rank ${rank ?? '?'}`);
        assert.deepEqual([families, topKernels, streams], [[], [], []]);
      }
      const missing = report.problems.filter(({ kind }) => kind === 'ascend-rank-without-kernels');
      assert.equal(missing.length, 2);
      missing.forEach(({ message, effect }) => assert.match(`${message} ${effect}`, /kernel_details\.csv.*unknown, not 0/));
    });

    it('tell what lies in their folder: read, passed over, missing', async () => {
      const session = new EngineSession({ port: nodeFilePort() });
      await session.call('open', { path: profile() });
      for (const rank of [0, 1]) {
        const files = await session.call('rankFiles', { rank: `rank_${rank}_ascend_pt` });
        // The oracle: the folder itself.
        const onDisk = ['', 'ASCEND_PROFILER_OUTPUT'].flatMap((folder) => readdirSync(path.join(profile(), `rank_${rank}_ascend_pt`, folder), { withFileTypes: true })
          .filter((entry) => entry.isFile()).map((entry) => path.posix.join(folder, entry.name)));
        const of = (state: string): readonly string[] => files.filter((file) => file.state === state).map(({ name }) => name);
        assert.deepEqual([...of('read'), ...of('unused')].sort(), onDisk.sort());
        assert.deepEqual(of('unused'), ['ASCEND_PROFILER_OUTPUT/analysis.db']);
        assert.deepEqual(of('missing').includes('kernel_details.csv'), rank === 1);
        assert.ok(of('missing').includes('trace_view.json'));
      }
    });

    it('cannot be compared, and say so', async () => {
      const session = new EngineSession({ port: nodeFilePort() });
      await session.call('open', { path: profile() });
      await assert.rejects(session.call('compareDigest', { rank: 'rank_1_ascend_pt' }), /rank-without-kernels/);
    });
  });

  it('a folder whose tables are headers only says nothing and is not read', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'fuselens-sums-'));
    try {
      const output = path.join(folder, 'a_ascend_pt', 'ASCEND_PROFILER_OUTPUT');
      mkdirSync(output, { recursive: true });
      writeFileSync(path.join(output, 'step_trace_time.csv'), 'Device_id,Step,Computing\n');
      writeFileSync(path.join(output, 'communication.json'), '{}');
      const session = new EngineSession({ port: nodeFilePort() });
      const empty = await session.call('open', { path: folder });
      assert.deepEqual([empty.ranks.map(({ readable }) => readable), empty.problems.map(({ kind }) => kind)], [[false], ['ascend-rank-incomplete']]);
      writeFileSync(path.join(output, 'step_trace_time.csv'), 'Device_id,Step,Computing\n3,,12.5\n');
      const some = await session.call('open', { path: folder });
      assert.deepEqual(some.ranks.map(({ readable, withoutKernels }) => [readable, withoutKernels]), [[true, true]]);
      const { data } = await session.rank(some.ranks[0].id);
      assert.deepEqual([data.device, data.steps, data.coverage.kernels], ['3', [], false]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
