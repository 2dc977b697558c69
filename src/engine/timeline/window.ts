import type { LaneRows, TimelineWindow, TimelineWindowParams } from '../../protocol/timeline';
import type { RankData } from '../profile/columns';
import { BinCursor, busyByte } from './bins';
import type { Extent } from './extent';
import { firstEndingAfter, rowCount, type LaneIndex } from './lane';
import type { Level, RowLevels } from './levels';
import { PALETTE } from './palette';
import { timelineIndex, type TimelineIndex } from './timelineIndex';
import { WindowWriter } from './windowWriter';

/** A window is at most 256 KB; a little is kept for the rest of the message. */
const WINDOW_BYTES = 252 * 1024;
const MAXIMUM_PIXELS = 16_384;

interface Range {
  readonly exponent: number;
  readonly originNs: number;
  /** Bins `[firstBin, endBin)` on the grid that starts at the origin. */
  readonly firstBin: number;
  readonly endBin: number;
  readonly hidden: Uint8Array;
}

/**
 * What a stretch of the timeline shows at a given number of pixels. Coarsens until the message fits, so the caller must
 * read `nsPerBin` from the result.
 */
export function timelineWindow(rank: RankData, params: TimelineWindowParams): TimelineWindow {
  const index = timelineIndex(rank);
  const { extent } = index;
  const startNs = Number.isFinite(params.startNs) ? params.startNs : extent.originNs;
  const endNs = params.endNs > startNs ? params.endNs : startNs + 1;
  const pixels = Math.min(Math.max(Math.floor(params.pixels) || 1, 1), MAXIMUM_PIXELS);
  const hiddenFamilies = params.hiddenFamilies ?? [];
  const hidden = new Uint8Array(PALETTE.length);
  hiddenFamilies.forEach((family) => {
    hidden[family] = 1;
  });
  const lanes = params.lanes.filter(({ id }) => index.laneById.has(id));
  let exponent = Math.max(0, Math.ceil(Math.log2((endNs - startNs) / pixels)));
  for (;;) {
    const binNs = 2 ** exponent;
    const range: Range = {
      exponent, originNs: extent.originNs, hidden,
      firstBin: Math.floor((startNs - extent.originNs) / binNs),
      endBin: Math.ceil((endNs - extent.originNs) / binNs),
    };
    const writer = writeWindow(index, lanes, range);
    if (writer !== undefined) {
      return writer.finish({
        requestId: params.requestId, startNs: extent.originNs + range.firstBin * binNs, endNs: extent.originNs + range.endBin * binNs, nsPerBin: binNs, lanes, hiddenFamilies,
      });
    }
    exponent++;
  }
}

/** Undefined as soon as the message is too large. */
function writeWindow(index: TimelineIndex, lanes: readonly LaneRows[], range: Range): WindowWriter | undefined {
  const writer = new WindowWriter();
  const single = range.endBin - range.firstBin <= 1;
  for (const [position, { id, from, to }] of lanes.entries()) {
    const lane = index.laneById.get(id);
    const last = lane === undefined ? 0 : Math.min(to, rowCount(lane));
    for (let row = Math.max(0, from); lane !== undefined && row < last; row++) {
      writer.beginRow(position, row);
      writeRow(writer, lane, row, index.levels(lane, row), range, index.extent);
      // One bin for everything is as coarse as it gets; it is sent whatever its size.
      if (!single && writer.bytes > WINDOW_BYTES) {
        return undefined;
      }
    }
  }
  return writer;
}

function writeRow(writer: WindowWriter, lane: LaneIndex, row: number, levels: RowLevels | undefined, range: Range, extent: Extent): void {
  const binNs = 2 ** range.exponent;
  // Outliers are in no level.
  const inRecording = extent.outliers === 0 || (range.firstBin >= 0 && (range.endBin - 1) * binNs <= extent.spanNs);
  const level = inRecording ? levels?.at(range.exponent) : undefined;
  if (level !== undefined && levels !== undefined) {
    writeFromLevel(writer, lane, levels.colours, level, range);
  } else {
    writeByScan(writer, lane, row, range);
  }
}

function writeByScan(writer: WindowWriter, lane: LaneIndex, row: number, range: Range): void {
  const { startNs, durationNs, colour } = lane.table;
  const binNs = 2 ** range.exponent;
  const endNs = range.originNs + range.endBin * binNs;
  const first = -range.firstBin;
  const cursor = new BinCursor(range.originNs, binNs, range.firstBin, range.endBin, (bin, busyNs, family, count) => {
    writer.bin(bin + first, busyByte(busyNs, binNs), family, count);
  });
  // One bin earlier: a short event that begins there may reach into the window.
  const from = firstEndingAfter(lane, row, range.originNs + range.firstBin * binNs - 1);
  for (let position = from; position < lane.rowStart[row + 1]; position++) {
    const event = lane.order[position];
    const start = startNs[event];
    if (start >= endNs) {
      break;
    }
    if (range.hidden[colour[event]] === 1) {
      continue;
    }
    const duration = durationNs[event] > 0 ? durationNs[event] : 0;
    if (duration > binNs) {
      writeEvent(writer, lane, event, start, duration);
    } else {
      cursor.add(start, duration, colour[event]);
    }
  }
  cursor.finish();
}

function writeFromLevel(writer: WindowWriter, lane: LaneIndex, colours: readonly number[], level: Level, range: Range): void {
  const { startNs, durationNs, colour } = lane.table;
  const binNs = 2 ** range.exponent;
  const rangeStart = range.originNs + range.firstBin * binNs;
  const rangeEnd = range.originNs + range.endBin * binNs;
  const shown = colours.map((value, slot) => ({ value, base: slot * level.bins })).filter(({ value }) => range.hidden[value] === 0);
  for (let bin = Math.max(range.firstBin, 0); bin < Math.min(range.endBin, level.bins); bin++) {
    let busy = 0;
    let count = 0;
    let best = -1;
    let bestBusy = -1;
    for (const { value, base } of shown) {
      const events = level.count[base + bin];
      const time = level.busyNs[base + bin];
      if (events === 0 && time === 0) {
        continue;
      }
      busy += time;
      count += events;
      if (time > bestBusy) {
        bestBusy = time;
        best = value;
      }
    }
    if (best >= 0) {
      writer.bin(bin - range.firstBin, busyByte(busy, binNs), best, count);
    }
  }
  for (let i = firstLongEndingAfter(lane, level.long, rangeStart); i < level.long.length; i++) {
    const event = lane.order[level.long[i]];
    if (startNs[event] >= rangeEnd) {
      break;
    }
    if (range.hidden[colour[event]] === 0) {
      writeEvent(writer, lane, event, startNs[event], durationNs[event]);
    }
  }
}

function firstLongEndingAfter({ order, table: { startNs, durationNs } }: LaneIndex, long: Uint32Array, timeNs: number): number {
  let low = 0;
  let high = long.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const event = order[long[middle]];
    if (startNs[event] + durationNs[event] > timeNs) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

function writeEvent(writer: WindowWriter, { table }: LaneIndex, event: number, startNs: number, durationNs: number): void {
  const key = table.nameId === undefined ? `${table.side}${event}` : table.nameId[event];
  writer.event(startNs, durationNs, event, table.colour[event], table.side === 'gap' ? 'gap' : key, table.nameOf);
}
