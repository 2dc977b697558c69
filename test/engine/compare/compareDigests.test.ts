import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compareDigests } from '../../../src/engine/compare/compareDigests';
import { UnreadableInput } from '../../../src/engine/profile/problems';
import { DIGEST_TABLES, type CompareReport } from '../../../src/protocol/compare';
import { sideOf, sideSpec, type SideSpec } from './generated';

const runs = { seed: 20261130, numRuns: 150 } as const;
const kernel = (name: string, ns: number): SideSpec['ranks'][number]['steps'][number][number] => ({ name, ns });
const mean = { faster: 'slower', slower: 'faster', gone: 'new', new: 'gone', same: 'same', unjudged: 'unjudged', notComparable: 'notComparable' } as const;

/** The same seconds of work on both sides, so that nothing stands against a verdict. */
const TOKENS = { tokensBase: 1000, tokensCandidate: 1000 };

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const sorted = ({ ranks }: SideSpec): readonly SideSpec['ranks'][number][] => [...ranks].sort((a, b) => a.rank - b.rank);

/** By the book: walk all kernels of all common ranks, one step after the other. Steps with less than half the median's kernels are no samples. */
function oracle(base: SideSpec, candidate: SideSpec): ReadonlyMap<string, { readonly counts: readonly [number, number]; readonly totals: readonly [number, number]; readonly all: readonly [number, number] }> {
  const common = base.ranks.map(({ rank }) => rank).filter((rank) => candidate.ranks.some((other) => other.rank === rank));
  const alone = common.length === 0 && base.ranks.length === candidate.ranks.length;
  const pairs = common.length > 0 ? common.map((rank) => [base, candidate].map((side) => side.ranks.find((each) => each.rank === rank)!))
    : alone ? sorted(base).map((rank, i) => [rank, sorted(candidate)[i]]) : [];
  const samples = (side: 0 | 1): readonly (readonly (readonly { readonly name: string; readonly ns: number }[])[])[] => (pairs.length > 0 ? pairs.map((pair) => pair[side].steps) : [[base, candidate][side].ranks.flatMap(({ steps }) => steps)]).map((steps) => {
    if (steps.length < 3) {
      return steps;
    }
    const middle = [...steps.map(({ length }) => length)].sort((a, b) => a - b)[steps.length >> 1];
    return steps.filter(({ length }) => length >= middle / 2);
  });
  const names = new Set([...samples(0), ...samples(1)].flat(2).map(({ name }) => name));
  return new Map([...names].map((name) => {
    const of = (side: 0 | 1, value: (kernels: readonly { readonly ns: number }[]) => number): { readonly one: number; readonly all: number } => {
      const ranks = samples(side).map((steps) => steps.map((kernels) => value(kernels.filter((each) => each.name === name))));
      return { one: median(ranks.flat()), all: ranks.reduce((sum, rank) => sum + median(rank), 0) };
    };
    const total = (kernels: readonly { readonly ns: number }[]): number => kernels.reduce((sum, { ns }) => sum + ns, 0) / 1000;
    const [b, c] = [of(0, total), of(1, total)];
    return [name, { counts: [of(0, ({ length }) => length).one, of(1, ({ length }) => length).one], totals: [b.one, c.one], all: [b.all, c.all] }] as const;
  }));
}

const near = (actual: number, expected: number, what: string): void => assert.ok(Math.abs(actual - expected) <= 1e-6 * Math.max(1, Math.abs(expected)), `${what}: ${actual} instead of ${expected}`);

