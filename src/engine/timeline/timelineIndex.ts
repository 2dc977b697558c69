import { busyUnions, selectEvents } from '../analysis/selection';
import { computeIdleIntervals, freeIntervals } from '../analysis/laneFigures';
import type { Intervals } from '../analysis/intervals';
import { EventKind, HostKind, type RankData } from '../profile/columns';
import { recordingExtent, type Extent } from './extent';
import type { EventTable, LaneIndex } from './lane';
import { RowLevels } from './levels';
import { colourIndex, HOST_COLOURS } from './palette';
import { assignRows } from './subLanes';
import type { LaneKind } from '../../protocol/timeline';

/** Everything the requests need beside the columns; built on the first request of a rank and dropped with it. */
export interface TimelineIndex {
  readonly extent: Extent;
  readonly lanes: readonly LaneIndex[];
  readonly laneById: ReadonlyMap<string, LaneIndex>;
  /** Coarse bins of rows with many events; undefined for the others. */
  levels(lane: LaneIndex, row: number): RowLevels | undefined;
}

const indexes = new WeakMap<RankData, TimelineIndex>();

export function timelineIndex(rank: RankData): TimelineIndex {
  const known = indexes.get(rank);
  if (known !== undefined) {
    return known;
  }
  const index = build(rank);
  indexes.set(rank, index);
  return index;
}

function build(rank: RankData): TimelineIndex {
  const extent = recordingExtent(rank);
  const lanes = [stepLane(rank), ...deviceLanes(rank), ...hostLanes(rank)].filter((lane): lane is LaneIndex => lane !== undefined);
  const levels = new Map<string, RowLevels | undefined>();
  return {
    extent,
    lanes,
    laneById: new Map(lanes.map((lane) => [lane.id, lane])),
    levels: (lane, row) => {
      const key = `${lane.id}/${row}`;
      if (!levels.has(key)) {
        levels.set(key, RowLevels.build(lane, row, extent));
      }
      return levels.get(key);
    },
  };
}

function makeLane(id: string, kind: LaneKind, label: string, table: EventTable, events: Uint32Array, untimed = 0): LaneIndex {
  return { id, kind, label, table, untimed, ...assignRows(events, table.startNs, table.durationNs) };
}

/** Start and length of each step: its host range, else what its kernels cover. */
export function stepRanges({ steps, deviceEvents }: RankData): { readonly startNs: Float64Array; readonly durationNs: Float64Array } {
  const startNs = Float64Array.from(steps, (step) => step.startNs);
  const durationNs = Float64Array.from(steps, (step) => step.durationNs);
  const missing = steps.some((step) => Number.isNaN(step.startNs) || Number.isNaN(step.durationNs));
  if (!missing) {
    return { startNs, durationNs };
  }
  const first = new Float64Array(steps.length).fill(Infinity);
  const last = new Float64Array(steps.length).fill(-Infinity);
  for (let i = 0; i < deviceEvents.count; i++) {
    const step = deviceEvents.step[i];
    const start = deviceEvents.startNs[i];
    if (step < 0 || step >= steps.length || Number.isNaN(start)) {
      continue;
    }
    first[step] = Math.min(first[step], start);
    last[step] = Math.max(last[step], start + (deviceEvents.durationNs[i] > 0 ? deviceEvents.durationNs[i] : 0));
  }
  steps.forEach((step, i) => {
    if ((Number.isNaN(step.startNs) || Number.isNaN(step.durationNs)) && last[i] >= first[i]) {
      startNs[i] = first[i];
      durationNs[i] = last[i] - first[i];
    }
  });
  return { startNs, durationNs };
}

function stepLane(rank: RankData): LaneIndex | undefined {
  const { steps } = rank;
  const { startNs, durationNs } = stepRanges(rank);
  const table: EventTable = { side: 'step', count: steps.length, startNs, durationNs, colour: new Uint8Array(steps.length).fill(colourIndex('step')), nameOf: (i) => steps[i].name };
  const { placed, unplaced } = split(table, () => true);
  return steps.length === 0 ? undefined : makeLane('steps', 'steps', '', table, placed, unplaced);
}

