/** Equal stretches of two sequences by the greedy algorithm of Myers (1986), whose cost grows with how much they differ. */

/** Insertions and deletions together; beyond it the rest counts as different. Memory grows with its square. */
const MOST_EDITS = 3000;

/** `[start in a, start in b, length]` in order, of a longest common subsequence; neighbours are never adjoining. */
export function commonStretches(a: Int32Array, b: Int32Array): readonly (readonly [number, number, number])[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    start++;
  }
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--;
    endB--;
  }
  const stretches: [number, number, number][] = start > 0 ? [[0, 0, start]] : [];
  for (const stretch of between(a.subarray(start, endA), b.subarray(start, endB))) {
    push(stretches, stretch[0] + start, stretch[1] + start, stretch[2]);
  }
  push(stretches, endA, endB, a.length - endA);
  return stretches;
}

function push(stretches: [number, number, number][], inA: number, inB: number, length: number): void {
  const last = stretches[stretches.length - 1];
  if (length === 0) {
    return;
  }
  if (last !== undefined && last[0] + last[2] === inA && last[1] + last[2] === inB) {
    last[2] += length;
  } else {
    stretches.push([inA, inB, length]);
  }
}

function between(a: Int32Array, b: Int32Array): readonly (readonly [number, number, number])[] {
  const most = Math.min(MOST_EDITS, a.length + b.length);
  const furthest = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits++) {
    trace.push(furthest.slice(most + 1 - edits, most + 2 + edits));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = diagonal === -edits || (diagonal !== edits && furthest[most + diagonal] < furthest[most + 2 + diagonal]);
      let x = down ? furthest[most + 2 + diagonal] : furthest[most + diagonal] + 1;
      while (x < a.length && x - diagonal < b.length && x >= 0 && x - diagonal >= 0 && a[x] === b[x - diagonal]) {
        x++;
      }
      furthest[most + 1 + diagonal] = x;
      if (diagonal === a.length - b.length && x >= a.length) {
        return walkBack(a.length, b.length, trace);
      }
    }
  }
  return [];
}

/** `trace[d]` holds the furthest x of diagonals −d … d before round d. */
function walkBack(endA: number, endB: number, trace: readonly Int32Array[]): readonly (readonly [number, number, number])[] {
  const found: [number, number, number][] = [];
  let x = endA;
  let y = endB;
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const diagonal = x - y;
    const before = trace[edits];
    const at = (k: number): number => before[k + edits] ?? -1;
    const down = diagonal === -edits || (diagonal !== edits && at(diagonal - 1) < at(diagonal + 1));
    const from = down ? diagonal + 1 : diagonal - 1;
    const fromX = edits === 0 ? 0 : at(from);
    const fromY = edits === 0 ? 0 : fromX - from;
    // Equal tokens after the edit of this round.
    const startX = edits === 0 ? 0 : down ? fromX : fromX + 1;
    if (x > startX) {
      found.push([startX, y - (x - startX), x - startX]);
    }
    x = fromX;
    y = fromY;
  }
  return found.reverse();
}
