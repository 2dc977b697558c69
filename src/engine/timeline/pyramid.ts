import type { TimelinePyramid } from '../../protocol/timeline';
import type { RankData } from '../profile/columns';
import { busyByte } from './bins';
import { rowCount } from './lane';
import { timelineIndex } from './timelineIndex';
import { PALETTE } from './palette';

const PYRAMID_BYTES = 1000 * 1024;
const MOST_BINS = 4096;
/** Rows of one lane beyond this are left to windows. */
const MOST_ROWS = 1024;

/** Whole recording, all lanes and rows, two bytes a bin; what the view draws wherever no window has arrived yet. */
export function timelinePyramid(rank: RankData, hiddenFamilies: readonly number[] = []): TimelinePyramid {
  const { lanes, extent } = timelineIndex(rank);
  const laneRows = new Uint32Array(lanes.length + 1);
  lanes.forEach((lane, i) => {
    laneRows[i + 1] = laneRows[i] + Math.min(rowCount(lane), MOST_ROWS);
  });
  const rows = laneRows[lanes.length];
  const room = Math.max(1, Math.min(MOST_BINS, Math.floor(PYRAMID_BYTES / 2 / Math.max(rows, 1))));
  const nsPerBin = extent.spanNs / room;
  const busy = new Uint8Array(rows * room);
  const family = new Uint8Array(rows * room);
  const hidden = new Uint8Array(PALETTE.length);
  hiddenFamilies.forEach((value) => {
    hidden[value] = 1;
  });
  const sums = new Float32Array(room * PALETTE.length);
  lanes.forEach((lane, laneNumber) => {
    const { startNs, durationNs, colour } = lane.table;
    for (let row = 0; row < laneRows[laneNumber + 1] - laneRows[laneNumber]; row++) {
      sums.fill(0);
      for (let position = lane.rowStart[row]; position < lane.rowStart[row + 1]; position++) {
        const event = lane.order[position];
        const start = startNs[event] - extent.originNs;
        if (hidden[colour[event]] === 1 || start > extent.spanNs) {
          continue;
        }
        // Zero durations weigh next to nothing but must be seen.
        const end = Math.min(start + (durationNs[event] > 0 ? durationNs[event] : 1e-6), extent.spanNs);
        const last = Math.min(room - 1, Math.floor(end / nsPerBin));
        for (let bin = Math.max(0, Math.min(room - 1, Math.floor(start / nsPerBin))); bin <= last; bin++) {
          const inside = Math.min(end, (bin + 1) * nsPerBin) - Math.max(start, bin * nsPerBin);
          sums[bin * PALETTE.length + colour[event]] += Math.max(inside, 1e-6);
        }
      }
      fold(sums, (laneRows[laneNumber] + row) * room, room, nsPerBin, busy, family);
    }
  });
  return { originNs: extent.originNs, nsPerBin, binCount: room, laneRows, busy, family };
}

function fold(sums: Float32Array, offset: number, bins: number, nsPerBin: number, busy: Uint8Array, family: Uint8Array): void {
  for (let bin = 0; bin < bins; bin++) {
    let total = 0;
    let best = 0;
    const base = bin * PALETTE.length;
    for (let colour = 0; colour < PALETTE.length; colour++) {
      total += sums[base + colour];
      if (sums[base + colour] > sums[base + best]) {
        best = colour;
      }
    }
    if (total > 0) {
      busy[offset + bin] = busyByte(total, nsPerBin);
      family[offset + bin] = best;
    }
  }
}
