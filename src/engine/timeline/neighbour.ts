import type { EventPlace, NearestParams, NeighbourParams } from '../../protocol/timeline';
import type { RankData } from '../profile/columns';
import { counterPlace, nearestCounter } from './counterEvents';
import { findEvent, firstEndingAfter, rowCount } from './lane';
import { eventPlace, laneOf } from './places';
import { timelineIndex } from './timelineIndex';

/** The previous or next event on the same sub-lane, or of the same name; null at the end. */
export function neighbour(rank: RankData, { from, direction, by, lane: laneId }: NeighbourParams): EventPlace | null {
  if (from.side === 'counter') {
    return counterPlace(rank, laneId, from.index + direction) ?? null;
  }
  const lane = (laneId === undefined ? undefined : timelineIndex(rank).laneById.get(laneId)) ?? laneOf(rank, from);
  if (lane === undefined || lane.table.side !== from.side) {
    return null;
  }
  if (by === 'row') {
    const at = findEvent(lane, from.index);
    const position = at === undefined ? -1 : at.position + direction;
    const inRow = at !== undefined && position >= lane.rowStart[at.row] && position < lane.rowStart[at.row + 1];
    return inRow ? eventPlace(rank, { side: from.side, index: lane.order[position] }, lane) ?? null : null;
  }
  const { table } = lane;
  const same = table.nameId === undefined ? (index: number): boolean => table.nameOf(index) === table.nameOf(from.index) : sameName(table.nameId, from.index);
  // Columns are sorted by start, so the next index is the next in time.
  for (let index = from.index + direction; index >= 0 && index < table.count; index += direction) {
    if (same(index) && !Number.isNaN(table.startNs[index])) {
      return eventPlace(rank, { side: from.side, index }) ?? null;
    }
  }
  return null;
}

function sameName(nameId: Uint32Array, index: number): (other: number) => boolean {
  const wanted = nameId[index];
  return (other) => nameId[other] === wanted;
}

/** The event of a lane (or of one of its rows) under a time, else the nearest one; null on an empty lane. */
export function nearest(rank: RankData, params: NearestParams): EventPlace | null {
  const { lane: laneId, row, timeNs } = params;
  const lane = timelineIndex(rank).laneById.get(laneId);
  if (lane === undefined) {
    return nearestCounter(rank, params);
  }
  const { startNs, durationNs } = lane.table;
  let best = -1;
  let bestDistance = Infinity;
  const [from, to] = row === undefined ? [0, rowCount(lane)] : [row, Math.min(row + 1, rowCount(lane))];
  for (let r = from; r < to; r++) {
    const next = firstEndingAfter(lane, r, timeNs);
    for (const position of [next - 1, next]) {
      if (position < lane.rowStart[r] || position >= lane.rowStart[r + 1]) {
        continue;
      }
      const event = lane.order[position];
      const distance = Math.max(0, startNs[event] - timeNs, timeNs - startNs[event] - (durationNs[event] > 0 ? durationNs[event] : 0));
      if (distance < bestDistance) {
        best = event;
        bestDistance = distance;
      }
    }
  }
  return best < 0 ? null : eventPlace(rank, { side: lane.table.side, index: best }, lane) ?? null;
}
