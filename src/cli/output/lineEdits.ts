import type { TextEdit } from '../../engine/fuse/plan';

/** More lines apart than this are shown as one change: nobody would follow the pieces. */
const MOST_APART = 2000;

/** Two texts as edits of whole lines, as few as can be (Myers, "An O(ND) difference algorithm"). */
export function lineEdits(before: string, after: string): readonly TextEdit[] {
  const [a, b] = [before, after].map((text) => text.split(/(?<=\n)/).filter((line) => line !== ''));
  let first = 0;
  while (first < Math.min(a.length, b.length) && a[first] === b[first]) {
    first++;
  }
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - first && a[a.length - 1 - tail] === b[b.length - 1 - tail]) {
    tail++;
  }
  const kept = commonLines(a.slice(first, a.length - tail), b.slice(first, b.length - tail));
  const edits: TextEdit[] = [];
  let [x, y, offset] = [first, first, a.slice(0, first).join('').length];
  for (const [i, j] of [...kept.map(([left, right]) => [first + left, first + right] as const), [a.length - tail, b.length - tail] as const]) {
    const end = offset + a.slice(x, i).join('').length;
    if (x < i || y < j) {
      edits.push({ start: offset, end, text: b.slice(y, j).join('') });
    }
    offset = end + (a[i] ?? '').length;
    [x, y] = [i + 1, j + 1];
  }
  return edits;
}

/** Pairs of equal lines, in order, as many as can be; none where the texts lie too far apart. */
function commonLines(a: readonly string[], b: readonly string[]): readonly (readonly [number, number])[] {
  const rounds: Map<number, number>[] = [];
  let furthest = new Map<number, number>([[1, 0]]);
  for (let apart = 0; apart <= Math.min(MOST_APART, a.length + b.length); apart++) {
    rounds.push(new Map(furthest));
    for (let k = -apart; k <= apart; k += 2) {
      let x = fromAbove(furthest, k, apart) ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) {
        x++;
      }
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) {
        return pairsOf(rounds, a.length, b.length);
      }
    }
    furthest = new Map(furthest);
  }
  return [];
}

const at = (furthest: ReadonlyMap<number, number>, k: number): number => furthest.get(k) ?? 0;
const fromAbove = (furthest: ReadonlyMap<number, number>, k: number, apart: number): boolean => k === -apart || (k !== apart && at(furthest, k - 1) < at(furthest, k + 1));

function pairsOf(rounds: readonly ReadonlyMap<number, number>[], endX: number, endY: number): readonly (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  let [x, y] = [endX, endY];
  for (let apart = rounds.length - 1; apart >= 0; apart--) {
    const furthest = rounds[apart];
    const k = x - y;
    const before = fromAbove(furthest, k, apart) ? k + 1 : k - 1;
    const [fromX, fromY] = apart === 0 ? [0, 0] : [at(furthest, before), at(furthest, before) - before];
    while (x > fromX && y > fromY) {
      pairs.push([--x, --y]);
    }
    [x, y] = [fromX, fromY];
  }
  return pairs.reverse();
}
