/**
 * Order of events by start. Traces consist of few long runs that are sorted already (one a thread or a category), so a
 * merge sort that starts from natural runs needs few passes; no comparator callback runs ten million times.
 */

/**
 * Row numbers by start, unknown (NaN) starts last and in file order; ties by longer duration first where `durations` is given (unknown
 * durations after known ones), else and then by row number. Undefined when the rows are in that order already.
 */
export function orderByStart(starts: Float64Array, durations?: Float64Array): Uint32Array | undefined {
  const count = starts.length;
  const runs: number[] = [0];
  for (let i = 1; i < count; i++) {
    if (isAfter(starts, durations, i - 1, i)) {
      runs.push(i);
    }
  }
  if (runs.length <= 1) {
    return undefined;
  }
  runs.push(count);
  let source = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    source[i] = i;
  }
  let target = new Uint32Array(count);
  let borders = Uint32Array.from(runs);
  while (borders.length > 2) {
    const merged = new Uint32Array((borders.length >> 1) + 1);
    let next = 0;
    for (let r = 0; r + 1 < borders.length; r += 2) {
      const from = borders[r];
      const middle = borders[r + 1];
      const to = r + 2 < borders.length ? borders[r + 2] : middle;
      merge(source, target, starts, durations, from, middle, to);
      merged[next++] = from;
    }
    merged[next++] = count;
    borders = merged.slice(0, next);
    [source, target] = [target, source];
  }
  return source;
}

function merge(source: Uint32Array, target: Uint32Array, starts: Float64Array, durations: Float64Array | undefined, from: number, middle: number, to: number): void {
  let left = from;
  let right = middle;
  let at = from;
  while (left < middle && right < to) {
    // Rows of the left run came first: they win every tie.
    target[at++] = isAfter(starts, durations, source[left], source[right]) ? source[right++] : source[left++];
  }
  while (left < middle) {
    target[at++] = source[left++];
  }
  while (right < to) {
    target[at++] = source[right++];
  }
}

/** Whether row `a` must come after row `b` although it stands before it. */
function isAfter(starts: Float64Array, durations: Float64Array | undefined, a: number, b: number): boolean {
  const startA = starts[a];
  const startB = starts[b];
  if (startA !== startB) {
    return startA > startB || (startA !== startA && startB === startB);
  }
  if (durations === undefined) {
    return false;
  }
  const durationA = durations[a];
  const durationB = durations[b];
  return durationA < durationB || (durationA !== durationA && durationB === durationB);
}
