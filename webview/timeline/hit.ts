import type { EventSide } from '../../src/protocol/timeline';
import type { Geometry, VisibleRow } from './geometry';
import { visibleRows } from './geometry';
import type { TimelineModel } from './model';
import { columnAt, type CounterStore } from './counterStore';
import { rowKey, type WindowStore } from './windows';

/** What lies under a point: one event, or a bin of many small ones. */
export interface Hit {
  readonly row: VisibleRow;
  readonly timeNs: number;
  readonly event?: { readonly side: EventSide; readonly index: number; readonly startNs: number; readonly durationNs: number; readonly name: string | undefined; readonly family: number };
  /** A value of a counter that holds at the point (NaN: not known), since when, and what else lies in its column. */
  readonly counter?: { readonly value: number; readonly startNs: number; readonly low: number; readonly high: number; readonly count: number };
  readonly bin?: { readonly busy: number; readonly family: number; readonly count: number; readonly ns: number };
}

const REACH_PIXELS = 3;

/** Undefined outside all rows. */
export function hitTest(model: TimelineModel, windows: WindowStore, counters: CounterStore, geometry: Geometry, x: number, y: number, width: number, height: number): Hit | undefined {
  const row = visibleRows(geometry, model.scrollTop, height).find((candidate) => y >= candidate.y && y < candidate.y + candidate.height + 1);
  if (row === undefined) {
    return undefined;
  }
  const { from, to } = model.viewport;
  const timeNs = model.warp.toTime(from + (x / width) * (to - from));
  const reachNs = ((to - from) / width) * REACH_PIXELS;
  if (row.box.lane.side === 'counter') {
    return { row, timeNs, ...counterHit(model, counters, row.box.lane.id, timeNs, reachNs) };
  }
  const key = rowKey(row.box.lane.id, row.row);
  for (const { data, rows } of [...windows.forRow(key, timeNs, timeNs + 1)].reverse()) {
    const part = rows.get(key);
    if (part === undefined) {
      continue;
    }
    const { events, bins } = data;
    let best = -1;
    let bestDistance = reachNs;
    for (let i = part.eventFrom; i < part.eventTo; i++) {
      const start = events.baseNs + events.start[i];
      const distance = Math.max(0, start - timeNs, timeNs - start - events.duration[i]);
      if (distance < bestDistance && !model.hiddenFamilies.has(events.family[i])) {
        best = i;
        bestDistance = distance;
      }
    }
    let at = part.binFrom;
    for (let segment = part.segmentFrom; segment < part.segmentTo && bestDistance > 0; segment++) {
      const first = bins.segments[2 * segment];
      const count = bins.segments[2 * segment + 1];
      const bin = Math.floor((timeNs - data.startNs) / data.nsPerBin) - first;
      if (bin >= 0 && bin < count && bins.busy[at + bin] > 0) {
        return { row, timeNs, bin: { busy: bins.busy[at + bin] / 255, family: bins.family[at + bin], count: bins.count[at + bin], ns: data.nsPerBin } };
      }
      at += count;
    }
    if (best >= 0) {
      const startNs = events.baseNs + events.start[best];
      return { row, timeNs, event: { side: row.box.lane.side, index: events.index[best], startNs, durationNs: events.duration[best], name: data.names[events.name[best]], family: events.family[best] } };
    }
  }
  return { row, timeNs };
}

function counterHit(model: TimelineModel, counters: CounterStore, lane: string, timeNs: number, reachNs: number): Pick<Hit, 'counter'> {
  const columns = counters.columns(lane, model.warp.toTime(model.viewport.from), model.warp.toTime(model.viewport.to));
  const column = columns === undefined ? undefined : columnAt(columns, timeNs, reachNs);
  if (columns === undefined || column === undefined) {
    return {};
  }
  const { value, timeNs: times, low, high, count } = columns.data;
  return { counter: { value: value[column], startNs: times[column], low: low[column], high: high[column], count: count[column] } };
}

/** The event edge nearest to a time on the rows on screen, for measuring; undefined when none is within reach. */
export function nearestEdge(model: TimelineModel, windows: WindowStore, row: VisibleRow | undefined, timeNs: number, reachNs: number): number | undefined {
  if (row === undefined) {
    return undefined;
  }
  const key = rowKey(row.box.lane.id, row.row);
  let best: number | undefined;
  for (const { data, rows } of windows.forRow(key, timeNs - reachNs, timeNs + reachNs)) {
    const part = rows.get(key);
    for (let i = part?.eventFrom ?? 0; i < (part?.eventTo ?? 0); i++) {
      const start = data.events.baseNs + data.events.start[i];
      for (const edge of [start, start + data.events.duration[i]]) {
        const distance = Math.abs(edge - timeNs);
        if (distance <= reachNs && (best === undefined || distance < Math.abs(best - timeNs))) {
          best = edge;
        }
      }
    }
  }
  return model.measuring ? best : undefined;
}
