import type { EventLink, EventPlace, EventRef } from '../../protocol/timeline';
import type { RankData } from '../profile/columns';
import { HostKind } from '../profile/columns';
import { findEvent, type LaneIndex } from './lane';
import { timelineIndex } from './timelineIndex';

/** The lane that owns an event: a device event's stream, a host event's thread or Python lane. */
export function laneOf(rank: RankData, { side, index }: EventRef, gapLane = 'free'): LaneIndex | undefined {
  const { laneById } = timelineIndex(rank);
  switch (side) {
    case 'device':
      return laneById.get(`stream:${rank.deviceEvents.stream[index]}`) ?? laneById.get('compute');
    case 'host':
      return laneById.get(`${rank.hostEvents.kind[index] === HostKind.Python ? 'python' : 'thread'}:${rank.hostEvents.thread[index]}`);
    case 'step':
      return laneById.get('steps');
    case 'gap':
      return laneById.get(gapLane);
    case 'counter':
      // Counters are lanes of their own kind: `counterEvents`.
      return undefined;
  }
}

/** Undefined for an index that does not exist. Events without a start have lane and row, but no place to scroll to. */
export function eventPlace(rank: RankData, ref: EventRef, lane = laneOf(rank, ref)): EventPlace | undefined {
  if (lane === undefined || !Number.isInteger(ref.index) || ref.index < 0 || ref.index >= lane.table.count || lane.table.side !== ref.side) {
    return undefined;
  }
  return {
    side: ref.side, index: ref.index, startNs: lane.table.startNs[ref.index], durationNs: lane.table.durationNs[ref.index],
    name: lane.table.nameOf(ref.index), lane: lane.id, row: findEvent(lane, ref.index)?.row ?? 0,
  };
}

export function hostLink({ hostEvents, strings }: RankData, index: number): EventLink | undefined {
  if (index < 0 || index >= hostEvents.count) {
    return undefined;
  }
  return { side: 'host', index, name: strings.get(hostEvents.name[index]), startNs: hostEvents.startNs[index], durationNs: hostEvents.durationNs[index] };
}
