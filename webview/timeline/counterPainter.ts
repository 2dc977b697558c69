import type { Words } from '../shared/words';
import type { Theme } from './colours';
import { formatScale } from './counterFormat';
import { visibleColumns, type CounterStore, type VisibleCounter } from './counterStore';
import type { VisibleRow } from './geometry';
import type { TimelineModel } from './model';

const FILL = 0.3;
/** A value that holds for less is still seen. */
const LEAST_PIXELS = 2;
const LABEL_HEIGHT = 13;
/** Lower lanes have no room for their scale. */
const LABELLED_HEIGHT = 22;

export interface CounterCanvas {
  readonly context: CanvasRenderingContext2D;
  readonly model: TimelineModel;
  readonly theme: Theme;
  readonly words: Words;
  readonly width: number;
  readonly toX: (timeNs: number) => number;
}

/** Counters as filled steps, each lane on its own scale: from the lowest to the highest value in sight. Nothing is drawn where nothing is known. */
export function drawCounters(canvas: CounterCanvas, store: CounterStore, rows: readonly VisibleRow[]): void {
  const { model } = canvas;
  const startNs = model.warp.toTime(model.viewport.from);
  const endNs = model.warp.toTime(model.viewport.to);
  for (const row of rows) {
    if (row.box.lane.kind !== 'counter') {
      continue;
    }
    const columns = store.columns(row.box.lane.id, startNs, endNs);
    if (columns !== undefined) {
      const visible = visibleColumns(columns, startNs, endNs);
      drawSteps(canvas, columns.data, visible, visible.to === columns.to ? columns.untilNs : columns.data.timeNs[visible.to], row);
      drawScale(canvas, visible, row);
    }
  }
}

/** `untilNs`: how long the last visible value is known to hold. */
function drawSteps({ context, theme, width, toX }: CounterCanvas, data: { readonly timeNs: Float64Array; readonly value: Float64Array; readonly low: Float64Array; readonly high: Float64Array }, { from, to, low, high }: VisibleCounter, untilNs: number, { y, height }: VisibleRow): void {
  const bottom = y + height - 2;
  const room = height - 5;
  // One value alone has no scale: half way up, or flat for a 0.
  const toY = (value: number): number => bottom - (high > low ? 1 + ((value - low) / (high - low)) * (room - 1) : low === 0 ? 0 : room / 2);
  const clamped = (timeNs: number): number => Math.max(-LEAST_PIXELS, Math.min(width + LEAST_PIXELS, toX(timeNs)));
  const line = new Path2D();
  const area = new Path2D();
  let open = false;
  const close = (x: number, at: number): void => {
    line.lineTo(x, at);
    area.lineTo(x, at);
    area.lineTo(x, bottom);
    area.closePath();
    open = false;
  };
  let held = NaN;
  for (let column = from; column < to; column++) {
    const x = clamped(data.timeNs[column]);
    const next = data.value[column];
    const [least, most] = [data.low[column], data.high[column]];
    if (open) {
      line.lineTo(x, held);
      area.lineTo(x, held);
    } else if (!Number.isNaN(most)) {
      open = true;
      line.moveTo(x, toY(most));
      area.moveTo(x, bottom);
    }
    if (!Number.isNaN(most) && x >= 0) {
      for (const path of [line, area]) {
        path.lineTo(x, toY(most));
        path.lineTo(x, toY(least));
      }
    }
    if (open && Number.isNaN(next)) {
      close(x + (Number.isNaN(most) ? 0 : LEAST_PIXELS), Number.isNaN(most) ? held : toY(least));
    } else if (open) {
      held = toY(next);
      line.lineTo(x, held);
      area.lineTo(x, held);
    }
  }
  if (open) {
    const last = clamped(data.timeNs[to - 1]);
    close(Math.max(clamped(untilNs), last + LEAST_PIXELS), held);
  }
  context.fillStyle = theme.counter;
  context.globalAlpha = FILL;
  context.fill(area);
  context.globalAlpha = 1;
  context.strokeStyle = theme.counter;
  context.lineWidth = 1;
  context.stroke(line);
}

function drawScale({ context, theme, words }: CounterCanvas, { low, high }: VisibleCounter, { box, y, height }: VisibleRow): void {
  const text = formatScale(words, low, high, box.lane.unit ?? '');
  if (text === '' || height < LABELLED_HEIGHT) {
    return;
  }
  context.textAlign = 'left';
  // Letters do not compete with the steps behind them.
  context.fillStyle = theme.background;
  context.globalAlpha = theme.highContrast ? 1 : 0.8;
  context.fillRect(2, y + 1, context.measureText(text).width + 6, LABEL_HEIGHT);
  context.globalAlpha = 1;
  context.fillStyle = theme.muted;
  context.fillText(text, 5, y + 1 + LABEL_HEIGHT / 2);
}
