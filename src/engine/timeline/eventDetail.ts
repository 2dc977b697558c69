import type { EventDetail, EventLink, EventPlace, EventRef, StackFrame } from '../../protocol/timeline';
import { DeviceFlag, EventKind, HostKind, type RankData } from '../profile/columns';
import { counterDetail } from './counterEvents';
import { eventPlace, hostLink, laneOf } from './places';
import { PALETTE } from './palette';
import { framesOfHostEvent } from './stackFrames';

export type DecodeArgs = (rank: RankData, side: 'device' | 'host', index: number) => Promise<readonly (readonly [string, string])[] | undefined>;

type OwnDetail = Omit<EventDetail, keyof EventPlace | 'family' | 'args'>;

const DEVICE_KINDS: Readonly<Record<EventKind, string>> = { [EventKind.Compute]: 'compute', [EventKind.Communication]: 'communication', [EventKind.Copy]: 'copy', [EventKind.Set]: 'set' };
const HOST_KINDS: Readonly<Record<HostKind, string>> = {
  [HostKind.Operator]: 'operator', [HostKind.Runtime]: 'runtime', [HostKind.Python]: 'python', [HostKind.Annotation]: 'annotation',
  [HostKind.Enqueue]: 'enqueue', [HostKind.Dequeue]: 'dequeue', [HostKind.Other]: 'other',
};

/** Everything known about one event; null for an event that does not exist. */
export async function eventDetail(rank: RankData, ref: EventRef & { readonly lane?: string }, decode?: DecodeArgs): Promise<EventDetail | null> {
  if (ref.side === 'counter') {
    return counterDetail(rank, ref.lane, ref.index);
  }
  const lane = laneOf(rank, ref, ref.lane);
  const place = eventPlace(rank, ref, lane);
  if (place === undefined || lane === undefined) {
    return null;
  }
  const family = PALETTE[lane.table.colour[ref.index]].id;
  const base = { ...place, family, mixed: false, graphReplay: false, frames: [], framesFrom: 'none' as const };
  switch (ref.side) {
    case 'step':
      return { ...base, kind: 'step' };
    case 'gap':
      return { ...base, kind: lane.kind };
    case 'host':
      return { ...base, ...hostDetail(rank, ref.index), ...(await decoded(rank, 'host', ref.index, decode)) };
    case 'device':
      return { ...base, ...deviceDetail(rank, ref.index), ...(await decoded(rank, 'device', ref.index, decode)) };
  }
}

/** Arguments are read again from the file; a file that has gone or changed costs the arguments, not the rest. */
async function decoded(rank: RankData, side: 'device' | 'host', index: number, decode: DecodeArgs | undefined): Promise<Pick<EventDetail, 'args'>> {
  try {
    const args = await decode?.(rank, side, index);
    return args === undefined ? {} : { args };
  } catch {
    return {};
  }
}

function deviceDetail(rank: RankData, index: number): OwnDetail {
  const { deviceEvents: events, strings, streams, steps } = rank;
  const launch = hostLink(rank, events.launch[index]);
  const operator = hostLink(rank, events.op[index]);
  const forwardOperator = operator === undefined ? undefined : hostLink(rank, rank.hostEvents.forward[operator.index]);
  return {
    kind: DEVICE_KINDS[events.kind[index] as EventKind] ?? 'other',
    ...text('type', strings.get(events.type[index])), ...text('core', strings.get(events.core[index])),
    ...text('shapes', strings.get(events.shapes[index])), ...text('dtypes', strings.get(events.dtypes[index])),
    ...text('stream', streams[events.stream[index]]?.label ?? ''), ...text('step', steps[events.step[index]]?.name ?? ''),
    mixed: (events.flags[index] & DeviceFlag.Mixed) !== 0, graphReplay: (events.flags[index] & DeviceFlag.GraphReplay) !== 0,
    ...(launch === undefined ? {} : { launch, launchDelayNs: events.startNs[index] - launch.startNs }),
    ...(operator === undefined ? {} : { operator }), ...(forwardOperator === undefined ? {} : { forwardOperator }),
    ...frames(rank, [operator, launch], forwardOperator),
  };
}

function hostDetail(rank: RankData, index: number): OwnDetail {
  const { hostEvents: events, threads } = rank;
  const forwardOperator = hostLink(rank, events.forward[index]);
  const self = hostLink(rank, index);
  return {
    kind: HOST_KINDS[events.kind[index] as HostKind] ?? 'other', mixed: false, graphReplay: false,
    ...text('thread', threads[events.thread[index]]?.label ?? ''),
    ...(forwardOperator === undefined ? {} : { forwardOperator }),
    ...frames(rank, [self], forwardOperator),
  };
}

/** The operator's thread has the Python frames (launches may run on a queue thread); backward kernels borrow their forward's. */
function frames(rank: RankData, own: readonly (EventLink | undefined)[], forward: EventLink | undefined): { readonly frames: readonly StackFrame[]; readonly framesFrom: EventDetail['framesFrom'] } {
  for (const link of own) {
    const found = link === undefined ? [] : framesOfHostEvent(rank, link.index);
    if (found.length > 0) {
      return { frames: found, framesFrom: 'self' };
    }
  }
  const found = forward === undefined ? [] : framesOfHostEvent(rank, forward.index);
  return { frames: found, framesFrom: found.length > 0 ? 'forward' : 'none' };
}

function text<K extends string>(key: K, value: string): { readonly [P in K]?: string } {
  return value === '' ? {} : { [key]: value } as { readonly [P in K]?: string };
}
