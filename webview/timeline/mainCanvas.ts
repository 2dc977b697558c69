import type { FlowResult } from '../../src/protocol/timeline';
import type { Words } from '../shared/words';
import type { Theme } from './colours';
import { drawCounters } from './counterPainter';
import type { CounterStore } from './counterStore';
import { drawTicks } from './axis';
import { AXIS_HEIGHT, measureLanes, visibleRows, zoneTop, type Geometry, type VisibleRow } from './geometry';
import { LabelCache } from './labels';
import { Lines } from './lines';
import type { TimelineModel } from './model';
import { drawArea, drawFlow, drawGapMarks, drawMeasure, drawSelection, type OverlayContext } from './overlays';
import { drawPatterns } from './patterns';
import { RowPainter } from './rowPainter';
import type { Surface } from './surface';
import { rowKey, type WindowStore } from './windows';

const LABEL_ROOM = 30;
/** While things move, fewer labels: text is the dearest thing on a canvas. */
const LABELS_MOVING = 250;
const LABELS_STILL = 3000;

/** The zoomed part: axis, lanes, labels, and what lies over them. */
export class MainCanvas {
  geometry: Geometry;
  flow: FlowResult | undefined;
  private readonly lines = new Lines();
  private readonly labels = new LabelCache();
  private readonly painter: RowPainter;
  private readonly laneNumbers: ReadonlyMap<string, number>;

  constructor(private readonly surface: Surface, private readonly model: TimelineModel, private readonly windows: WindowStore, readonly counters: CounterStore, private readonly words: Words, private readonly roomForLanes: () => number) {
    this.painter = new RowPainter(model, windows);
    this.geometry = measureLanes(model, 0);
    this.laneNumbers = new Map(model.layout.lanes.map((lane, i) => [lane.id, i]));
  }

  get width(): number {
    return this.surface.width;
  }

  get height(): number {
    return this.surface.height;
  }

  draw(theme: Theme, moving: boolean): void {
    const { surface, model } = this;
    this.labels.use(theme.font);
    this.geometry = measureLanes(model, this.roomForLanes());
    model.scrollTop = Math.max(0, Math.min(model.scrollTop, this.geometry.othersHeight - (surface.height - zoneTop(this.geometry))));
    const rows = visibleRows(this.geometry, model.scrollTop, surface.height);
    const context = surface.begin(theme.background);
    context.font = theme.font;
    context.textBaseline = 'middle';
    const overlay: OverlayContext = { context, model, theme, words: this.words, geometry: this.geometry, width: surface.width, height: surface.height, toX: (timeNs) => this.toX(timeNs) };
    this.drawBands(context, theme, rows);
    this.drawSteps(context, theme);
    const divider = zoneTop(this.geometry);
    this.paintRows(rows, theme);
    for (const [zone, top, bottom] of [[true, AXIS_HEIGHT, divider], [false, divider, surface.height]] as const) {
      context.save();
      context.beginPath();
      context.rect(0, top, surface.width, Math.max(0, bottom - top));
      context.clip();
      this.stretchRows(context, rows, zone);
      drawCounters(overlay, this.counters, rows.filter(({ box }) => box.pinned === zone));
      drawPatterns(overlay, this.windows, rows.filter(({ box }) => box.pinned === zone));
      this.drawLabels(context, theme, rows.filter(({ box }) => box.pinned === zone), moving ? LABELS_MOVING : LABELS_STILL);
      drawSelection(overlay, this.windows, rows.filter(({ box }) => box.pinned === zone));
      context.restore();
    }
    drawFlow(overlay, this.flow);
    drawGapMarks(overlay);
    drawArea(overlay);
    this.drawAxis(context, theme);
    drawMeasure(overlay);
    if (this.geometry.pinned.length > 0) {
      context.fillStyle = theme.line;
      context.fillRect(0, divider - 2, surface.width, 1);
    }
  }

  toX(timeNs: number): number {
    const { from, to } = this.model.viewport;
    return ((this.model.warp.toDisplay(timeNs) - from) / (to - from)) * this.surface.width;
  }

  private paintRows(rows: readonly VisibleRow[], theme: Theme): void {
    const { from, to } = this.model.viewport;
    const width = Math.max(1, Math.round(this.surface.width * this.surface.ratio));
    const scale = { from, pixelsPerNs: width / (to - from), width };
    this.lines.prepare(width, rows.length);
    rows.forEach(({ box, row }, i) => {
      if (box.lane.side === 'counter') {
        return;
      }
      this.painter.paint(this.lines.line(i), box.lane.id, this.laneNumber(box.lane.id), row, scale, theme);
    });
    this.lines.upload(rows.length);
  }

