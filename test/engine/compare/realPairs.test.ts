import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Papa from 'papaparse';
import { EngineSession } from '../../../src/engine/session';
import { engineEnvironment } from '../../../src/node/environment';
import type { CompareReport, CompareSide, RankDigest } from '../../../src/protocol/compare';
import { cli } from '../../cli/runCli';
import { hasSharedData, sharedPath } from '../../sharedData';

async function sideAt(file: string): Promise<CompareSide> {
  const session = new EngineSession(engineEnvironment({}));
  const { name, ranks } = await session.call('open', { path: file });
  const digests: RankDigest[] = [];
  for (const rank of ranks.filter(({ readable }) => readable)) {
    digests.push(await session.call('compareDigest', { rank: rank.id }));
  }
  return { name, runs: [digests] };
}

async function compare(base: string, candidate: string): Promise<CompareReport> {
  const session = new EngineSession(engineEnvironment({}));
  return session.call('compareDigests', { base: await sideAt(base), candidate: await sideAt(candidate) });
}

const near = (actual: number, expected: number, what: string): void => assert.ok(Math.abs(actual - expected) <= 1e-6 * Math.max(1, Math.abs(expected)), `${what}: ${actual} instead of ${expected}`);
const total = (rows: CompareReport['tables']['kernels'], side: 'base' | 'candidate'): number => rows.reduce((sum, row) => sum + (row[side]?.totalUs ?? 0), 0);

