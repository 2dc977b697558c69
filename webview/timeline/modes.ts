import type { Bridge } from '../shared/bridge';
import type { Words } from '../shared/words';
import type { Inspector } from './inspector';
import type { KeyActions } from './keys';
import { openKeySheet } from './keySheet';
import { laneName } from './laneLabels';
import type { TimelineModel } from './model';

/** Hidden gaps are at least this long, or a two-thousandth of the recording. */
const SHORTEST_GAP_NS = 50_000;

export interface ModesOptions {
  readonly bridge: Bridge;
  readonly words: Words;
  readonly rank: string;
  readonly model: TimelineModel;
  readonly inspector: Inspector;
  readonly canvas: HTMLCanvasElement;
  readonly say: (text: string) => void;
  readonly moving: () => void;
}

/** What keys and tool buttons do: measuring, hiding gaps, fitting, walking lanes. */
export class Modes {
  constructor(private readonly options: ModesOptions) {}

  readonly keys: KeyActions = {
    moving: () => this.options.moving(),
    fit: () => this.fit(),
    step: (direction, by) => void this.options.inspector.selection.step(direction, by),
    lane: (direction) => this.walkLane(direction),
    open: () => this.open(),
    search: () => this.options.inspector.openSearch(),
    nextHit: (direction) => this.options.inspector.nextHit(direction),
    measure: () => this.toggleMeasure(),
    total: () => this.totalInView(),
    sheet: () => openKeySheet(this.options.words),
    pin: () => this.withLane((id) => this.options.model.togglePin(id)),
    hide: () => this.withLane((id) => this.options.model.toggleHidden(id)),
    unhide: () => this.options.model.showAllLanes(),
    fold: () => this.withLane((id) => this.options.model.toggleFold(id)),
    gaps: () => void this.toggleGaps(),
    table: () => this.options.inspector.toggleTable(),
    escape: () => this.escape(),
  };

  /** F: the selection, or the area; again: the whole step. */
  fit(): void {
    const { model } = this.options;
    const { selection, viewport, area } = model;
    if (selection !== undefined && Number.isFinite(selection.startNs)) {
      const ns = Math.max(selection.durationNs > 0 ? selection.durationNs : 0, 50);
      const from = model.warp.toDisplay(selection.startNs - ns * 0.5);
      if (Math.abs(viewport.from - from) > ns * 0.01) {
        model.reveal(selection.startNs, selection.startNs + ns, 0.5);
        return;
      }
    } else if (area !== undefined) {
      model.reveal(area.from, area.to, 0);
      return;
    }
    model.show(model.whole);
  }

  toggleMeasure(): void {
    const { model, canvas, say, words } = this.options;
    model.measuring = !model.measuring;
    model.measure = undefined;
    canvas.classList.toggle('measuring', model.measuring);
    say(words.t(model.measuring ? 'timeline.measureOn' : 'timeline.measureOff'));
    model.changed();
  }

  async toggleGaps(): Promise<void> {
    const { model, bridge, rank, say, words } = this.options;
    if (!model.warp.isIdentity) {
      model.setHideGaps(undefined);
      return;
    }
    const pairs = await bridge.call('timelineGaps', { rank, minNs: Math.max(SHORTEST_GAP_NS, model.layout.spanNs / 2000) });
    model.setHideGaps(pairs.length > 0 ? pairs : undefined);
    say(words.t('timeline.gapsHidden', { count: words.number(pairs.length / 2) }));
  }

  /** Enter: the next edge to measure while measuring, else the source line, else something to start from. */
  private open(): void {
    const { model, inspector } = this.options;
    const { selection, measure } = model;
    if (selection === undefined) {
      void this.selectCentre();
    } else if (model.measuring) {
      const [start, end] = [selection.startNs, selection.startNs + (selection.durationNs > 0 ? selection.durationNs : 0)];
      // From the end of the one to the start of the other: the gap between them, whichever comes first.
      model.measure = measure === undefined || measure.done ? { from: end, to: end, done: false } : { from: measure.from, to: start >= measure.from ? start : end, done: true };
      model.changed();
    } else {
      inspector.openSource();
    }
  }

  /** R: totals of the time on screen, over the lanes that do work. */
  private totalInView(): void {
    const { model, inspector } = this.options;
    const { pinned, others } = model.visibleLanes();
    const lanes = [...pinned, ...others].filter(({ side, events }) => side === 'device' && events > 0).map(({ id }) => id);
    model.area = { from: model.warp.toTime(model.viewport.from), to: model.warp.toTime(model.viewport.to), lanes };
    void inspector.askArea();
  }

  private withLane(run: (id: string) => void): void {
    const { focusLane, selection } = this.options.model;
    const id = focusLane === '' ? selection?.lane : focusLane;
    if (id !== undefined) {
      run(id);
    }
  }

  /** One thing at a time: measuring, then area, then selection, then the panel. */
  private escape(): void {
    const { model, inspector, canvas } = this.options;
    if (model.measuring || model.measure !== undefined) {
      model.measuring = true;
      this.toggleMeasure();
    } else if (model.area !== undefined) {
      model.area = undefined;
      model.changed();
    } else if (model.selection !== undefined) {
      inspector.selection.clear();
    } else {
      inspector.panel.show(undefined);
      canvas.focus();
    }
  }

  /** Moves the keyboard's lane and selects its event in the middle of the view; false past the last one. */
  private walkLane(direction: 1 | -1): boolean {
    const { model, inspector, say, words } = this.options;
    const { pinned, others } = model.visibleLanes();
    const lanes = [...pinned, ...others].filter(({ events }) => events > 0);
    const at = lanes.findIndex(({ id }) => id === model.focusLane);
    const next = at < 0 ? (direction === 1 ? 0 : lanes.length - 1) : at + direction;
    if (next < 0 || next >= lanes.length) {
      model.focusLane = '';
      model.changed();
      return false;
    }
    model.focusLane = lanes[next].id;
    say(laneName(words, lanes[next]));
    inspector.scrollToLane(lanes[next].id, 0);
    if (lanes[next].kind === 'counters') {
      // A group holds nothing to select, and a late answer for the lane before must not be read out here.
      inspector.selection.clear();
    } else {
      void this.selectCentre();
    }
    return true;
  }

  /** The lane's event at the selected time, or in the middle of the view. */
  private async selectCentre(): Promise<void> {
    const { model, bridge, rank, inspector } = this.options;
    const { focusLane, viewport, warp, selection } = model;
    const inView = selection !== undefined && warp.toDisplay(selection.startNs) >= viewport.from && warp.toDisplay(selection.startNs) <= viewport.to;
    const timeNs = inView ? selection.startNs : warp.toTime((viewport.from + viewport.to) / 2);
    const place = await bridge.call('nearest', { rank, lane: focusLane === '' ? 'compute' : focusLane, row: 0, timeNs });
    if (focusLane === model.focusLane) {
      await inspector.selectPlace(place);
    }
  }
}
