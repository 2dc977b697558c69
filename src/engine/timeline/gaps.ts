import type { RankData } from '../profile/columns';
import { timelineIndex } from './timelineIndex';

const MOST_GAPS = 4096;

/** Times of at least `minNs` when nothing runs on the device: start, end, start, end …; the longest 4096. */
export function timelineGaps(rank: RankData, minNs: number): Float64Array {
  const free = timelineIndex(rank).laneById.get('free');
  if (free === undefined) {
    return new Float64Array(0);
  }
  const { startNs, durationNs, count } = free.table;
  const long = Uint32Array.from({ length: count }, (_, i) => i).filter((i) => durationNs[i] >= minNs);
  const kept = long.sort((a, b) => durationNs[b] - durationNs[a]).slice(0, MOST_GAPS).sort((a, b) => startNs[a] - startNs[b]);
  const pairs = new Float64Array(kept.length * 2);
  kept.forEach((gap, i) => {
    pairs[2 * i] = startNs[gap];
    pairs[2 * i + 1] = startNs[gap] + durationNs[gap];
  });
  return pairs;
}
