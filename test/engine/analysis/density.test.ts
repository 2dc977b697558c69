import assert from 'node:assert/strict';
import fc from 'fast-check';
import { durationDensity } from '../../../src/engine/analysis/density';
import { sortIntegers } from '../../../src/engine/analysis/sortIntegers';

describe('density of durations', () => {
  it('counts every kernel of known length once, in the bin that holds it, and integrates to one', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 1_000_000_000 }), { maxLength: 100 }), (durations) => {
      const sorted = Float64Array.from(durations).sort();
      const { edgesUs, density, counts } = durationDensity(sorted);
      const positive = durations.filter((ns) => ns > 0);
      assert.equal(counts.reduce((sum, n) => sum + n, 0), positive.length);
      counts.forEach((count, i) => assert.equal(count, positive.filter((ns) => ns / 1000 >= edgesUs[i] && ns / 1000 < edgesUs[i + 1]).length));
      if (positive.length > 0) {
        assert.ok(Math.abs(density.reduce((sum, value, i) => sum + value * (edgesUs[i + 1] - edgesUs[i]), 0) - 1) < 1e-9);
      }
    }));
  });
});

describe('sorting durations', () => {
  it('agrees with comparing, for short and long lists, small and huge values', () => {
    const values = fc.oneof(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 0, max: 2 ** 33 + 10 }), fc.constant(0));
    fc.assert(fc.property(fc.array(values, { maxLength: 50 }), fc.integer({ min: 1, max: 80 }), (list, copies) => {
      const many = Float64Array.from({ length: list.length * copies }, (_, i) => list[i % Math.max(1, list.length)] + (i % 7));
      assert.deepEqual(sortIntegers(many.slice()), many.slice().sort());
    }));
  });
});
