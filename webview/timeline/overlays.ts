import type { EventPlace, FlowResult } from '../../src/protocol/timeline';
import type { Words } from '../shared/words';
import type { Theme } from './colours';
import { formatNs } from './format';
import { AXIS_HEIGHT, rowTop, type Geometry, type VisibleRow } from './geometry';
import type { TimelineModel } from './model';
import { rowKey, type WindowStore } from './windows';

export interface OverlayContext {
  readonly context: CanvasRenderingContext2D;
  readonly model: TimelineModel;
  readonly theme: Theme;
  readonly words: Words;
  readonly geometry: Geometry;
  readonly width: number;
  readonly height: number;
  readonly toX: (timeNs: number) => number;
}

const MOST_FLOWS = 60;

/** Outline of the selected event, a mark above events of the same name, and below search hits. */
export function drawSelection(overlay: OverlayContext, windows: WindowStore, rows: readonly VisibleRow[]): void {
  const { context, model, theme } = overlay;
  const { selection } = model;
  if (selection !== undefined) {
    markAlike(overlay, windows, rows, selection.name);
    for (const { box, row, y, height } of rows) {
      // A device event lies on its stream and on an aggregate lane; both show it.
      const same = box.lane.id === selection.lane ? row === selection.row : box.lane.side === selection.side && selection.side === 'device' && holds(windows, box.lane.id, row, selection);
      if (same) {
        outline(overlay, selection, y, height, theme.foreground);
      }
    }
  }
  context.fillStyle = theme.highlight;
  for (const hit of model.hits) {
    const target = rows.find(({ box, row }) => box.lane.id === hit.lane && (row === hit.row || box.folded));
    if (target !== undefined) {
      const x = overlay.toX(hit.startNs);
      context.fillRect(x, target.y + target.height - 3, Math.max(2, overlay.toX(hit.startNs + (hit.durationNs || 0)) - x), 2);
    }
  }
}

function holds(windows: WindowStore, lane: string, row: number, { index, startNs }: EventPlace): boolean {
  const key = rowKey(lane, row);
  const window = windows.bestFor(key, startNs, startNs + 1);
  const part = window?.rows.get(key);
  return window !== undefined && part !== undefined && window.data.events.index.subarray(part.eventFrom, part.eventTo).includes(index);
}

function outline({ context, toX, width }: OverlayContext, place: EventPlace, y: number, height: number, colour: string): void {
  const x0 = Math.max(-4, Math.round(toX(place.startNs)));
  const x1 = Math.min(width + 4, Math.max(x0 + 2, Math.round(toX(place.startNs + (place.durationNs > 0 ? place.durationNs : 0)))));
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(x0 - 1, y, x1 - x0 + 1, height - 1);
  context.lineWidth = 1;
}

function markAlike({ context, model, theme, toX }: OverlayContext, windows: WindowStore, rows: readonly VisibleRow[], name: string): void {
  const startNs = model.warp.toTime(model.viewport.from);
  const endNs = model.warp.toTime(model.viewport.to);
  context.fillStyle = theme.foreground;
  const wanted = name.slice(0, 96);
  for (const { box, row, y } of rows) {
    const key = rowKey(box.lane.id, row);
    const window = windows.bestFor(key, startNs, endNs);
    const part = window?.rows.get(key);
    const id = window?.data.names.indexOf(wanted) ?? -1;
    for (let i = part?.eventFrom ?? 0; window !== undefined && id >= 0 && box.rowHeight > 6 && i < (part?.eventTo ?? 0); i++) {
      if (window.data.events.name[i] === id) {
        const start = window.data.events.baseNs + window.data.events.start[i];
        const x = toX(start);
        context.fillRect(x, y, Math.max(2, toX(start + window.data.events.duration[i]) - x - 1), 2);
      }
    }
  }
}

/** Curves between launch call, operator and kernels of the selected event. */
export function drawFlow(overlay: OverlayContext, flow: FlowResult | undefined): void {
  if (flow === undefined || flow.launch === null && flow.operator === null) {
    return;
  }
  const { context, theme } = overlay;
  context.save();
  context.beginPath();
  context.rect(0, AXIS_HEIGHT, overlay.width, overlay.height);
  context.clip();
  context.strokeStyle = theme.foreground;
  context.fillStyle = theme.foreground;
  context.lineWidth = 1;
  const source = flow.launch ?? flow.operator;
  if (source !== null) {
    for (const kernel of flow.kernels.slice(0, MOST_FLOWS)) {
      connect(overlay, source, kernel);
    }
  }
  if (flow.launch !== null && flow.operator !== null && flow.launch.lane !== flow.operator.lane) {
    connect(overlay, flow.operator, flow.launch);
  }
  context.restore();
}

