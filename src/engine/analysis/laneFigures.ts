import type { LaneFigures } from '../../protocol/report';
import { EventKind, type DeviceEvents, type RankData, type StreamInfo } from '../profile/columns';
import { clip, gaps, lengthOf, overlapLength, unite, type Intervals } from './intervals';
import { type BusyUnions, type Selection } from './selection';
import { microseconds } from './units';

const UNKNOWN: LaneFigures = {
  computeBusyUs: null, communicationBusyUs: null, copyBusyUs: null, overlappedUs: null, exposedCommunicationUs: null, exposedCopyUs: null,
  computeIdleUs: null, mainStreamIdleUs: null, freeUs: null,
};

/**
 * Where the device's time went between the first kernel's start and the last kernel's end:
 * `span = computeBusy + computeIdle` and `computeIdle = exposedCommunication + exposedCopy + free`, exactly, in integer ns.
 * Copies outside that span are in `copyBusy` only.
 */
export function laneFigures(data: RankData, selection: Selection, unions: BusyUnions): LaneFigures {
  const { deviceEvents: events, streams } = data;
  const { firstNs, lastNs } = unions;
  const copyBusyNs = lengthOf(unions.copies);
  const copiesKnown = unions.copies.count > 0 || recordsCopies(data);
  if (Number.isNaN(firstNs)) {
    return { ...UNKNOWN, copyBusyUs: unions.copies.count === 0 ? null : copyBusyNs / 1000 };
  }
  const computeBusyNs = lengthOf(unions.compute);
  const communicationBusyNs = lengthOf(unions.communication);
  const overlappedNs = overlapLength(unions.communication, unions.compute);
  const copies = clip(unions.copies, firstNs, lastNs);
  const exposedCopyNs = lengthOf(copies) - overlapLength(copies, unions.kernels);
  const allBusyNs = lengthOf(unions.kernels) + exposedCopyNs;
  const spanNs = lastNs - firstNs;
  return {
    computeBusyUs: computeBusyNs / 1000,
    communicationBusyUs: communicationBusyNs / 1000,
    copyBusyUs: copiesKnown ? copyBusyNs / 1000 : null,
    overlappedUs: overlappedNs / 1000,
    exposedCommunicationUs: (communicationBusyNs - overlappedNs) / 1000,
    exposedCopyUs: copiesKnown ? exposedCopyNs / 1000 : null,
    computeIdleUs: (spanNs - computeBusyNs) / 1000,
    mainStreamIdleUs: microseconds(mainStreamIdleNs(events, selection, unions, streams)),
    freeUs: (spanNs - allBusyNs) / 1000,
  };
}

/** An Ascend kernel table lists no copies; only the trace or the database does. Without either, nothing is known about them. */
export function recordsCopies({ backend, hostEvents, deviceEvents: { kind } }: RankData): boolean {
  return backend !== 'ascend' || hostEvents.count > 0 || kind.some((each) => each === EventKind.Copy || each === EventKind.Set);
}

/** Nothing runs at all: the gaps between the first kernel's start and the last kernel's end. */
export function freeIntervals(unions: BusyUnions): Intervals {
  return gaps(unite(unions.kernels, unions.copies), unions.firstNs, unions.lastNs);
}

/** No compute kernel runs: the lane the article draws red. */
export function computeIdleIntervals(unions: BusyUnions): Intervals {
  return gaps(unions.compute, unions.firstNs, unions.lastNs);
}

/** The stream with most summed compute time (the lowest index wins a tie); undefined where streams are not known. */
export function mainStream(events: DeviceEvents, { rows }: Selection, streams: readonly StreamInfo[]): number | undefined {
  const totals = new Float64Array(streams.length);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    if (events.kind[row] === EventKind.Compute && events.durationNs[row] > 0) {
      totals[events.stream[row]] += events.durationNs[row];
    }
  }
  let best: number | undefined;
  for (let i = 0; i < totals.length; i++) {
    if (streams[i].stream !== undefined && totals[i] > (best === undefined ? 0 : totals[best])) {
      best = i;
    }
  }
  return best;
}

/** Idle time of the main stream between the first kernel's start and the last kernel's end of the whole window. */
function mainStreamIdleNs(events: DeviceEvents, selection: Selection, unions: BusyUnions, streams: readonly StreamInfo[]): number {
  const stream = mainStream(events, selection, streams);
  if (stream === undefined) {
    return NaN;
  }
  // Rows come by start, so what lies after the latest end so far is new busy time; outside the span nothing counts.
  let busyNs = 0;
  let coveredNs = unions.firstNs;
  const { rows } = selection;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const from = Math.max(events.startNs[row], coveredNs);
    const end = Math.min(events.startNs[row] + events.durationNs[row], unions.lastNs);
    if (events.stream[row] === stream && end > from) {
      busyNs += end - from;
      coveredNs = end;
    }
  }
  return unions.lastNs - unions.firstNs - busyNs;
}