  private laneNumber(id: string): number {
    return this.laneNumbers.get(id) ?? -1;
  }

  private stretchRows(context: CanvasRenderingContext2D, rows: readonly VisibleRow[], pinned: boolean): void {
    rows.forEach(({ box, y, height }, i) => {
      if (box.pinned === pinned && box.lane.side !== 'counter') {
        this.lines.stretch(context, i, 0, y, this.surface.width, height > 4 ? height - 1 : height);
      }
    });
  }

  private drawBands(context: CanvasRenderingContext2D, theme: Theme, rows: readonly VisibleRow[]): void {
    const seen = new Set<string>();
    for (const { box, y, row } of rows) {
      if (seen.has(box.lane.id)) {
        continue;
      }
      seen.add(box.lane.id);
      context.fillStyle = theme.stripe;
      const top = y - row * box.rowHeight;
      context.fillRect(0, top - 1, this.surface.width, box.height + 1);
      if (box.lane.id === this.model.focusLane) {
        context.strokeStyle = theme.focus;
        context.strokeRect(0.5, top - 1.5, this.surface.width - 1, box.height + 2);
      }
    }
  }

  private drawSteps(context: CanvasRenderingContext2D, theme: Theme): void {
    context.fillStyle = theme.line;
    for (const step of this.model.layout.steps) {
      if (step.source !== 'window') {
        context.fillRect(Math.round(this.toX(step.startNs)), AXIS_HEIGHT, 1, this.surface.height);
        context.fillRect(Math.round(this.toX(step.endNs)), AXIS_HEIGHT, 1, this.surface.height);
      }
    }
  }

  private drawAxis(context: CanvasRenderingContext2D, theme: Theme): void {
    const { warp, viewport, layout } = this.model;
    context.fillStyle = theme.background;
    context.fillRect(0, 0, this.surface.width, AXIS_HEIGHT - 1);
    context.fillStyle = theme.line;
    context.fillRect(0, AXIS_HEIGHT - 1, this.surface.width, 1);
    context.fillStyle = theme.muted;
    context.textAlign = 'left';
    drawTicks(context, this.words, { warp, viewport, originNs: layout.originNs, width: this.surface.width, tickTop: AXIS_HEIGHT - 7, tickHeight: 6, middle: AXIS_HEIGHT / 2 - 1 });
  }

  private drawLabels(context: CanvasRenderingContext2D, theme: Theme, rows: readonly VisibleRow[], most: number): void {
    const { warp, viewport, hiddenFamilies } = this.model;
    const startNs = warp.toTime(viewport.from);
    const endNs = warp.toTime(viewport.to);
    let left = most;
    context.textAlign = 'left';
    for (const { box, row, y, height } of rows) {
      if (box.rowHeight < 12) {
        continue;
      }
      const key = rowKey(box.lane.id, row);
      const window = this.windows.bestFor(key, startNs, endNs);
      const part = window?.rows.get(key);
      for (let i = part?.eventFrom ?? 0; window !== undefined && i < (part?.eventTo ?? 0) && left > 0; i++) {
        const { events, names } = window.data;
        const start = events.baseNs + events.start[i];
        if (start > endNs) {
          break;
        }
        const x0 = Math.max(0, this.toX(start));
        const room = Math.min(this.surface.width, this.toX(start + events.duration[i])) - x0 - 8;
        const name = names[events.name[i]];
        if (room < LABEL_ROOM || name === undefined || hiddenFamilies.has(events.family[i])) {
          continue;
        }
        const text = this.labels.fit(context, box.lane.side === 'gap' ? this.words.t(`timeline.lane.${box.lane.kind}`) : name, events.duration[i], room);
        if (text !== '') {
          if (theme.highContrast) {
            // Letters do not compete with the hatching.
            context.fillStyle = theme.families[events.family[i]].css;
            context.fillRect(x0 + 2, y + height / 2 - 7, context.measureText(text).width + 4, 14);
          }
          context.fillStyle = theme.families[events.family[i]].text;
          context.fillText(text, x0 + 4, y + height / 2);
          left--;
        }
      }
    }
  }
}
