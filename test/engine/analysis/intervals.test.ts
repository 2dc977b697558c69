import assert from 'node:assert/strict';
import fc from 'fast-check';
import { clip, coveredShare, IntervalBuilder, lengthOf } from '../../../src/engine/analysis/intervals';

describe('the share of a window that intervals cover', () => {
  it('is the length of what lies inside, by the window', () => {
    fc.assert(fc.property(fc.array(fc.tuple(fc.nat(200), fc.nat(30)), { maxLength: 30 }), fc.nat(230), fc.nat(230), (events, a, b) => {
      const builder = new IntervalBuilder();
      [...events].sort((x, y) => x[0] - y[0]).forEach(([start, length]) => builder.add(start, start + length));
      const union = builder.finish();
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      assert.equal(coveredShare(union, from, to), from === to ? 0 : lengthOf(clip(union, from, to)) / (to - from));
    }), { verbose: true });
  });
});
