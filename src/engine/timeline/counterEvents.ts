import type { EventDetail, EventPlace, NearestParams } from '../../protocol/timeline';
import type { RankData } from '../profile/columns';
import { counterIndex, firstAfter } from './counterLanes';

/** A value of a counter as an event: it begins at its time and lasts until the next value, or nobody knows how long. */
export function counterPlace(rank: RankData, laneId: string | undefined, index: number): EventPlace | undefined {
  const lane = counterIndex(rank).byId.get(laneId ?? '');
  if (lane === undefined || !Number.isInteger(index) || index < 0 || index >= lane.timeNs.length) {
    return undefined;
  }
  const startNs = lane.timeNs[index];
  const durationNs = index + 1 < lane.timeNs.length ? lane.timeNs[index + 1] - startNs : NaN;
  return { side: 'counter', index, startNs, durationNs, name: lane.label, lane: lane.id, row: 0 };
}

export function counterDetail(rank: RankData, laneId: string | undefined, index: number): EventDetail | null {
  const place = counterPlace(rank, laneId, index);
  const lane = counterIndex(rank).byId.get(laneId ?? '');
  if (place === undefined || lane === undefined) {
    return null;
  }
  return { ...place, kind: 'counter', family: 'counter', mixed: false, graphReplay: false, frames: [], framesFrom: 'none', value: lane.value[index], unit: lane.unit };
}

/** The value that holds at a time, else the first one; null where the lane is no counter. */
export function nearestCounter(rank: RankData, { lane: laneId, timeNs }: NearestParams): EventPlace | null {
  const lane = counterIndex(rank).byId.get(laneId);
  return lane === undefined ? null : counterPlace(rank, laneId, Math.max(0, firstAfter(lane.timeNs, timeNs) - 1)) ?? null;
}
