import assert from 'node:assert/strict';
import fc from 'fast-check';
import { judge, noiseOf, quantile, spreadOf } from '../../../src/engine/compare/noise';
import type { Spread } from '../../../src/protocol/compare';
import { randomFrom } from '../timeline/generatedRank';

const spread = (values: readonly number[]): Spread => {
  const found = spreadOf(values);
  assert.ok(found);
  return found;
};
const samples = fc.array(fc.double({ min: 0.001, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 24 });

describe('noise', () => {
  it('takes quantiles as the textbook does', () => {
    assert.equal(quantile([1, 2, 3, 4], 0.5), 2.5);
    assert.equal(quantile([1, 2, 3, 4], 0.25), 1.75);
    assert.equal(quantile([7], 0.9), 7);
  });

  it('leaves unknown samples out, and knows nothing without any', () => {
    assert.deepEqual(spreadOf([null, 3, NaN, 1]), { median: 2, low: 1, high: 3, samples: 2 });
    assert.equal(spreadOf([null, NaN]), null);
  });

  it('is unknown with a single sample, so nothing is judged', () => {
    assert.equal(noiseOf(spread([5]), spread([9, 9, 9])), null);
    assert.equal(judge(spread([5]), spread([900, 901])).kind, 'unjudged');
  });

  it('calls a clear difference and leaves a small one', () => {
    assert.equal(judge(spread([100, 101]), spread([80, 81])).kind, 'faster');
    assert.equal(judge(spread([80, 81]), spread([100, 101])).kind, 'slower');
    assert.equal(judge(spread([100, 110]), spread([90, 95])).kind, 'same');
    // Steady samples, yet half a percent is no difference.
    assert.equal(judge(spread([100, 100, 100]), spread([100.5, 100.5, 100.5])).kind, 'same');
  });

  it('never judges a side against itself, and judges the other way round the other way round', () => {
    const mirror = { faster: 'slower', slower: 'faster', same: 'same', unjudged: 'unjudged' } as const;
    fc.assert(fc.property(samples, samples, (a, b) => {
      assert.ok(['same', 'unjudged'].includes(judge(spread(a), spread(a)).kind));
      assert.equal(judge(spread(b), spread(a)).kind, mirror[judge(spread(a), spread(b)).kind]);
      assert.equal(noiseOf(spread(a), spread(b)), noiseOf(spread(b), spread(a)));
    }), { seed: 20261130 });
  });

  /** Two sides drawn from one distribution: whatever is called a difference is an error. */
  for (const count of [2, 3, 5, 8, 16]) {
    it(`errs on at most one pair of equal sides in twelve with ${count} samples`, () => {
      const random = randomFrom(count);
      const normal = (): number => 100 + 5 * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      const draw = (): Spread => spread(Array.from({ length: count }, normal));
      const wrong = Array.from({ length: 4000 }, () => judge(draw(), draw()).kind).filter((kind) => kind !== 'same').length;
      assert.ok(wrong / 4000 < 1 / 12, `${wrong} of 4000`);
    });
  }
});
