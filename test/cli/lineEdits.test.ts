import assert from 'node:assert/strict';
import fc from 'fast-check';
import { lineEdits } from '../../src/cli/output/lineEdits';
import { applyEdits } from '../../src/engine/fuse/plan';

/** Length of the longest common subsequence, the slow way. */
function common(a: readonly string[], b: readonly string[]): number {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  a.forEach((line, i) => { b.forEach((other, j) => { table[i + 1][j + 1] = line === other ? table[i][j] + 1 : Math.max(table[i][j + 1], table[i + 1][j]); }); });
  return table[a.length][b.length];
}

const linesOf = (text: string): readonly string[] => text.split(/(?<=\n)/).filter((line) => line !== '');

describe('edits of whole lines', () => {
  it('make the one text of the other, and touch as few lines as can be', () => {
    const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\r\n', '\n', 'd'), { maxLength: 14 }).map((parts) => parts.join(''));
    fc.assert(fc.property(text, text, (before, after) => {
      const edits = lineEdits(before, after);
      assert.equal(applyEdits(before, edits), after);
      const gone = edits.reduce((sum, { start, end }) => sum + linesOf(before.slice(start, end)).length, 0);
      assert.equal(gone, linesOf(before).length - common(linesOf(before), linesOf(after)));
    }), { numRuns: 2000 });
  });

  it('leave what lies between two changes', () => {
    const before = Array.from({ length: 500 }, (_, i) => `line ${i}\n`);
    const after = before.flatMap((line, i) => (i === 3 ? [line, 'import torch_npu\n'] : i === 400 ? [] : i === 401 ? ['fused\n'] : [line]));
    assert.deepEqual(lineEdits(before.join(''), after.join('')).map(({ start, end, text }) => [before.join('').slice(start, end), text]), [['', 'import torch_npu\n'], ['line 400\nline 401\n', 'fused\n']]);
  });
});
