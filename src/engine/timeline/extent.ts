import type { RankData } from '../profile/columns';
import { counterIndex } from './counterLanes';

export interface Extent {
  readonly originNs: number;
  readonly spanNs: number;
  /** Events outside it. */
  readonly outliers: number;
}

/** How far beyond the dense part (as a multiple of its length) an event may lie and still belong to the recording. */
const TOLERANCE = 20;

/**
 * The range the axis covers. One event with `ts = 0` must not stretch it to decades: starts beyond 20× the length of the
 * range that holds 99.8 % of them are outliers, counted and left out.
 */
export function recordingExtent(rank: RankData): Extent {
  const { deviceEvents, hostEvents, steps } = rank;
  const sample = sampleStarts([deviceEvents.startNs, hostEvents.startNs]);
  if (sample.length === 0) {
    return counterExtent(rank);
  }
  const trim = Math.min(Math.ceil(Math.max(2, sample.length * 0.001)), (sample.length - 1) >> 1);
  const low = sample[trim];
  const high = sample[sample.length - 1 - trim];
  const slack = Math.max((high - low) * TOLERANCE, 1e9);
  // A handful of events has no dense part to speak of.
  const [floor, ceiling] = sample.length < 20 ? [-Infinity, Infinity] : [low - slack, high + slack];
  let first = Infinity;
  let last = -Infinity;
  let outliers = 0;
  for (const { startNs, durationNs, count } of [deviceEvents, hostEvents]) {
    for (let i = 0; i < count; i++) {
      const start = startNs[i];
      if (!(start >= floor && start <= ceiling)) {
        outliers += Number.isNaN(start) ? 0 : 1;
        continue;
      }
      const end = durationNs[i] > 0 ? start + durationNs[i] : start;
      first = start < first ? start : first;
      last = end > last && end <= ceiling + slack ? end : last;
    }
  }
  for (const step of steps) {
    if (step.startNs >= floor && step.startNs + step.durationNs <= ceiling) {
      first = Math.min(first, step.startNs);
      last = Math.max(last, step.startNs + step.durationNs);
    }
  }
  return { originNs: first, spanNs: Math.max(last - first, 1), outliers };
}

/** Without any event counters are the recording: a run whose memory alone is known. */
function counterExtent(rank: RankData): Extent {
  let first = Infinity;
  let last = -Infinity;
  for (const { timeNs } of counterIndex(rank).lanes) {
    first = Math.min(first, timeNs[0] ?? Infinity);
    last = Math.max(last, timeNs[timeNs.length - 1] ?? -Infinity);
  }
  return first <= last ? { originNs: first, spanNs: Math.max(last - first, 1), outliers: 0 } : { originNs: 0, spanNs: 1, outliers: 0 };
}

/** Up to 20,000 starts, sorted; the ends of the columns (where odd values gather) are always among them. */
function sampleStarts(columns: readonly Float64Array[]): Float64Array {
  const total = columns.reduce((sum, column) => sum + column.length, 0);
  const stride = Math.max(1, Math.floor(total / 20_000));
  const picked: number[] = [];
  for (const column of columns) {
    for (let i = 0; i < column.length; i += stride) {
      if (!Number.isNaN(column[i])) {
        picked.push(column[i]);
      }
    }
  }
  return Float64Array.from(picked).sort();
}
