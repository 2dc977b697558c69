import assert from 'node:assert/strict';
import fc from 'fast-check';
import { assignRows, occupiedUntil } from '../../../src/engine/timeline/subLanes';

describe('timeline: sub-lanes', () => {
  const events = fc.array(fc.tuple(fc.integer({ min: 0, max: 300 }), fc.constantFrom(0, 0, 1, 2, 10, 80, NaN)), { maxLength: 300 });

  it('drops nothing, never overlaps within a row, and uses as few rows as possible', () => {
    fc.assert(fc.property(events, (list) => {
      const sorted = list.slice().sort((a, b) => a[0] - b[0]);
      const start = Float64Array.from(sorted, ([s]) => s);
      const duration = Float64Array.from(sorted, ([, d]) => d);
      const { order, rowStart } = assignRows(Uint32Array.from(sorted, (_, i) => i), start, duration);
      assert.deepEqual([...order].sort((a, b) => a - b), sorted.map((_, i) => i));
      for (let row = 0; row + 1 < rowStart.length; row++) {
        for (let i = rowStart[row] + 1; i < rowStart[row + 1]; i++) {
          assert.ok(occupiedUntil(start[order[i - 1]], duration[order[i - 1]]) <= start[order[i]], `row ${row}`);
        }
      }
      let deepest = 0;
      for (const [at] of sorted) {
        deepest = Math.max(deepest, sorted.filter(([s, d]) => s <= at && occupiedUntil(s, d) > at).length);
      }
      assert.equal(rowStart.length - 1, deepest);
    }), { seed: 20261129, numRuns: 200 });
  });

  it('puts a child below its parent and takes many rows in stride', () => {
    const start = Float64Array.of(0, 0, 2, 6, 12);
    const duration = Float64Array.of(10, 4, 1, 2, 3);
    const { order, rowStart } = assignRows(Uint32Array.of(0, 1, 2, 3, 4), start, duration);
    assert.deepEqual([...rowStart], [0, 2, 4, 5]);
    assert.deepEqual([...order], [0, 4, 1, 3, 2]);
    const many = Float64Array.from({ length: 100_000 }, (_, i) => i);
    assert.equal(assignRows(Uint32Array.from(many), many, many.map(() => 1e9)).rowStart.length - 1, 100_000);
  });
});
