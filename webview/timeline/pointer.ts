import { hitTest, nearestEdge, type Hit } from './hit';
import { AXIS_HEIGHT, visibleRows } from './geometry';
import type { MainCanvas } from './mainCanvas';
import type { TimelineModel } from './model';
import type { WindowStore } from './windows';

const CLICK_PIXELS = 4;
const SNAP_PIXELS = 8;

export interface PointerActions {
  readonly hover: (hit: Hit | undefined, x: number, y: number) => void;
  readonly select: (hit: Hit | undefined) => void;
  readonly open: (hit: Hit) => void;
  /** The shift-drag has ended: `model.area` says what it covers. */
  readonly area: () => void;
  readonly moving: () => void;
}

type Drag =
  | { readonly kind: 'pan'; readonly x: number; readonly y: number; readonly from: number; readonly to: number; readonly scrollTop: number; moved: boolean }
  | { readonly kind: 'area'; readonly time: number; readonly y: number; moved: boolean };

/** Mouse, pen and touch on the lanes. */
export function connectPointer(canvas: HTMLCanvasElement, main: MainCanvas, model: TimelineModel, windows: WindowStore, actions: PointerActions): void {
  const pointer = new Pointer(canvas, main, model, windows, actions);
  pointer.listen();
}

class Pointer {
  private drag: Drag | undefined;
  private wheelTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly canvas: HTMLCanvasElement, private readonly main: MainCanvas, private readonly model: TimelineModel, private readonly windows: WindowStore, private readonly actions: PointerActions) {}

  listen(): void {
    const { canvas, actions } = this;
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', () => {
      this.drag = undefined;
    });
    canvas.addEventListener('pointerleave', () => actions.hover(undefined, 0, 0));
    canvas.addEventListener('dblclick', (event) => {
      const hit = this.hit(event.offsetX, event.offsetY);
      if (hit?.event !== undefined) {
        actions.open(hit);
      }
    });
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
  }

  private hit(x: number, y: number): Hit | undefined {
    return hitTest(this.model, this.windows, this.main.counters, this.main.geometry, x, y, this.main.width, this.main.height);
  }

  /** Lanes the drag went over; one that began on the axis takes all lanes in sight. */
  private lanesBetween(from: number, to: number): readonly string[] {
    const [top, bottom] = from < AXIS_HEIGHT ? [0, this.main.height] : [Math.min(from, to), Math.max(from, to)];
    const rows = visibleRows(this.main.geometry, this.model.scrollTop, this.main.height);
    const lanes = [...new Set(rows.filter(({ y, height, box }) => y + height >= top && y <= bottom && box.lane.side !== 'step' && box.lane.side !== 'counter').map(({ box }) => box.lane))];
    // Idle time is no work: it is added up only when nothing else was chosen.
    const working = lanes.filter(({ side }) => side !== 'gap');
    return (working.length > 0 ? working : lanes).map(({ id }) => id);
  }

  private toTime(x: number): number {
    const { from, to } = this.model.viewport;
    return this.model.warp.toTime(from + (x / this.main.width) * (to - from));
  }

  /** An edge of an event near the pointer, else the pointer's own time. */
  private snapped(event: PointerEvent): number {
    const { from, to } = this.model.viewport;
    const time = this.toTime(event.offsetX);
    const reach = ((to - from) / this.main.width) * SNAP_PIXELS;
    return nearestEdge(this.model, this.windows, this.hit(event.offsetX, event.offsetY)?.row, time, reach) ?? Math.round(time);
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) {
      return;
    }
    this.canvas.setPointerCapture(event.pointerId);
    this.actions.hover(undefined, 0, 0);
    if (this.model.measuring) {
      const at = this.snapped(event);
      const { measure } = this.model;
      this.model.measure = measure === undefined || measure.done ? { from: at, to: at, done: false } : { ...measure, to: at, done: true };
      this.model.changed();
      return;
    }
    if (event.shiftKey || event.offsetY < AXIS_HEIGHT) {
      this.drag = { kind: 'area', time: this.toTime(event.offsetX), y: event.offsetY, moved: false };
      return;
    }
    this.drag = { kind: 'pan', x: event.offsetX, y: event.offsetY, ...this.model.viewport, scrollTop: this.model.scrollTop, moved: false };
  }

  private move(event: PointerEvent): void {
    const { model, drag } = this;
    if (model.measuring && model.measure !== undefined && !model.measure.done) {
      model.measure = { ...model.measure, to: this.snapped(event) };
      model.changed();
    }
    if (drag === undefined) {
      this.actions.hover(this.hit(event.offsetX, event.offsetY), event.clientX, event.clientY);
      return;
    }
    if (drag.kind === 'area') {
      const at = this.toTime(event.offsetX);
      drag.moved = true;
      model.area = { from: Math.min(drag.time, at), to: Math.max(drag.time, at), lanes: this.lanesBetween(drag.y, event.offsetY) };
      model.changed();
      return;
    }
    const [dx, dy] = [event.offsetX - drag.x, event.offsetY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < CLICK_PIXELS) {
      return;
    }
    if (!drag.moved) {
      drag.moved = true;
      model.remember();
    }
    this.actions.moving();
    const ns = (dx / this.main.width) * (drag.to - drag.from);
    model.scrollTop = drag.scrollTop - dy;
    model.show({ from: drag.from - ns, to: drag.to - ns }, false);
  }

  private up(event: PointerEvent): void {
    const { drag } = this;
    this.drag = undefined;
    if (drag?.kind === 'area') {
      if (drag.moved && this.model.area !== undefined) {
        this.actions.area();
      }
      return;
    }
    if (drag !== undefined && !drag.moved) {
      this.actions.select(this.hit(event.offsetX, event.offsetY));
    }
  }

  /** Wheel zooms at the pointer; Shift scrolls the lanes; sideways pans. */
  private wheel(event: WheelEvent): void {
    event.preventDefault();
    this.actions.hover(undefined, 0, 0);
    this.actions.moving();
    const { model } = this;
    const { from, to } = model.viewport;
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.shiftKey) {
      model.scrollTop += (event.deltaY || event.deltaX) * lines;
      model.changed();
      return;
    }
    // One gesture of the wheel is one step of Backspace.
    if (this.wheelTimer === undefined) {
      model.remember();
    }
    clearTimeout(this.wheelTimer);
    this.wheelTimer = setTimeout(() => {
      this.wheelTimer = undefined;
    }, 400);
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      model.pan(((event.deltaX * lines) / this.main.width) * (to - from));
      return;
    }
    const speed = event.ctrlKey ? 0.01 : 0.0018;
    model.zoomAt(from + (event.offsetX / this.main.width) * (to - from), Math.exp(Math.max(-1, Math.min(1, event.deltaY * lines * speed))));
  }
}
