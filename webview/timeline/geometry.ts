import type { LaneRows, TimelineLane } from '../../src/protocol/timeline';
import type { TimelineModel } from './model';

export const AXIS_HEIGHT = 24;
const ROW_HEIGHT: Readonly<Record<TimelineLane['kind'], number>> = { steps: 18, compute: 20, communication: 20, other: 18, 'compute-idle': 16, free: 16, stream: 18, thread: 16, python: 16, counters: 18, counter: 34 };
const FOLDED_HEIGHT = 24;
const LANE_GAP = 5;
/** A folded lane shows the silhouette of its first rows. */
const FOLDED_ROWS = 12;
/** Between lanes of different kinds. */
const SECTION_GAP = 6;

export interface LaneBox {
  readonly lane: TimelineLane;
  readonly pinned: boolean;
  readonly folded: boolean;
  /** Pixels from the top of its zone (pinned or scrolled). */
  readonly top: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly rows: number;
}

export interface Geometry {
  readonly pinned: readonly LaneBox[];
  readonly others: readonly LaneBox[];
  readonly pinnedHeight: number;
  readonly othersHeight: number;
}

const TALLEST = 1.7;

/** Lanes grow a little where `room` (pixels of height) is left over. */
export function measureLanes(model: TimelineModel, room: number): Geometry {
  const plain = measure(model, 1);
  const spare = (room - AXIS_HEIGHT) / (plain.pinnedHeight + plain.othersHeight);
  return spare > 1.05 ? measure(model, Math.min(spare, TALLEST)) : plain;
}

function measure(model: TimelineModel, scale: number): Geometry {
  const { pinned, others } = model.visibleLanes();
  const top = stack(model, pinned, true, scale);
  const rest = stack(model, others, false, scale);
  return { pinned: top.boxes, others: rest.boxes, pinnedHeight: top.height, othersHeight: rest.height };
}

function stack(model: TimelineModel, lanes: readonly TimelineLane[], pinned: boolean, scale: number): { readonly boxes: readonly LaneBox[]; readonly height: number } {
  const boxes: LaneBox[] = [];
  let y = 2;
  let previous: TimelineLane['kind'] | undefined;
  for (const lane of lanes) {
    const folded = (lane.rows > 1 || lane.kind === 'counters') && model.isFolded(lane);
    const silhouette = folded && lane.rows > 1;
    const rows = silhouette ? Math.min(lane.rows, FOLDED_ROWS) : lane.rows;
    const rowHeight = silhouette ? Math.max(1, Math.floor((FOLDED_HEIGHT * scale) / rows)) : Math.floor(ROW_HEIGHT[lane.kind] * scale);
    y += previous !== undefined && group(previous) !== group(lane.kind) ? SECTION_GAP : 0;
    boxes.push({ lane, pinned, folded, top: y, height: rows * rowHeight, rowHeight, rows });
    y += rows * rowHeight + LANE_GAP;
    previous = lane.kind;
  }
  return { boxes, height: lanes.length === 0 ? 0 : y };
}

function group(kind: TimelineLane['kind']): number {
  switch (kind) {
    case 'steps':
    case 'compute':
    case 'communication':
    case 'other':
    case 'compute-idle':
    case 'free':
      return 0;
    case 'stream':
      return 1;
    case 'counters':
    case 'counter':
      return 2;
    case 'thread':
      return 3;
    case 'python':
      return 4;
  }
}

/** One row on screen; `y` in pixels of the canvas. */
export interface VisibleRow {
  readonly box: LaneBox;
  readonly row: number;
  readonly y: number;
  readonly height: number;
}

/** Rows on screen in a canvas of `height` pixels: the pinned zone stays, the rest scrolls below it. */
export function visibleRows(geometry: Geometry, scrollTop: number, height: number): readonly VisibleRow[] {
  const rows: VisibleRow[] = [];
  const add = (boxes: readonly LaneBox[], offset: number, from: number, to: number): void => {
    for (const box of boxes) {
      const top = box.top + offset;
      if (top + box.height <= from || top >= to) {
        continue;
      }
      const first = Math.max(0, Math.floor((from - top) / box.rowHeight));
      const last = Math.min(box.rows, Math.ceil((to - top) / box.rowHeight));
      for (let row = first; row < last; row++) {
        rows.push({ box, row, y: top + row * box.rowHeight, height: box.rowHeight });
      }
    }
  };
  const divider = zoneTop(geometry);
  add(geometry.pinned, AXIS_HEIGHT, AXIS_HEIGHT, Math.min(divider, height));
  add(geometry.others, divider - scrollTop, divider, height);
  return rows;
}

/** Where the scrolled zone begins. */
export function zoneTop(geometry: Geometry): number {
  return AXIS_HEIGHT + (geometry.pinned.length === 0 ? 0 : geometry.pinnedHeight + 3);
}

/** Canvas position of a lane's row, also when it is scrolled out of sight; undefined for hidden lanes. */
export function rowTop(geometry: Geometry, scrollTop: number, laneId: string, row: number): { readonly y: number; readonly height: number; readonly pinned: boolean } | undefined {
  const box = geometry.pinned.find(({ lane }) => lane.id === laneId) ?? geometry.others.find(({ lane }) => lane.id === laneId);
  if (box === undefined) {
    return undefined;
  }
  const offset = box.pinned ? AXIS_HEIGHT : zoneTop(geometry) - scrollTop;
  return { y: offset + box.top + Math.min(row, box.rows - 1) * box.rowHeight, height: box.rowHeight, pinned: box.pinned };
}

/** Counters on screen. */
export function neededCounters(geometry: Geometry, scrollTop: number, height: number): readonly string[] {
  return visibleRows(geometry, scrollTop, height).filter(({ box }) => box.lane.kind === 'counter').map(({ box }) => box.lane.id);
}

/** What a window must hold for the rows on screen and half a screen around them. */
export function neededRows(geometry: Geometry, scrollTop: number, height: number): readonly LaneRows[] {
  const around = visibleRows(geometry, scrollTop, height);
  const needed = new Map<string, { id: string; from: number; to: number }>();
  for (const { box, row } of around) {
    if (box.lane.events === 0 || box.lane.side === 'counter') {
      continue;
    }
    const known = needed.get(box.lane.id);
    if (known === undefined) {
      needed.set(box.lane.id, { id: box.lane.id, from: row, to: row + 1 });
    } else {
      known.to = row + 1;
    }
  }
  // Whole lanes where they are small, so that scrolling by a row does not ask again.
  for (const entry of needed.values()) {
    const box = [...geometry.pinned, ...geometry.others].find(({ lane }) => lane.id === entry.id);
    const rows = box?.rows ?? entry.to;
    entry.from = rows <= 40 ? 0 : Math.max(0, entry.from - 8);
    entry.to = rows <= 40 ? rows : Math.min(rows, entry.to + 8);
  }
  return [...needed.values()];
}
