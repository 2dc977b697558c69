import type { TimelineWindow } from '../../src/protocol/timeline';
import type { Words } from '../shared/words';
import type { Theme } from './colours';
import { drawTicks } from './axis';
import { Lines } from './lines';
import type { TimelineModel, Viewport } from './model';
import { RowPainter } from './rowPainter';
import type { Surface } from './surface';
import { WindowStore, type WindowWish } from './windows';

export const STRIP_LANES = ['compute', 'communication', 'other', 'compute-idle', 'free'];
const AXIS = 16;
const HANDLE = 6;

/** The whole step above: five lanes, and a brush that shows and moves what the lower part displays. */
export class OverviewStrip {
  private readonly lines = new Lines();
  private readonly store: WindowStore;
  private readonly painter: RowPainter;
  private drag: { readonly kind: 'move' | 'from' | 'to' | 'new'; readonly grabbed: number; readonly before: Viewport } | undefined;

  constructor(
    private readonly surface: Surface,
    private readonly model: TimelineModel,
    private readonly words: Words,
    fetchWindow: (wish: WindowWish, signal: AbortSignal) => Promise<TimelineWindow>,
  ) {
    this.store = new WindowStore((wish, _id, signal) => fetchWindow(wish, signal), model.changed, () => undefined);
    this.painter = new RowPainter(model, this.store);
    this.listen();
  }

  draw(theme: Theme): void {
    const { surface, model } = this;
    const { from, to } = model.whole;
    const context = surface.begin(theme.background);
    const lanes = STRIP_LANES.map((id) => model.lane(id)).filter((lane) => lane !== undefined);
    const startNs = model.warp.toTime(from);
    const endNs = model.warp.toTime(to);
    this.store.want({ startNs, endNs, pixels: Math.max(1, Math.round(surface.width)), lanes: lanes.filter(({ events }) => events > 0).map(({ id }) => ({ id, from: 0, to: 1 })), hiddenFamilies: [...model.hiddenFamilies] }, { startNs, endNs });
    const width = Math.max(1, Math.round(surface.width * surface.ratio));
    this.lines.prepare(width, lanes.length);
    lanes.forEach((lane, i) => this.painter.paint(this.lines.line(i), lane.id, model.layout.lanes.indexOf(lane), 0, { from, pixelsPerNs: width / (to - from), width }, theme));
    this.lines.upload(lanes.length);
    const height = Math.floor((surface.height - AXIS) / Math.max(lanes.length, 1));
    lanes.forEach((_, i) => this.lines.stretch(context, i, 0, AXIS + i * height, surface.width, height - 2));
    this.drawAxis(context, theme, from, to);
    this.drawHits(context, theme);
    this.drawBrush(context, theme);
  }

  refresh(): void {
    this.store.clear();
  }

  private toX(display: number): number {
    const { from, to } = this.model.whole;
    return ((display - from) / (to - from)) * this.surface.width;
  }

  private toDisplay(x: number): number {
    const { from, to } = this.model.whole;
    return from + (x / this.surface.width) * (to - from);
  }

  private drawAxis(context: CanvasRenderingContext2D, theme: Theme, from: number, to: number): void {
    context.font = theme.font;
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    context.fillStyle = theme.muted;
    drawTicks(context, this.words, { warp: this.model.warp, viewport: { from, to }, originNs: this.model.layout.originNs, width: this.surface.width, tickTop: AXIS - 5, tickHeight: 5, middle: AXIS / 2 });
  }

  private drawHits(context: CanvasRenderingContext2D, theme: Theme): void {
    context.fillStyle = theme.highlight;
    for (const hit of this.model.hits) {
      context.fillRect(this.toX(this.model.warp.toDisplay(hit.startNs)), AXIS - 3, 1.5, 3);
    }
  }

  private drawBrush(context: CanvasRenderingContext2D, theme: Theme): void {
    const { from, to } = this.model.viewport;
    const x0 = Math.max(0, this.toX(from));
    const x1 = Math.min(this.surface.width, Math.max(this.toX(to), x0 + 2));
    context.fillStyle = theme.background;
    context.globalAlpha = 0.55;
    context.fillRect(0, AXIS, x0, this.surface.height);
    context.fillRect(x1, AXIS, this.surface.width - x1, this.surface.height);
    context.globalAlpha = 1;
    context.strokeStyle = theme.focus;
    context.strokeRect(x0 + 0.5, AXIS - 0.5, Math.max(1, x1 - x0 - 1), this.surface.height - AXIS);
    context.fillStyle = theme.focus;
    context.fillRect(x0 - 1, AXIS + 6, 3, Math.max(0, this.surface.height - AXIS - 12));
    context.fillRect(x1 - 2, AXIS + 6, 3, Math.max(0, this.surface.height - AXIS - 12));
  }

  private listen(): void {
    const { canvas } = this.surface;
    canvas.addEventListener('pointerdown', (event) => {
      const x = event.offsetX;
      const { viewport } = this.model;
      const [x0, x1] = [this.toX(viewport.from), this.toX(viewport.to)];
      const kind = Math.abs(x - x0) <= HANDLE ? 'from' : Math.abs(x - x1) <= HANDLE ? 'to' : x > x0 && x < x1 && x1 - x0 < this.surface.width * 0.98 ? 'move' : 'new';
      canvas.setPointerCapture(event.pointerId);
      this.model.remember();
      this.drag = { kind, grabbed: this.toDisplay(x), before: viewport };
    });
    canvas.addEventListener('pointermove', (event) => {
      if (this.drag === undefined) {
        return;
      }
      const { kind, grabbed, before } = this.drag;
      const at = this.toDisplay(event.offsetX);
      switch (kind) {
        case 'move':
          this.model.show({ from: before.from + at - grabbed, to: before.to + at - grabbed }, false);
          return;
        case 'from':
          this.model.show({ from: Math.min(at, before.to), to: before.to }, false);
          return;
        case 'to':
          this.model.show({ from: before.from, to: Math.max(at, before.from) }, false);
          return;
        case 'new':
          this.model.show({ from: Math.min(at, grabbed), to: Math.max(at, grabbed) }, false);
      }
    });
    canvas.addEventListener('pointerup', (event) => {
      // A plain click centres the viewport there.
      if (this.drag?.kind === 'new' && Math.abs(this.toDisplay(event.offsetX) - this.drag.grabbed) < ((this.model.whole.to - this.model.whole.from) / this.surface.width) * 3) {
        const half = (this.drag.before.to - this.drag.before.from) / 2;
        this.model.show({ from: this.drag.grabbed - half, to: this.drag.grabbed + half }, false);
      }
      this.drag = undefined;
    });
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.model.zoomAt((this.model.viewport.from + this.model.viewport.to) / 2, Math.exp(event.deltaY * 0.0015));
    }, { passive: false });
  }
}