function connect(overlay: OverlayContext, from: EventPlace, to: EventPlace): void {
  const { context, geometry, model, toX } = overlay;
  const start = rowTop(geometry, model.scrollTop, from.lane, from.row);
  const end = rowTop(geometry, model.scrollTop, to.lane, to.row);
  if (start === undefined || end === undefined) {
    return;
  }
  const [exact0, exact1] = [toX(from.startNs), toX(to.startNs)];
  if (Math.max(exact0, exact1) < -50 || Math.min(exact0, exact1) > overlay.width + 50) {
    return;
  }
  // An end far out of sight is drawn from just beyond the edge, so that the curve still shows which lane it comes from.
  const [x0, x1] = [exact0, exact1].map((x) => Math.max(-40, Math.min(overlay.width + 40, x)));
  const [y0, y1] = [start.y + start.height / 2, end.y + end.height / 2];
  const bend = Math.abs(x1 - x0) / 2 + 20;
  context.globalAlpha = 0.8;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 6, y1 - 3.5);
  context.lineTo(x1 - 6, y1 + 3.5);
  context.fill();
  context.globalAlpha = 1;
}

export function drawArea({ context, model, theme, toX, height }: OverlayContext): void {
  if (model.area === undefined) {
    return;
  }
  const [x0, x1] = [toX(model.area.from), toX(model.area.to)];
  context.globalAlpha = 0.25;
  context.fillStyle = theme.selection;
  context.fillRect(x0, AXIS_HEIGHT, x1 - x0, height);
  context.globalAlpha = 1;
  context.fillStyle = theme.focus;
  context.fillRect(Math.round(x0), 0, 1, height);
  context.fillRect(Math.round(x1), 0, 1, height);
}

/** The measured stretch with its length in the unit that suits it. */
export function drawMeasure({ context, model, theme, words, toX, height, width }: OverlayContext): void {
  const { measure } = model;
  if (measure === undefined) {
    return;
  }
  const [x0, x1] = [toX(measure.from), toX(measure.to)].sort((a, b) => a - b);
  context.fillStyle = theme.focus;
  context.fillRect(Math.round(x0), AXIS_HEIGHT, 1, height);
  context.fillRect(Math.round(x1), AXIS_HEIGHT, 1, height);
  context.fillRect(x0, AXIS_HEIGHT + 10, x1 - x0, 1);
  const text = formatNs(words, Math.abs(measure.to - measure.from));
  const textWidth = context.measureText(text).width + 12;
  const x = Math.max(0, Math.min(width - textWidth, (x0 + x1 - textWidth) / 2));
  context.fillStyle = theme.background;
  context.fillRect(x, AXIS_HEIGHT + 1, textWidth, 19);
  context.strokeStyle = theme.focus;
  context.strokeRect(x + 0.5, AXIS_HEIGHT + 1.5, textWidth - 1, 18);
  context.fillStyle = theme.foreground;
  context.textAlign = 'left';
  context.fillText(text, x + 6, AXIS_HEIGHT + 11);
}

/** Where time was left out, a dashed line that says how much. */
export function drawGapMarks({ context, model, theme, words, width, height }: OverlayContext): void {
  if (model.warp.isIdentity) {
    return;
  }
  const { from, to } = model.viewport;
  context.strokeStyle = theme.highlight;
  context.fillStyle = theme.muted;
  context.textAlign = 'center';
  context.setLineDash([3, 3]);
  let lastLabel = -Infinity;
  for (const { at, hiddenNs } of model.warp.marks(from, to)) {
    const x = Math.round(((at - from) / (to - from)) * width) + 0.5;
    context.beginPath();
    context.moveTo(x, AXIS_HEIGHT);
    context.lineTo(x, height);
    context.stroke();
    if (x - lastLabel > 90) {
      context.fillText(`// ${formatNs(words, hiddenNs)}`, x, height - 8);
      lastLabel = x;
    }
  }
  context.setLineDash([]);
}