describe('comparing real profiles', () => {
  if (!hasSharedData()) {
    it.skip('needs ../shared/data');
    return;
  }

  /** Kernel tables of both ranks of a level, read by papaparse and summed by name: the median of two is their mean. */
  function oracle(level: string): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const rank of [0, 1]) {
      const file = readdirSync(sharedPath('ascend', 'msinsight-alexnet', 'text', level, `rank${rank}_ascend_pt`), { recursive: true }).map(String).find((name) => name.endsWith('kernel_details.csv'));
      assert.ok(file !== undefined);
      const { data } = Papa.parse<Readonly<Record<string, string>>>(readFileSync(sharedPath('ascend', 'msinsight-alexnet', 'text', level, `rank${rank}_ascend_pt`, file), 'utf8').replace(/^\ufeff/, ''), { header: true, skipEmptyLines: true });
      for (const row of data) {
        const name = row['Name'].startsWith('hcom_') ? (row['Type'] === 'N/A' ? row['Name'].replace(/_{1,2}\d+(_\d+)*$/, '') : row['Type']) : row['Name'];
        sums.set(name.trim(), (sums.get(name.trim()) ?? 0) + Number(row['Duration(us)']) / 2);
      }
    }
    return sums;
  }

  it('two levels of AlexNet: every kernel as its tables say, and no verdict across levels', async () => {
    const root = sharedPath('ascend', 'msinsight-alexnet', 'text');
    const report = await compare(path.join(root, 'level1'), path.join(root, 'level2'));
    assert.equal(report.verdict.kind, 'notComparable');
    assert.deepEqual(report.verdict.reasons.map(({ code }) => code), ['compare.check.level.differs']);
    const [before, after] = [oracle('level1'), oracle('level2')];
    assert.equal(report.tables.kernels.length, new Set([...before.keys(), ...after.keys()]).size);
    for (const row of report.tables.kernels) {
      near(row.base?.totalUs ?? 0, before.get(row.key) ?? 0, `${row.key} at level 1`);
      near(row.candidate?.totalUs ?? 0, after.get(row.key) ?? 0, `${row.key} at level 2`);
      assert.ok(row.status !== 'faster' && row.status !== 'slower');
    }
    assert.ok(report.memory.base !== null && report.figures.some(({ id }) => id === 'peakReservedBytes'));
  });

  it('Level0 of AlexNet, without types and shapes, pairs its kernels by name all the same', async () => {
    const root = sharedPath('ascend', 'msinsight-alexnet', 'text');
    const report = await compare(path.join(root, 'level0'), path.join(root, 'level1'));
    assert.equal(report.verdict.kind, 'notComparable');
    const unpaired = report.tables.kernels.filter(({ status }) => status === 'gone' || status === 'new');
    assert.ok(unpaired.length <= 2, unpaired.map(({ key }) => key).join(', '));
  });

  it('ResNet50 workers 0 and 4: other ranks of one job, six steps each, judged with noise', async () => {
    const report = await compare(sharedPath('kineto', 'old-2021-06-resnet50-w0'), sharedPath('kineto', 'old-2021-06-resnet50-w4'));
    assert.deepEqual([report.base.samples, report.candidate.samples], [6, 6]);
    assert.equal(report.checks.find(({ id }) => id === 'model')?.outcome, 'same');
    assert.equal(report.checks.find(({ id }) => id === 'batch')?.outcome, 'same');
    assert.notEqual(report.verdict.kind, 'notComparable');
    assert.ok((report.verdict.noiseUs ?? 0) > 0);
    assert.ok(report.tables.kernels.length > 20);
    for (const row of report.tables.kernels) {
      const judged = row.base !== null && row.candidate !== null;
      assert.equal(judged ? 'judged' : row.base === null ? 'new' : 'gone', row.status === 'new' || row.status === 'gone' ? row.status : 'judged');
      if (row.status === 'faster' || row.status === 'slower') {
        assert.ok(Math.abs(row.differenceUs ?? 0) > (row.noiseUs ?? Infinity), row.key);
      }
    }
  });

  it('Qwen3-0.6B is not the sample\'s model, though it shares a third of its operands; the sample\'s two runs have one model', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'fuselens-pairs-'));
    try {
      assert.equal((await cli(['sample', folder])).code, 0);
      const model = async (base: string, candidate: string): Promise<unknown> => {
        const found = (await compare(base, candidate)).checks.find(({ id }) => id === 'model');
        return [found?.outcome, found?.code];
      };
      const [baseline, optimized, qwen] = [path.join(folder, 'baseline'), path.join(folder, 'optimized'), sharedPath('ascend', 'msinsight-qwen3-4rank', 'rank_0_ascend_pt')];
      assert.deepEqual(await model(baseline, optimized), ['same', 'compare.check.model.same']);
      assert.deepEqual(await model(baseline, qwen), ['blocks', 'compare.check.model.weights-differ']);
      assert.deepEqual(await model(qwen, optimized), ['blocks', 'compare.check.model.weights-differ']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('Qwen on H100 and MI300: by operator and chain, not by kernel name, and said to be so', async () => {
    const [cuda, rocm] = [sharedPath('kineto', 'cuda-h100-qwen05b-infer-stacks'), sharedPath('kineto', 'rocm-mi300-qwen05b-infer-stacks')];
    const report = await compare(cuda, rocm);
    assert.equal(report.crossVendor, true);
    assert.deepEqual(report.tables.kernels, []);
    assert.ok(report.notes.some(({ code }) => code === 'compare.note.cross-vendor'));
    assert.deepEqual(report.verdict.reasons.map(({ code }) => code), ['compare.check.backend.differs', 'compare.check.chip.differs']);
    assert.equal(report.checks.find(({ id }) => id === 'model')?.code, 'compare.check.model.same');
    const norm = report.tables.chains.find(({ fusion }) => fusion === 'rms-norm');
    // 24 layers with two norms each, and one at the end, whatever the compiler made of them.
    assert.deepEqual([norm?.base?.count, norm?.candidate?.count], [49, 49]);
    for (const side of ['base', 'candidate'] as const) {
      near(total(report.tables.operators, side), report.figures.find(({ id }) => id === 'totalUs')?.[side]?.median ?? NaN, `operators of ${side} add up to the kernel time`);
      near(total(report.tables.families, side), total(report.tables.operators, side), `families of ${side} add up to the operators`);
    }
  });
});
