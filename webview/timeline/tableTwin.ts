import type { EventSide } from '../../src/protocol/timeline';
import { fillElement, h } from '../shared/dom';
import type { Words } from '../shared/words';
import { formatCounter, formatScale } from './counterFormat';
import { visibleColumns, type CounterStore } from './counterStore';
import { formatExactNs } from './format';
import { visibleRows, type Geometry, type VisibleRow } from './geometry';
import { laneName } from './laneLabels';
import { familyName } from './legend';
import type { TimelineModel } from './model';
import { rowKey, type WindowStore } from './windows';

const MOST_ROWS = 300;

export interface TableRow {
  readonly lane: string;
  readonly side: EventSide;
  readonly row: number;
  readonly index: number;
  readonly name: string;
  readonly family: string;
  readonly startNs: number;
  readonly durationNs: number;
}

/** Events on screen that are drawn one by one, and values of counters, lane after lane; `binned` counts those that are too short for that. */
export function eventsOnScreen(words: Words, model: TimelineModel, windows: WindowStore, counters: CounterStore, geometry: Geometry, height: number): { readonly rows: readonly TableRow[]; readonly more: number; readonly binned: number } {
  const startNs = model.warp.toTime(model.viewport.from);
  const endNs = model.warp.toTime(model.viewport.to);
  const rows: TableRow[] = [];
  let more = 0;
  let binned = 0;
  for (const { box, row } of visibleRows(geometry, model.scrollTop, height)) {
    if (box.lane.kind === 'counter') {
      const found = counterRows(words, counters, box, startNs, endNs);
      const room = Math.max(0, MOST_ROWS - rows.length);
      rows.push(...found.rows.slice(0, room));
      more += Math.max(0, found.rows.length - room);
      binned += found.binned;
      continue;
    }
    const key = rowKey(box.lane.id, row);
    const window = windows.bestFor(key, startNs, endNs);
    const part = window?.rows.get(key);
    if (window === undefined || part === undefined) {
      continue;
    }
    const { events, bins, names, nsPerBin } = window.data;
    for (let i = part.eventFrom; i < part.eventTo; i++) {
      const start = events.baseNs + events.start[i];
      if (start + events.duration[i] < startNs || start > endNs || model.hiddenFamilies.has(events.family[i])) {
        continue;
      }
      if (rows.length >= MOST_ROWS) {
        more++;
        continue;
      }
      rows.push({ lane: box.lane.id, side: box.lane.side, row, index: events.index[i], name: names[events.name[i]] ?? '', family: model.layout.families[events.family[i]].id, startNs: start, durationNs: events.duration[i] });
    }
    let at = part.binFrom;
    for (let segment = part.segmentFrom; segment < part.segmentTo; segment++) {
      for (let bin = 0; bin < bins.segments[2 * segment + 1]; bin++, at++) {
        const from = window.data.startNs + (bins.segments[2 * segment] + bin) * nsPerBin;
        binned += from >= startNs && from < endNs ? bins.count[at] : 0;
      }
    }
  }
  return { rows, more, binned };
}

/** One row a column: its value, or the range of its values where it has several. */
function counterRows(words: Words, counters: CounterStore, { lane }: VisibleRow['box'], startNs: number, endNs: number): { readonly rows: readonly TableRow[]; readonly binned: number } {
  const columns = counters.columns(lane.id, startNs, endNs);
  if (columns === undefined) {
    return { rows: [], binned: 0 };
  }
  const { timeNs, value, low, high, count } = columns.data;
  const visible = visibleColumns(columns, startNs, endNs);
  let binned = 0;
  const rows = Array.from({ length: visible.to - visible.from }, (_, i): TableRow => {
    const column = visible.from + i;
    binned += count[column] - 1;
    const until = column + 1 < columns.to ? timeNs[column + 1] : columns.untilNs;
    const unit = lane.unit ?? '';
    const name = Number.isNaN(value[column]) ? words.t('timeline.valueUnknown') : count[column] > 1 ? formatScale(words, low[column], high[column], unit) : formatCounter(words, value[column], unit);
    return { lane: lane.id, side: 'counter', row: 0, index: -1, name, family: '', startNs: timeNs[column], durationNs: until > timeNs[column] ? until - timeNs[column] : NaN };
  });
  return { rows, binned };
}

/** The picture as a table: what is on screen, in reading order. */
export function drawTable(body: HTMLElement, words: Words, model: TimelineModel, events: ReturnType<typeof eventsOnScreen>, actions: { readonly goTo: (row: TableRow) => void; readonly save: (text: string) => void }): void {
  const { rows, more, binned } = events;
  const name = (row: TableRow): string => (row.side === 'gap' ? words.t(`timeline.lane.${row.lane}`) : row.name);
  const lane = (id: string): string => {
    const found = model.lane(id);
    return found === undefined ? id : laneName(words, found);
  };
  const cells = (row: TableRow): readonly string[] => [lane(row.lane), name(row), row.family === '' ? '' : familyName(words, row.family), formatExactNs(words, row.startNs - model.layout.originNs), formatExactNs(words, row.durationNs)];
  const heads = ['column.lane', 'column.name', 'column.family', 'timeline.detail.start', 'timeline.detail.duration'].map((code) => words.t(code));
  const csv = (): string => [heads, ...rows.map(cells)].map((line) => line.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n');
  fillElement(body,
    h('p', { class: 'muted note' }, words.t('timeline.table.note', { shown: words.number(rows.length), more: words.number(more), binned: words.number(binned) }), ' ',
      h('button', { class: 'link', onclick: () => actions.save(csv()) }, words.t('timeline.saveCsv'))),
    h('table', { class: 'plain', 'aria-label': words.t('timeline.tab.table') }, h('thead', {}, h('tr', {}, heads.map((head, i) => h('th', { scope: 'col', class: i > 2 ? 'number' : '' }, head)))),
      h('tbody', {}, rows.map((row) => h('tr', {}, cells(row).map((cell, i) => h('td', { class: i > 2 ? 'number' : '' }, i === 1 ? h('button', { class: 'link', onclick: () => actions.goTo(row) }, cell) : cell)))))));
}
