import { EventKind, type DeviceEvents } from '../profile/columns';
import { IntervalBuilder, type Intervals } from './intervals';

/** The device events of a window: a whole recording, or one step (the events *assigned* to it, wherever they ran in time). */
export interface Selection {
  /** Rows with a known start, ascending by start (ties in row order). */
  readonly rows: Uint32Array;
  /** Rows whose start is unknown: counted, in no figure of time order. */
  readonly unplaced: Uint32Array;
}

export function isKernel(kind: number): boolean {
  return kind === EventKind.Compute || kind === EventKind.Communication;
}

/** `step` is an index into `RankData.steps`; undefined selects everything. */
export function selectEvents(events: DeviceEvents, step?: number): Selection {
  const { count, startNs } = events;
  const rows = new Uint32Array(count);
  const unplaced = new Uint32Array(count);
  let placedCount = 0;
  let unplacedCount = 0;
  let previous = -Infinity;
  let sorted = true;
  for (let row = 0; row < count; row++) {
    if (step !== undefined && events.step[row] !== step) {
      continue;
    }
    const start = startNs[row];
    if (Number.isNaN(start)) {
      unplaced[unplacedCount++] = row;
      continue;
    }
    sorted &&= start >= previous;
    previous = start;
    rows[placedCount++] = row;
  }
  const placed = rows.slice(0, placedCount);
  if (!sorted) {
    placed.sort((a, b) => startNs[a] - startNs[b] || a - b);
  }
  return { rows: placed, unplaced: unplaced.slice(0, unplacedCount) };
}

/** The selection of every step at once, in one pass: a thousand steps must not read the table a thousand times. */
export function selectSteps(events: DeviceEvents, steps: number, whole: Selection = selectEvents(events)): readonly Selection[] {
  const split = (rows: Uint32Array): readonly Uint32Array[] => {
    const sizes = new Uint32Array(steps);
    for (let i = 0; i < rows.length; i++) {
      const step = events.step[rows[i]];
      if (step >= 0 && step < steps) {
        sizes[step]++;
      }
    }
    const parts = Array.from(sizes, (size) => new Uint32Array(size));
    sizes.fill(0);
    for (let i = 0; i < rows.length; i++) {
      const step = events.step[rows[i]];
      if (step >= 0 && step < steps) {
        parts[step][sizes[step]++] = rows[i];
      }
    }
    return parts;
  };
  const rows = split(whole.rows);
  const unplaced = split(whole.unplaced);
  return rows.map((part, i) => ({ rows: part, unplaced: unplaced[i] }));
}

/** The unions that all lane figures come from. */
export interface BusyUnions {
  readonly compute: Intervals;
  readonly communication: Intervals;
  /** Compute and communication together. */
  readonly kernels: Intervals;
  /** Copies and sets. */
  readonly copies: Intervals;
  /** First kernel start and last kernel end; NaN when no kernel has both. Kernels of zero length count here. */
  readonly firstNs: number;
  readonly lastNs: number;
}

export function busyUnions(events: DeviceEvents, { rows }: Selection): BusyUnions {
  const compute = new IntervalBuilder(rows.length);
  const communication = new IntervalBuilder();
  const kernels = new IntervalBuilder(rows.length);
  const copies = new IntervalBuilder();
  let firstNs = NaN;
  let lastNs = NaN;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const start = events.startNs[row];
    const end = start + events.durationNs[row];
    if (Number.isNaN(end)) {
      continue;
    }
    const kind = events.kind[row];
    if (!isKernel(kind)) {
      copies.add(start, end);
      continue;
    }
    kernels.add(start, end);
    if (kind === EventKind.Communication) {
      communication.add(start, end);
    } else {
      compute.add(start, end);
    }
    if (Number.isNaN(firstNs)) {
      firstNs = start;
      lastNs = end;
    } else if (end > lastNs) {
      lastNs = end;
    }
  }
  return { compute: compute.finish(), communication: communication.finish(), kernels: kernels.finish(), copies: copies.finish(), firstNs, lastNs };
}
