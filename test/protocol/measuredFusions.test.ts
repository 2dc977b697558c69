import assert from 'node:assert/strict';
import type { CompareReport, CompareRow } from '../../src/protocol/compare';
import { measuredFusions } from '../../src/protocol/measuredFusions';

type Times = readonly [count: number, totalUs: number] | undefined;

function row(name: string, fusion: string | undefined, fused: readonly string[], length: number, base: Times, candidate: Times): CompareRow {
  const side = (times: Times): unknown => (times === undefined ? null : { count: times[0], totalUs: times[1] });
  return { key: name, label: name, chainLength: length, ...(fusion === undefined ? { type: name.split(' ')[1] } : { fusion, fused }), base: side(base), candidate: side(candidate) } as unknown as CompareRow;
}

function report(chains: readonly CompareRow[], change: Partial<Pick<CompareReport, 'per'>> & { readonly kind?: string; readonly tokens?: readonly [number, number] } = {}): CompareReport {
  const { per = 'step', kind = 'faster', tokens = [100, 100] } = change;
  return { per, verdict: { kind }, base: { tokensPerStep: tokens[0] }, candidate: { tokensPerStep: tokens[1] }, tables: { chains } } as unknown as CompareReport;
}

const gated = (base: Times, candidate: Times): CompareRow => row('a', 'gated-rms-norm', ['fused.gatedNorm', 'fused.rmsNorm'], 11, base, candidate);
const plain = (base: Times, candidate: Times): CompareRow => row('b', 'rms-norm', ['fused.rmsNorm'], 6, base, candidate);

describe('what fusions saved', () => {
  it('is the chains before against what is left of them and the fused operators in their place', () => {
    const chains = [gated([11 * 36, 20_000], undefined), gated([11 * 36, 20_000], [11, 500]), row('fused fused.gatedNorm forward', undefined, [], 1, undefined, [71, 7_600])];
    assert.deepEqual(measuredFusions(report(chains)), [{ fusion: 'gated-rms-norm', beforeUs: 40_000, afterUs: 8_100, perToken: false }]);
  });

  it('counts a fused operator only where it grew, and once', () => {
    const chains = [gated([110, 5_000], undefined), plain([60, 3_000], undefined), row('fused fused.gatedNorm forward', undefined, [], 1, undefined, [10, 900]), row('fused fused.rmsNorm forward', undefined, [], 1, [5, 100], [15, 400])];
    assert.deepEqual(measuredFusions(report(chains)).map(({ fusion, afterUs }) => [fusion, afterUs]), [['gated-rms-norm', 900], ['rms-norm', 300]]);
    // Without an operator of its own, the shared one is divided by how many chains each lost: 10 and 30.
    const shared = [gated([110, 5_000], undefined), plain([180, 9_000], undefined), row('fused fused.rmsNorm forward', undefined, [], 1, undefined, [40, 4_000])];
    assert.deepEqual(measuredFusions(report(shared)).map(({ fusion, afterUs }) => [fusion, afterUs]), [['gated-rms-norm', 1_000], ['rms-norm', 3_000]]);
  });

  it('is scaled to the tokens of before, and said to be so', () => {
    const chains = [gated([11 * 72, 40_000], undefined), row('fused fused.gatedNorm forward', undefined, [], 1, undefined, [72, 32_000])];
    assert.deepEqual(measuredFusions(report(chains, { per: 'token', tokens: [131_072, 524_288] })), [{ fusion: 'gated-rms-norm', beforeUs: 40_000, afterUs: 8_000, perToken: true }]);
  });

  it('is nothing where profiles are not comparable, chains did not go, or nothing known came in their place', () => {
    const gone = [gated([110, 5_000], undefined), row('fused fused.gatedNorm forward', undefined, [], 1, undefined, [10, 900])];
    assert.deepEqual(measuredFusions(report(gone, { kind: 'notComparable' })), []);
    assert.deepEqual(measuredFusions(report([gated([110, 5_000], [110, 4_000])])), []);
    assert.deepEqual(measuredFusions(report([gated([110, 5_000], undefined)])), []);
  });
});
