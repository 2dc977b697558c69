import assert from 'node:assert/strict';
import { recoverable } from '../../../src/engine/chains/recoverable';

describe('recoverable time', () => {
  it('is what is left of a chain after its longest kernel, once or twice', () => {
    // The article's gated norm: 556 µs, the longest of its kernels 138 µs, 72 times.
    const { deviceNs } = recoverable({ occurrences: 72, meanNs: 556_000, longestNs: 138_000, exposedShare: 1, gapNs: 0 });
    assert.deepEqual(deviceNs, [72 * 280_000, 72 * 418_000]);
  });

  it('is never negative: a chain that is one long kernel has nothing to give', () => {
    assert.deepEqual(recoverable({ occurrences: 4, meanNs: 100, longestNs: 90, exposedShare: 1, gapNs: 0 }).deviceNs, [0, 40]);
  });

  it('counts for the step only where no communication runs', () => {
    assert.deepEqual(recoverable({ occurrences: 1, meanNs: 100, longestNs: 40, exposedShare: 0.5, gapNs: 20 }).stepNs, [10, 40]);
  });
});
