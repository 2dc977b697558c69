import assert from 'node:assert/strict';
import { families, lanes, percentile, readKernels, shareUpTo, total, type OracleTable } from './oracle';
import { rank0Text } from './sampleFiles';

const within = (actual: number, expected: number, tolerance: number, what: string): void => {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual}, expected ${expected} ± ${tolerance}`);
};

describe('sample: figures of the baseline, rank 0', function () {
  this.timeout(180_000);
  let table: OracleTable;
  before(async () => { table = readKernels(await rank0Text('baseline', 'kernel_details.csv')); });

  it('has the distribution of the article', () => {
    const { rows } = table;
    assert.equal(rows.length, 19252);
    within(percentile(rows, 0.5) / 1000, 22.8, 0.05, 'p50 µs');
    within(percentile(rows, 0.9) / 1000, 290, 0.5, 'p90 µs');
    within(shareUpTo(rows, 50_000), 0.624, 0.0005, 'at most 50 µs');
    within(shareUpTo(rows, 100_000), 0.756, 0.0005, 'at most 100 µs');
  });

  it('has the step decomposition of the article', () => {
    const step = lanes(table.rows);
    within(step.span / 1e6, 3083, 1, 'span ms');
    within(step.exposed / 1e6, 535, 0.5, 'exposed communication ms');
    within(step.free / 1e6, 123, 0.5, 'free ms');
    assert.equal(step.span, step.computeBusy + step.exposed + step.free);
  });

  it('begins with an AllReduce of 302.2 ms while compute idles as long', () => {
    const first = table.rows.find((row) => row.communication);
    assert.ok(first !== undefined && first.name.startsWith('hcom_allReduce_'));
    within(first.duration / 1e6, 302.2, 0.05, 'first AllReduce ms');
    const compute = table.rows.filter((row) => !row.communication);
    const next = compute.findIndex((row) => row.start > first.start);
    const idle = compute[next].start - compute[next - 1].end;
    within(idle / 1e6, 302.6, 0.5, 'compute idle ms');
    assert.equal(Math.max(...table.rows.map((row) => row.duration)), first.duration, 'it is the longest kernel');
    const five = table.rows.filter((row) => row.communication).map((row) => row.duration).sort((a, b) => b - a).slice(0, 5);
    within(five.reduce((sum, ns) => sum + ns, 0) / total(table.rows), 0.09, 0.006, 'five longest collectives of kernel time');
  });

  it('has the families of the article', () => {
    const { matrix, elementwise, glue, norm } = families(table.rows);
    within(matrix.length / table.rows.length, 0.064, 0.0005, 'matmul/attention share of calls');
    within(total(matrix) / 1e6, 677, 6.77, 'matmul/attention ms');
    within(elementwise.length, 5554, 55, 'elementwise calls');
    within(glue.length, 7684, 76, 'glue calls');
    within(norm.length, 1577, 15, 'decomposed norm calls');
    const loss = table.rows.filter((row) => /aclnn(LogSoftmax|NLLLoss)/.test(row.name));
    assert.equal(loss.length, 80);
    within(total(loss) / 1e6, 91, 0.91, 'loss ms');
    assert.equal(table.rows.filter((row) => row.communication).length, 418);
  });

  it('shows a gather of 24 ms under which compute hangs for 18 ms', () => {
    const gathers = table.rows.filter((row) => row.communication && Math.abs(row.duration / 1e6 - 24.3) < 1);
    const compute = table.rows.filter((row) => !row.communication);
    const hangs = compute.slice(1).map((row, i) => ({ from: compute[i].end, to: row.start }));
    assert.ok(gathers.some((gather) => hangs.some(({ from, to }) => Math.abs((to - from) / 1e6 - 18) < 1 && from >= gather.start && Math.abs(to - gather.end) < 1e6)));
  });

  it('marks every kernel that no model made, and keeps forward passes free of them', () => {
    const remainder = table.rows.filter((row) => row.name.includes('UnmodelledRemainder'));
    assert.equal(remainder.length, 1790 + 185 + 1326);
    assert.ok(total(remainder) / 1e6 < 60, `${total(remainder) / 1e6} ms`);
    const compute = table.rows.filter((row) => !row.communication);
    const chains = compute.flatMap((row, i) => (row.type === 'Swish' && compute[i - 1].type === 'Cast' ? [i] : []));
    for (const i of chains) {
      assert.ok(compute.slice(i - 8, i + 14).every((row) => !row.name.includes('UnmodelledRemainder')));
    }
  });
});

describe('sample: figures of the optimized run, rank 0', function () {
  this.timeout(180_000);
  let table: OracleTable;
  before(async () => { table = readKernels(await rank0Text('optimized', 'kernel_details.csv')); });

  it('has the distribution of the article', () => {
    const { rows } = table;
    assert.equal(rows.length, 9608);
    within(percentile(rows, 0.5) / 1000, 24.9, 0.05, 'p50 µs');
    within(percentile(rows, 0.9) / 1000, 1180, 0.5, 'p90 µs');
    within(shareUpTo(rows, 50_000), 0.561, 0.0005, 'at most 50 µs');
    within(shareUpTo(rows, 100_000), 0.651, 0.0005, 'at most 100 µs');
  });

  it('has the step decomposition of the article', () => {
    const step = lanes(table.rows);
    within(step.span / 1e6, 2970, 5, 'span ms');
    within(step.exposed / 1e6, 178, 0.5, 'exposed communication ms');
    within(step.free / 1e6, 33.5, 0.3, 'free ms');
    assert.ok(table.rows.every((row) => row.duration < 150e6), 'no collective over 150 ms');
  });

  it('spends its time in matrix products and the Ascend C kernels', () => {
    within(total(families(table.rows).matrix) / 1e6, 1534, 16, 'matmul/attention ms');
    assert.equal(families(table.rows).norm.length, 0, 'no norm is written out');
    for (const [type, mean, calls] of [['ChunkBwdDqkwg', 2106, 36], ['ChunkGatedDeltaRuleBwdDhu', 974, 36], ['_swiglu_bwd', 1281, 48]] as const) {
      const rows = table.rows.filter((row) => row.type === type);
      assert.equal(rows.length, calls);
      within(total(rows) / rows.length / 1000, mean, mean * 0.01, type);
    }
  });
});
