/**
 * Disjoint, ascending half-open intervals in integer nanoseconds: the union of events. All operations are linear and work
 * on typed arrays, so a million kernels cost milliseconds.
 */
export interface Intervals {
  readonly count: number;
  readonly starts: Float64Array;
  readonly ends: Float64Array;
}

export const NO_INTERVALS: Intervals = { count: 0, starts: new Float64Array(0), ends: new Float64Array(0) };

/** Builds a union from events that arrive in order of start; touching intervals become one, empty ones add nothing. */
export class IntervalBuilder {
  private starts: Float64Array;
  private ends: Float64Array;
  private count = 0;

  constructor(capacity = 256) {
    this.starts = new Float64Array(Math.max(capacity, 16));
    this.ends = new Float64Array(Math.max(capacity, 16));
  }

  /** `startNs` must not be below the start of an earlier call; NaN and empty intervals are ignored. */
  add(startNs: number, endNs: number): void {
    if (!(endNs > startNs)) {
      return;
    }
    const last = this.count - 1;
    if (last >= 0 && startNs <= this.ends[last]) {
      if (endNs > this.ends[last]) {
        this.ends[last] = endNs;
      }
      return;
    }
    if (this.count === this.starts.length) {
      this.starts = doubled(this.starts);
      this.ends = doubled(this.ends);
    }
    this.starts[this.count] = startNs;
    this.ends[this.count] = endNs;
    this.count++;
  }

  finish(): Intervals {
    return { count: this.count, starts: this.starts.subarray(0, this.count), ends: this.ends.subarray(0, this.count) };
  }
}

/** Summed length of the union, in ns. */
export function lengthOf({ count, starts, ends }: Intervals): number {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    sum += ends[i] - starts[i];
  }
  return sum;
}

/** Union of two unions. */
export function unite(a: Intervals, b: Intervals): Intervals {
  const out = new IntervalBuilder(a.count + b.count);
  let i = 0;
  let j = 0;
  while (i < a.count || j < b.count) {
    if (j >= b.count || (i < a.count && a.starts[i] <= b.starts[j])) {
      out.add(a.starts[i], a.ends[i]);
      i++;
    } else {
      out.add(b.starts[j], b.ends[j]);
      j++;
    }
  }
  return out.finish();
}

/** What both cover. */
function intersect(a: Intervals, b: Intervals): Intervals {
  const out = new IntervalBuilder(Math.max(a.count, b.count));
  let i = 0;
  let j = 0;
  while (i < a.count && j < b.count) {
    const start = Math.max(a.starts[i], b.starts[j]);
    const end = Math.min(a.ends[i], b.ends[j]);
    if (end > start) {
      out.add(start, end);
    }
    if (a.ends[i] < b.ends[j]) {
      i++;
    } else {
      j++;
    }
  }
  return out.finish();
}

/** Length of what both cover, without building it. */
export function overlapLength(a: Intervals, b: Intervals): number {
  let sum = 0;
  let i = 0;
  let j = 0;
  while (i < a.count && j < b.count) {
    const start = Math.max(a.starts[i], b.starts[j]);
    const end = Math.min(a.ends[i], b.ends[j]);
    if (end > start) {
      sum += end - start;
    }
    if (a.ends[i] < b.ends[j]) {
      i++;
    } else {
      j++;
    }
  }
  return sum;
}

/** Share of `[startNs, endNs)` that `a` covers, 0 for an empty window; by binary search, for many small windows. */
export function coveredShare({ count, starts, ends }: Intervals, startNs: number, endNs: number): number {
  if (!(endNs > startNs)) {
    return 0;
  }
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] <= startNs) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  let covered = 0;
  for (let i = low; i < count && starts[i] < endNs; i++) {
    covered += Math.min(endNs, ends[i]) - Math.max(startNs, starts[i]);
  }
  return covered / (endNs - startNs);
}

/** The part of `a` inside `[startNs, endNs)`. */
export function clip(a: Intervals, startNs: number, endNs: number): Intervals {
  return intersect(a, single(startNs, endNs));
}

/** What `[startNs, endNs)` holds and `a` does not: its gaps. */
export function gaps(a: Intervals, startNs: number, endNs: number): Intervals {
  const out = new IntervalBuilder(a.count + 1);
  let from = startNs;
  for (let i = 0; i < a.count && a.starts[i] < endNs; i++) {
    out.add(from, a.starts[i]);
    from = Math.max(from, a.ends[i]);
  }
  out.add(from, endNs);
  return out.finish();
}

function single(startNs: number, endNs: number): Intervals {
  return endNs > startNs ? { count: 1, starts: Float64Array.of(startNs), ends: Float64Array.of(endNs) } : NO_INTERVALS;
}

function doubled(array: Float64Array): Float64Array {
  const larger = new Float64Array(array.length * 2);
  larger.set(array);
  return larger;
}
