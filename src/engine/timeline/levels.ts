import type { Extent } from './extent';
import { firstEndingAfter, type LaneIndex } from './lane';
import { PALETTE } from './palette';

/** Rows with fewer events are scanned on every request: that takes less than a millisecond. */
const MINIMUM_EVENTS = 16_384;
/** Bins of the finest level kept. */
const FINEST_BINS = 65_536;
const COARSEST_BINS = 512;

/** Bins of one resolution: `colours[i]`'s values lie at `i × bins`. Only events of at most `2^exponent` ns are in them. */
export interface Level {
  readonly exponent: number;
  readonly bins: number;
  readonly busyNs: Float32Array;
  readonly count: Uint32Array;
  /** Positions in the lane's order of the longer events. */
  readonly long: Uint32Array;
}

/** Precomputed coarse bins of one row, so that a window over a million events costs as much as its pixels. */
export class RowLevels {
  private constructor(readonly colours: readonly number[], private readonly levels: readonly Level[]) {}

  /** The level of exactly `2^exponent` ns a bin; undefined when events must be scanned instead. */
  at(exponent: number): Level | undefined {
    return this.levels.find((level) => level.exponent === exponent);
  }

  static build(lane: LaneIndex, row: number, extent: Extent): RowLevels | undefined {
    const events = lane.rowStart[row + 1] - lane.rowStart[row];
    if (events < MINIMUM_EVENTS) {
      return undefined;
    }
    const seen = new Uint8Array(PALETTE.length);
    for (let position = lane.rowStart[row]; position < lane.rowStart[row + 1]; position++) {
      seen[lane.table.colour[lane.order[position]]] = 1;
    }
    const colours = [...seen.keys()].filter((colour) => seen[colour] === 1);
    let exponent = 0;
    while (extent.spanNs / 2 ** exponent > FINEST_BINS) {
      exponent++;
    }
    const inside = positionsInside(lane, row, extent);
    const levels = [baseLevel(lane, extent, exponent, colours, inside)];
    while (levels[levels.length - 1].bins > COARSEST_BINS) {
      levels.push(coarser(lane, extent, levels[levels.length - 1], colours));
    }
    return new RowLevels(colours, levels);
  }
}

/** Outliers are not part of the recording; windows over them scan. */
function positionsInside(lane: LaneIndex, row: number, { originNs, spanNs }: Extent): { readonly from: number; readonly to: number } {
  let to = firstEndingAfter(lane, row, originNs + spanNs);
  while (to < lane.rowStart[row + 1] && lane.table.startNs[lane.order[to]] <= originNs + spanNs) {
    to++;
  }
  return { from: firstEndingAfter(lane, row, originNs), to };
}

function emptyLevel(extent: Extent, exponent: number, colours: number): Omit<Level, 'long'> {
  const bins = Math.floor(extent.spanNs / 2 ** exponent) + 1;
  return { exponent, bins, busyNs: new Float32Array(colours * bins), count: new Uint32Array(colours * bins) };
}

function baseLevel(lane: LaneIndex, extent: Extent, exponent: number, colours: readonly number[], { from, to }: { readonly from: number; readonly to: number }): Level {
  const level = emptyLevel(extent, exponent, colours.length);
  const long = new Uint32Array(to - from);
  let longCount = 0;
  addEvents(lane, extent, level, colours, to - from, (i) => from + i, (position) => {
    long[longCount++] = position;
  });
  return { ...level, long: long.slice(0, longCount) };
}

/** Pairs of bins merged, plus the events that were too long for the finer level and are not for this one. */
function coarser(lane: LaneIndex, extent: Extent, fine: Level, colours: readonly number[]): Level {
  const exponent = fine.exponent + 1;
  const level = emptyLevel(extent, exponent, colours.length);
  for (let slot = 0; slot < colours.length; slot++) {
    for (let bin = 0; bin < fine.bins; bin++) {
      level.busyNs[slot * level.bins + (bin >> 1)] += fine.busyNs[slot * fine.bins + bin];
      level.count[slot * level.bins + (bin >> 1)] += fine.count[slot * fine.bins + bin];
    }
  }
  const long = new Uint32Array(fine.long.length);
  let longCount = 0;
  addEvents(lane, extent, level, colours, fine.long.length, (i) => fine.long[i], (position) => {
    long[longCount++] = position;
  });
  return { ...level, long: long.slice(0, longCount) };
}

/** Adds events that fit a bin to the level and hands the longer ones back. */
function addEvents(lane: LaneIndex, extent: Extent, level: Omit<Level, 'long'>, colours: readonly number[], events: number, positionAt: (i: number) => number, tooLong: (position: number) => void): void {
  const { startNs, durationNs, colour } = lane.table;
  const { order } = lane;
  const { originNs } = extent;
  const { busyNs, count, bins } = level;
  const slots = new Uint8Array(PALETTE.length);
  colours.forEach((value, slot) => {
    slots[value] = slot;
  });
  const binNs = 2 ** level.exponent;
  for (let i = 0; i < events; i++) {
    const position = positionAt(i);
    const event = order[position];
    const duration = durationNs[event] > 0 ? durationNs[event] : 0;
    if (duration > binNs) {
      tooLong(position);
      continue;
    }
    const at = Math.max(startNs[event] - originNs, 0);
    const bin = Math.floor(at / binNs);
    const cell = slots[colour[event]] * bins + bin;
    const inside = Math.min(duration, (bin + 1) * binNs - at);
    count[cell]++;
    busyNs[cell] += inside;
    if (duration > inside && bin + 1 < bins) {
      busyNs[cell + 1] += duration - inside;
    }
  }
}
