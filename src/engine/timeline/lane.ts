import type { EventSide, LaneKind } from '../../protocol/timeline';
import type { Rows } from './subLanes';
import { occupiedUntil } from './subLanes';

/** Events a lane draws from: the device or host columns of the rank, or a small derived table. */
export interface EventTable {
  readonly side: Exclude<EventSide, 'counter'>;
  readonly count: number;
  readonly startNs: Float64Array;
  readonly durationNs: Float64Array;
  /** Palette positions. */
  readonly colour: Uint8Array;
  /** String id of the name; undefined for derived tables. */
  readonly nameId?: Uint32Array;
  readonly nameOf: (index: number) => string;
}

export interface LaneIndex extends Rows {
  readonly id: string;
  readonly kind: LaneKind;
  readonly label: string;
  readonly table: EventTable;
  readonly untimed: number;
}

export function rowCount(lane: Rows): number {
  return lane.rowStart.length - 1;
}

/** First position in the row whose event ends after `timeNs`; the row's end when there is none. */
export function firstEndingAfter(lane: LaneIndex, row: number, timeNs: number): number {
  const { order, rowStart, table: { startNs, durationNs } } = lane;
  let low = rowStart[row];
  let high = rowStart[row + 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const event = order[middle];
    if (occupiedUntil(startNs[event], durationNs[event]) > timeNs) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/** Position of an event in its lane, and its row; undefined when the lane does not show it. */
export function findEvent(lane: LaneIndex, index: number): { readonly row: number; readonly position: number } | undefined {
  const start = lane.table.startNs[index];
  for (let row = 0; row < rowCount(lane); row++) {
    const position = firstEndingAfter(lane, row, start);
    if (position < lane.rowStart[row + 1] && lane.order[position] === index) {
      return { row, position };
    }
  }
  return undefined;
}
