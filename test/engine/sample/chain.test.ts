import assert from 'node:assert/strict';
import { readKernels, type OracleRow } from './oracle';
import { rank0Text } from './sampleFiles';

/** Figure 3C: operator type and mean microseconds. */
const CHAIN: readonly (readonly [api: string, us: number])[] = [
  ['Cast', 32], ['PowTensorScalar', 39], ['Mean', 41], ['Adds', 8], ['Rsqrt', 9], ['Mul', 62], ['Mul', 53], ['Cast', 96], ['Silu', 48], ['Mul', 138], ['Cast', 30],
];
const ZERO_CENTRED = ['Cast', 'PowTensorScalar', 'Mean', 'Adds', 'Rsqrt', 'Mul', 'Cast', 'Adds', 'Mul', 'Cast'];

const apiOf = (row: OracleRow): string => /^aclnn([A-Za-z0-9]+?)_/.exec(row.name)?.[1] ?? row.name;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('sample: the gated chain of figure 3C', function () {
  this.timeout(180_000);
  let compute: readonly OracleRow[];
  let starts: readonly number[];
  before(async () => {
    compute = readKernels(await rank0Text('baseline', 'kernel_details.csv')).rows.filter((row) => !row.communication);
    starts = compute.flatMap((_, i) => (CHAIN.every(([api], j) => i + j < compute.length && apiOf(compute[i + j]) === api) ? [i] : []));
  });

  it('runs 18 layers × 2 micro-batches × forward and recompute', () => {
    assert.equal(starts.length, 72);
  });

  it('has eleven kernels of the article\'s mean durations, 556 µs together', () => {
    CHAIN.forEach(([api, us], j) => {
      const measured = mean(starts.map((i) => compute[i + j].duration)) / 1000;
      assert.ok(Math.abs(measured - us) < us * 0.01, `${api}: ${measured} µs`);
    });
    const whole = mean(starts.map((i) => compute.slice(i, i + CHAIN.length).reduce((sum, row) => sum + row.duration, 0))) / 1000;
    assert.ok(Math.abs(whole - 556) < 2, `${whole} µs`);
  });

  it('starts near 1741.5 ms in the second forward pass', () => {
    const nearest = Math.min(...starts.map((i) => Math.abs(compute[i].start / 1e6 - 1741.5)));
    assert.ok(nearest < 0.5, `${nearest} ms away`);
  });

  it('is followed by a product of 240 µs, an add of 67 µs and, 948 µs after its start, the zero-centred norm', () => {
    const after = starts.map((i) => compute.slice(i + CHAIN.length));
    assert.ok(after.every(([product, add]) => product.type === 'MatMulV3' && apiOf(add) === 'Add'));
    assert.ok(Math.abs(mean(after.map(([product]) => product.duration)) / 1000 - 240) < 2);
    assert.ok(Math.abs(mean(after.map(([, add]) => add.duration)) / 1000 - 67) < 1);
    assert.ok(after.every((rows) => ZERO_CENTRED.every((api, j) => apiOf(rows[2 + j]) === api)));
    const distance = mean(starts.map((i) => compute[i + CHAIN.length + 2].start - compute[i].start)) / 1000;
    assert.ok(Math.abs(distance - 948) < 6, `${distance} µs`);
    [25, 54, 51].forEach((us, j) => {
      const measured = mean(after.map((rows) => rows[2 + j].duration)) / 1000;
      assert.ok(Math.abs(measured - us) < 1, `${measured} µs`);
    });
  });

  it('recurs once a layer: three linear layers, then a full one between', () => {
    const forward = starts.slice(0, 18).map((i) => compute[i].start);
    const gaps = forward.slice(1).map((start, i) => start - forward[i]);
    const layer = mean(gaps.filter((_, i) => i % 3 !== 2));
    gaps.forEach((gap, i) => assert.ok(i % 3 === 2 ? gap > 1.2 * layer && gap < 2 * layer : Math.abs(gap - layer) < 0.05 * layer, `gap ${i}: ${gap / 1e6} ms`));
  });

  it('has 61 zero-centred and 18 gated norms a forward pass, all but the last norm recomputed', () => {
    const norms = compute.flatMap((_, i) => (ZERO_CENTRED.every((api, j) => i + j < compute.length && apiOf(compute[i + j]) === api) ? [i] : []));
    assert.equal(norms.length, (61 + 60) * 2);
  });
});
