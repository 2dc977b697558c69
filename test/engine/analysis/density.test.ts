import assert from 'node:assert/strict';
import fc from 'fast-check';
import { durationDensity } from '../../../src/engine/analysis/density';

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
