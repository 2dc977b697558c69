import assert from 'node:assert/strict';
import fc from 'fast-check';
import { commonStretches } from '../../../src/engine/attribution/commonStretches';

/** Length of a longest common subsequence, the slow way. */
function longest(a: readonly number[], b: readonly number[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const x of a) {
    const next = [0];
    b.forEach((y, j) => next.push(x === y ? row[j] + 1 : Math.max(row[j + 1], next[j])));
    row = next;
  }
  return row[b.length];
}

describe('common stretches', () => {
  it('are a longest common subsequence, in order, of equal tokens', () => {
    const token = fc.nat(4);
    fc.assert(fc.property(fc.array(token, { maxLength: 40 }), fc.array(token, { maxLength: 40 }), (a, b) => {
      let [inA, inB, length] = [0, 0, 0];
      for (const [x, y, n] of commonStretches(Int32Array.from(a), Int32Array.from(b))) {
        assert.ok(n > 0 && x >= inA && y >= inB);
        assert.deepEqual(a.slice(x, x + n), b.slice(y, y + n));
        [inA, inB] = [x + n, y + n];
        length += n;
      }
      assert.equal(length, longest(a, b));
    }), { numRuns: 500, verbose: 1 });
  });

  it('takes long sequences that differ a little', () => {
    const a = Array.from({ length: 100_000 }, (_, i) => (i * i) % 7);
    const b = a.filter((_, i) => i % 997 !== 5);
    const found = commonStretches(Int32Array.from(a), Int32Array.from(b));
    assert.equal(found.reduce((sum, [, , length]) => sum + length, 0), b.length);
  });
});