describe('comparing digests', () => {
  it('has the counts and sums that walking all kernels gives', () => {
    fc.assert(fc.property(sideSpec, sideSpec, (base, candidate) => {
      const report = compareDigests(sideOf('a', base), sideOf('b', candidate), TOKENS);
      const expected = oracle(base, candidate);
      assert.deepEqual(new Set(report.tables.kernels.map(({ key }) => key)), new Set(expected.keys()));
      for (const row of report.tables.kernels) {
        const { counts, totals, all } = expected.get(row.key)!;
        near(row.base?.count ?? 0, counts[0], `${row.key} base count`);
        near(row.candidate?.count ?? 0, counts[1], `${row.key} candidate count`);
        near(row.base?.totalUs ?? 0, totals[0], `${row.key} base total`);
        near(row.candidate?.totalUs ?? 0, totals[1], `${row.key} candidate total`);
        near(row.differenceUs ?? NaN, totals[1] - totals[0], `${row.key} difference`);
        near(row.allDifferenceUs ?? NaN, all[1] - all[0], `${row.key} difference of all ranks`);
      }
    }), runs);
  });

  it('finds no difference between a profile and itself', () => {
    fc.assert(fc.property(sideSpec, (spec) => {
      const report = compareDigests(sideOf('a', spec), sideOf('a', spec), TOKENS);
      assert.ok(['same', 'unjudged'].includes(report.verdict.kind), report.verdict.kind);
      assert.equal(report.verdict.differenceUs, 0);
      for (const id of DIGEST_TABLES) {
        for (const row of report.tables[id]) {
          assert.equal(row.differenceUs, 0);
          assert.equal(row.allDifferenceUs, 0);
          assert.ok(['same', 'unjudged'].includes(row.status), `${row.key} is ${row.status}`);
        }
      }
      assert.deepEqual(report.windows, []);
      assert.ok(report.checks.every(({ outcome }) => outcome === 'same' || outcome === 'unknown'));
    }), runs);
  });

  it('is the same the other way round, with the sign turned', () => {
    fc.assert(fc.property(sideSpec, sideSpec, fc.integer({ min: 1, max: 4 }), (base, candidate, times) => {
      const tokens = { tokensBase: 1000, tokensCandidate: 1000 * times };
      const there = compareDigests(sideOf('a', base), sideOf('b', candidate), tokens);
      const back = compareDigests(sideOf('b', candidate), sideOf('a', base), { tokensBase: tokens.tokensCandidate, tokensCandidate: tokens.tokensBase });
      assert.equal(back.verdict.kind, mean[there.verdict.kind]);
      if (there.verdict.differenceUs !== null) {
        near(-(back.verdict.differenceUs ?? NaN), there.verdict.differenceUs, 'verdict');
      }
      for (const id of DIGEST_TABLES) {
        const turned = new Map(back.tables[id].map((row) => [row.key, row]));
        assert.equal(turned.size, there.tables[id].length);
        for (const row of there.tables[id]) {
          const other = turned.get(row.key)!;
          near(-(other.differenceUs ?? NaN), row.differenceUs ?? NaN, row.key);
          near(-(other.allDifferenceUs ?? NaN), row.allDifferenceUs ?? NaN, row.key);
          assert.equal(other.status, mean[row.status]);
          assert.deepEqual([other.base, other.candidate], [row.candidate, row.base]);
        }
      }
    }), runs);
  });

  const steady = (ns: number): SideSpec => ({ ranks: [0, 1].map((rank) => ({ rank, steps: [0, 1, 2].map((i) => [kernel('ampere_sgemm_64x64_nn', ns + i), kernel('mystery', 500)]) })) });

  it('says faster, slower, gone and new', () => {
    const slow: SideSpec = steady(100_000);
    const fast: SideSpec = { ranks: steady(50_000).ranks.map(({ rank, steps }) => ({ rank, steps: steps.map((kernels) => [...kernels.filter(({ name }) => name !== 'mystery'), kernel('fresh', 700)]) })) };
    const report = compareDigests(sideOf('slow', slow), sideOf('fast', fast), TOKENS);
    assert.equal(report.verdict.kind, 'faster');
    assert.deepEqual(Object.fromEntries(report.tables.kernels.map(({ key, status, by }) => [key, [status, by]])), { ampere_sgemm_64x64_nn: ['faster', 'mean'], mystery: ['gone', null], fresh: ['new', null] });
  });

  it('judges per token where the tokens of a step differ, never by the time of a step', () => {
    // Twice the tokens in one and a half times the time: slower by the step, faster by the token.
    const report = compareDigests(sideOf('a', steady(100_000)), sideOf('b', steady(150_000)), { tokensBase: 1000, tokensCandidate: 2000 });
    assert.equal(report.per, 'token');
    assert.equal(report.verdict.kind, 'faster');
    assert.ok((report.verdict.change ?? 0) < -0.2);
    assert.ok((report.verdict.candidateStepUs?.median ?? 0) > (report.verdict.baseStepUs?.median ?? 0));
    assert.equal(report.tables.kernels.find(({ key }) => key.startsWith('ampere'))?.status, 'faster');
  });

  it('takes several runs of a side as samples', () => {
    const one = compareDigests(sideOf('a', steady(100_000)), sideOf('b', steady(90_000)), TOKENS);
    const three = compareDigests(sideOf('a', steady(100_000), steady(101_000), steady(99_000)), sideOf('b', steady(90_000), steady(91_000), steady(89_000)), TOKENS);
    assert.equal(one.base.samples, 6);
    assert.equal(three.base.samples, 18);
    assert.equal(three.base.runs, 3);
    assert.equal(three.verdict.kind, 'faster');
    // The sum over all ranks does not grow with the runs.
    near(three.tables.kernels[0].base?.allTotalUs ?? 0, one.tables.kernels[0].base?.allTotalUs ?? 1, 'sum of all ranks');
  });

  it('tells tokens per second per rank where the tokens are known, per card only where that was said', () => {
    const rate = (report: CompareReport, id: string): number | undefined => report.figures.find((figure) => figure.id === id)?.base?.median;
    const spec: SideSpec = { ...steady(100_000), facts: { 'distributed world_size': '8' } };
    const report = compareDigests(sideOf('a', spec), sideOf('b', spec), TOKENS);
    const stepUs = report.verdict.baseStepUs?.median ?? NaN;
    near(rate(report, 'tokensPerSecondPerRank') ?? NaN, 1000 / (stepUs / 1e6) / 8, 'TGS');
    assert.equal(rate(report, 'tokensPerSecondPerCard'), undefined);
    near(rate(compareDigests(sideOf('a', spec), sideOf('b', spec), { ...TOKENS, ranksPerCard: 2 }), 'tokensPerSecondPerCard') ?? NaN, 2 * (1000 / (stepUs / 1e6) / 8), 'per card');
    assert.equal(rate(compareDigests(sideOf('a', spec), sideOf('b', spec)), 'tokensPerSecondPerRank'), undefined);
  });

  it('refuses a side without kernels, by name', () => {
    assert.throws(() => compareDigests(sideOf('full', steady(1000)), { name: 'empty', runs: [[]] }), (error: unknown) => error instanceof UnreadableInput && error.detail.code === 'error.compare-no-kernels' && error.detail.args?.['file'] !== undefined);
  });
});
