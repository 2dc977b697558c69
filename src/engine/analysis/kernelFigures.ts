import type { KernelFigures } from '../../protocol/report';
import type { DeviceEvents } from '../profile/columns';
import { lengthOf } from './intervals';
import { isKernel, type BusyUnions, type Selection } from './selection';
import { sortIntegers } from './sortIntegers';
import { microseconds, ratio } from './units';

/** Known durations of the window's kernels in ns, ascending. A kernel whose start is unknown keeps its duration. */
export function sortedDurations(events: DeviceEvents, selection: Selection): Float64Array {
  const out = new Float64Array(selection.rows.length + selection.unplaced.length);
  let count = 0;
  for (const rows of [selection.rows, selection.unplaced]) {
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i];
      const duration = events.durationNs[row];
      if (isKernel(events.kind[row]) && !Number.isNaN(duration)) {
        out[count++] = duration;
      }
    }
  }
  return sortIntegers(out.slice(0, count));
}

/** Percentile by nearest rank: element number ⌈q·n⌉ (from 1) of an ascending array; NaN when it is empty. */
function nearestRank(sorted: Float64Array, q: number): number {
  if (sorted.length === 0) {
    return NaN;
  }
  // ceil of a product a hair above an integer would skip an element, so 0.9 × 10 must stay 9.
  const rank = Math.ceil(q * sorted.length - 1e-9);
  return sorted[Math.min(sorted.length, Math.max(1, rank)) - 1];
}

/** How many of an ascending array are at most `limit`. */
function countUpTo(sorted: Float64Array, limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** Of a rank whose kernels were not recorded, or whose tables are missing. */
export const UNKNOWN_KERNELS: KernelFigures = {
  count: null, timedCount: null, totalUs: null, spanUs: null, busyUs: null, idleUs: null, p50Us: null, p90Us: null, p99Us: null, minUs: null, maxUs: null,
  shareLe50us: null, shareLe100us: null, meanIntervalUs: null,
};

/** `sorted` are the window's `sortedDurations`. */
export function kernelFigures(events: DeviceEvents, selection: Selection, unions: BusyUnions, sorted: Float64Array): KernelFigures {
  let totalNs = 0;
  for (let i = 0; i < sorted.length; i++) {
    totalNs += sorted[i];
  }
  const { count, timedCount, lastStartNs } = countKernels(events, selection);
  const spanNs = unions.lastNs - unions.firstNs;
  const busyNs = Number.isNaN(spanNs) ? NaN : lengthOf(unions.kernels);
  return {
    count,
    timedCount,
    totalUs: totalNs / 1000,
    spanUs: microseconds(spanNs),
    busyUs: microseconds(busyNs),
    idleUs: microseconds(spanNs - busyNs),
    p50Us: microseconds(nearestRank(sorted, 0.5)),
    p90Us: microseconds(nearestRank(sorted, 0.9)),
    p99Us: microseconds(nearestRank(sorted, 0.99)),
    minUs: microseconds(sorted.length === 0 ? NaN : sorted[0]),
    maxUs: microseconds(sorted.length === 0 ? NaN : sorted[sorted.length - 1]),
    shareLe50us: ratio(countUpTo(sorted, 50_000), sorted.length),
    shareLe100us: ratio(countUpTo(sorted, 100_000), sorted.length),
    meanIntervalUs: microseconds(timedCount < 2 ? NaN : (lastStartNs - unions.firstNs) / (timedCount - 1)),
  };
}

function countKernels(events: DeviceEvents, selection: Selection): { readonly count: number; readonly timedCount: number; readonly lastStartNs: number } {
  let count = 0;
  let timedCount = 0;
  let lastStartNs = NaN;
  const { rows } = selection;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    if (!isKernel(events.kind[row])) {
      continue;
    }
    count++;
    if (!Number.isNaN(events.durationNs[row])) {
      timedCount++;
      lastStartNs = events.startNs[row];
    }
  }
  for (const row of selection.unplaced) {
    count += isKernel(events.kind[row]) ? 1 : 0;
  }
  return { count, timedCount, lastStartNs };
}