function deviceLanes(rank: RankData): readonly LaneIndex[] {
  const { deviceEvents: events, strings, streams } = rank;
  const table: EventTable = {
    side: 'device', count: events.count, startNs: events.startNs, durationNs: events.durationNs, colour: events.family, nameId: events.name, nameOf: (i) => strings.get(events.name[i]),
  };
  const byKind = (id: string, kind: LaneKind, wanted: (event: number) => boolean): LaneIndex => {
    const { placed, unplaced } = split(table, wanted);
    return makeLane(id, kind, '', table, placed, unplaced);
  };
  const unions = busyUnions(events, selectEvents(events));
  const perStream = groupBy(table, events.stream, streams.length);
  return [
    byKind('compute', 'compute', (i) => events.kind[i] === EventKind.Compute),
    byKind('communication', 'communication', (i) => events.kind[i] === EventKind.Communication),
    byKind('other', 'other', (i) => events.kind[i] > EventKind.Communication),
    gapLane('compute-idle', 'idle', computeIdleIntervals(unions)),
    gapLane('free', 'free', freeIntervals(unions)),
    ...streams.map((stream, i) => makeLane(`stream:${i}`, 'stream', stream.label, table, perStream[i].placed, perStream[i].unplaced)).filter(isUsed),
  ];
}

function gapLane(kind: 'compute-idle' | 'free', colour: string, { count, starts, ends }: Intervals): LaneIndex {
  const durationNs = ends.map((end, i) => end - starts[i]);
  const table: EventTable = { side: 'gap', count, startNs: starts, durationNs, colour: new Uint8Array(count).fill(colourIndex(colour)), nameOf: () => '' };
  return makeLane(kind, kind, '', table, Uint32Array.from({ length: count }, (_, i) => i));
}

function hostLanes({ hostEvents: events, strings, threads }: RankData): readonly LaneIndex[] {
  const colour = new Uint8Array(events.count);
  for (let i = 0; i < events.count; i++) {
    colour[i] = HOST_COLOURS[events.kind[i]];
  }
  const table: EventTable = { side: 'host', count: events.count, startNs: events.startNs, durationNs: events.durationNs, colour, nameId: events.name, nameOf: (i) => strings.get(events.name[i]) };
  // Two groups a thread: its calls and operators, and its Python frames.
  const group = new Uint32Array(events.count);
  for (let i = 0; i < events.count; i++) {
    group[i] = events.thread[i] * 2 + (events.kind[i] === HostKind.Python ? 1 : 0);
  }
  const perGroup = groupBy(table, group, threads.length * 2);
  const thread = threads.map((info, i) => makeLane(`thread:${i}`, 'thread', info.label, table, perGroup[2 * i].placed, perGroup[2 * i].unplaced));
  const python = threads.map((info, i) => makeLane(`python:${i}`, 'python', info.label, table, perGroup[2 * i + 1].placed, perGroup[2 * i + 1].unplaced));
  return [...thread, ...python].filter(isUsed);
}

function isUsed(lane: LaneIndex): boolean {
  return lane.order.length + lane.untimed > 0;
}

interface Split {
  readonly placed: Uint32Array;
  readonly unplaced: number;
}

/** Events with a known start, ordered by start (ties: longer first, so that a child never lies above its parent). */
function split(table: EventTable, wanted: (event: number) => boolean): Split {
  const placed = new Uint32Array(table.count);
  let count = 0;
  let unplaced = 0;
  for (let i = 0; i < table.count; i++) {
    if (!wanted(i)) {
      continue;
    }
    if (Number.isNaN(table.startNs[i])) {
      unplaced++;
    } else {
      placed[count++] = i;
    }
  }
  return { placed: ordered(placed.slice(0, count), table), unplaced };
}

function groupBy(table: EventTable, group: Uint32Array | Uint16Array, groups: number): readonly Split[] {
  const sizes = new Uint32Array(groups);
  const unplaced = new Uint32Array(groups);
  for (let i = 0; i < table.count; i++) {
    (Number.isNaN(table.startNs[i]) ? unplaced : sizes)[group[i]]++;
  }
  const lists = Array.from(sizes, (size) => new Uint32Array(size));
  const filled = new Uint32Array(groups);
  for (let i = 0; i < table.count; i++) {
    if (!Number.isNaN(table.startNs[i])) {
      lists[group[i]][filled[group[i]]++] = i;
    }
  }
  return lists.map((list, i) => ({ placed: ordered(list, table), unplaced: unplaced[i] }));
}

/** Columns come sorted by start; only ties and odd inputs need work. */
function ordered(events: Uint32Array, { startNs, durationNs }: EventTable): Uint32Array {
  const compare = (a: number, b: number): number => startNs[a] - startNs[b] || (durationNs[b] || 0) - (durationNs[a] || 0) || a - b;
  for (let i = 1; i < events.length; i++) {
    if (compare(events[i - 1], events[i]) > 0) {
      return events.sort(compare);
    }
  }
  return events;
}
