import type { TimelineCounters, TimelineCountersParams } from '../../protocol/timeline';
import type { RankData } from '../profile/columns';
import { counterIndex, firstAfter, type CounterLane } from './counterLanes';
import { extremes } from './counterLevels';
import { timelineIndex } from './timelineIndex';

/** Five columns take 36 bytes; a message stays under 256 KB. */
const MOST_COLUMNS = 7000;
const MAXIMUM_PIXELS = 16_384;

/**
 * Counters over a stretch of time, at most one column a pixel and lane: the lowest and highest value in it, and the last one
 * with its exact time. The first column of a lane is the value that holds from before. Where all lanes together are too many
 * columns, the longest lanes get wider bins.
 */
export function timelineCounters(rank: RankData, params: TimelineCountersParams): TimelineCounters {
  const { originNs } = timelineIndex(rank).extent;
  const startNs = Number.isFinite(params.startNs) ? params.startNs : originNs;
  const endNs = params.endNs > startNs ? params.endNs : startNs + 1;
  const pixels = Math.min(Math.max(Math.floor(params.pixels) || 1, 1), MAXIMUM_PIXELS);
  const { byId } = counterIndex(rank);
  const lanes = [...new Set(params.lanes)].map((id) => byId.get(id)).filter((lane): lane is CounterLane => lane !== undefined).slice(0, MOST_COLUMNS / 4);
  const ranges = lanes.map((lane) => ({ lane, from: Math.max(0, firstAfter(lane.timeNs, startNs) - 1), to: firstAfter(lane.timeNs, endNs) }));
  const exponents = binExponents(ranges.map(({ from, to }) => to - from), endNs - startNs, Math.max(0, Math.ceil(Math.log2((endNs - startNs) / pixels))));
  const first = new Uint32Array(lanes.length + 1);
  const most = ranges.reduce((sum, { from, to }, i) => sum + columnsOf(to - from, endNs - startNs, exponents[i]), 0);
  const [timeNs, value, low, high] = [0, 1, 2, 3].map(() => new Float64Array(most));
  const count = new Uint32Array(most);
  let at = 0;
  ranges.forEach(({ lane, from, to }, i) => {
    const binNs = 2 ** exponents[i];
    for (let position = from; position < to;) {
      const next = lane.timeNs[position] < startNs ? position + 1 : Math.min(to, firstOfNextBin(lane.timeNs, position, to, originNs, binNs));
      const found = extremes(lane.value, lane.levels, position, next);
      timeNs[at] = lane.timeNs[next - 1];
      value[at] = lane.value[next - 1];
      low[at] = found.low;
      high[at] = found.high;
      count[at++] = next - position;
      position = next;
    }
    first[i + 1] = at;
  });
  return {
    requestId: params.requestId, startNs, endNs, lanes: lanes.map(({ id }) => id), first, nsPerBin: Float64Array.from(exponents, (exponent) => 2 ** exponent),
    untilNs: Float64Array.from(ranges, ({ lane, to }) => lane.timeNs[Math.min(to, lane.timeNs.length - 1)] ?? NaN),
    timeNs: timeNs.slice(0, at), value: value.slice(0, at), low: low.slice(0, at), high: high.slice(0, at), count: count.slice(0, at),
  };
}

function firstOfNextBin(timeNs: Float64Array, position: number, to: number, originNs: number, binNs: number): number {
  const end = originNs + (Math.floor((timeNs[position] - originNs) / binNs) + 1) * binNs;
  // Most bins hold one or two values.
  let next = position + 1;
  while (next < to && next < position + 8 && timeNs[next] < end) {
    next++;
  }
  return next < position + 8 ? next : position + 8 + firstNotBefore(timeNs.subarray(position + 8, to), end);
}

function firstNotBefore(timeNs: Float64Array, at: number): number {
  let low = 0;
  let high = timeNs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeNs[middle] < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** Bins of each lane: as asked, doubled for the lane with most columns until all fit. */
function binExponents(values: readonly number[], spanNs: number, asked: number): readonly number[] {
  const exponents = values.map(() => asked);
  const columns = values.map((count) => columnsOf(count, spanNs, asked));
  let total = columns.reduce((sum, count) => sum + count, 0);
  while (total > MOST_COLUMNS) {
    const widest = columns.indexOf(Math.max(...columns));
    exponents[widest]++;
    total -= columns[widest];
    columns[widest] = columnsOf(values[widest], spanNs, exponents[widest]);
    total += columns[widest];
  }
  return exponents;
}

/** At most so many columns: one a value, one a bin, and the one that holds from before. */
function columnsOf(values: number, spanNs: number, exponent: number): number {
  return Math.min(values, Math.ceil(spanNs / 2 ** exponent) + 3);
}
