import type { ProfileSummary } from '../../src/protocol/engine';
import type { EventLink, EventPlace, TimelineLayout } from '../../src/protocol/timeline';
import type { NavigateTarget } from '../../src/protocol/webview';
import type { Bridge } from '../shared/bridge';
import { fillElement, h } from '../shared/dom';
import { onThemeChange } from '../shared/theme';
import type { Words } from '../shared/words';
import { drawArea } from './areaPanel';
import { readTheme, type Theme } from './colours';
import { drawDetails } from './details';
import { formatEnds, formatNs } from './format';
import { FrameScheduler } from './frames';
import { neededRows, rowTop, zoneTop } from './geometry';
import type { Hit } from './hit';
import { HoverTip } from './hoverTip';
import { handleKey, type KeyActions } from './keys';
import { openKeySheet } from './keySheet';
import { LaneLabels, laneName } from './laneLabels';
import { familyName, Legend } from './legend';
import { MainCanvas } from './mainCanvas';
import { TimelineModel, type SavedDetail } from './model';
import { OverviewStrip, STRIP_LANES } from './overviewStrip';
import { Panel } from './panel';
import { Pointer } from './pointer';
import { SearchPanel } from './searchPanel';
import { Selection } from './selection';
import { Surface } from './surface';
import { drawTable, eventsOnScreen } from './tableTwin';
import { Toolbar } from './toolbar';
import { WindowStore } from './windows';

const STILL_MS = 160;
const SAVE_MS = 300;
/** As in the style sheet: lanes keep their height when the panel opens. */
const PANEL_HEIGHT = 233;

export interface TimelineViewOptions {
  readonly bridge: Bridge;
  readonly words: Words;
  readonly profile: ProfileSummary;
  readonly rank: string;
  readonly step: number | undefined;
  readonly layout: TimelineLayout;
  readonly saved: SavedDetail | undefined;
  readonly reload: (rank: string, step: number | undefined) => void;
  readonly save: (detail: SavedDetail) => void;
}

/** The timeline of one rank: puts the parts together and keeps them in step. */
export class TimelineView {
  readonly model: TimelineModel;
  readonly windows: WindowStore;
  readonly frames: FrameScheduler;
  private readonly root: HTMLElement;
  private readonly main: MainCanvas;
  private readonly strip: OverviewStrip;
  private readonly labels: LaneLabels;
  private readonly legend: Legend;
  private readonly panel: Panel;
  private readonly search: SearchPanel;
  private readonly toolbar: Toolbar;
  private readonly selection: Selection;
  private readonly hoverTip: HoverTip;
  private readonly canvas = h('canvas', { class: 'lanes-canvas', tabindex: 0, role: 'application' });
  private readonly stripCanvas = h('canvas', { class: 'strip-canvas', role: 'img' });
  private readonly spacer = h('div');
  private readonly scroller = h('div', { class: 'scroller', tabindex: -1 }, this.spacer);
  private readonly live = h('div', { class: 'visually-hidden', role: 'status', 'aria-live': 'polite' });
  private readonly message = h('div', { class: 'stage-message', role: 'alert' });
  private readonly cleanUp: (() => void)[] = [];
  private theme: Theme;
  private lastMove = -Infinity;
  private stillTimer: ReturnType<typeof setTimeout> | undefined;
  private saveTimer: ReturnType<typeof setTimeout> | undefined;
  private tableTimer: ReturnType<typeof setTimeout> | undefined;
  private areaRun = 0;
  private openWhenKnown = false;

  constructor(parent: HTMLElement, private readonly options: TimelineViewOptions) {
    const { bridge, words, layout, rank } = options;
    this.frames = new FrameScheduler(() => this.draw());
    this.model = new TimelineModel(layout, () => this.changed());
    this.theme = readTheme(layout.families);
    this.windows = new WindowStore((wish, requestId, signal) => bridge.call('timelineWindow', { rank, requestId, ...wish }, { signal }), () => this.arrived(), (error) => this.fail(error));
    this.hoverTip = new HoverTip(this.model, words);

    const part = (name: string): HTMLElement => h('div', { class: name });
    const [toolbar, legend, labels, panel] = ['toolbar', 'legend', 'lane-labels', 'panel'].map(part);
    const stage = h('div', { class: 'stage' }, labels, this.canvas, this.scroller, this.message);
    this.root = h('div', { class: 'timeline' }, toolbar, legend,
      h('div', { class: 'strip' }, h('div', { class: 'strip-label', 'aria-hidden': 'true' }, h('div', {}, words.t(options.step === undefined ? 'view.wholeRecording' : 'timeline.wholeStep')), STRIP_LANES.map((id) => h('div', { class: 'strip-lane' }, words.t(`timeline.lane.${id}`)))), this.stripCanvas), stage, panel, this.live);
    fillElement(parent, this.root);
    this.canvas.setAttribute('aria-label', words.t('timeline.canvas'));
    this.stripCanvas.setAttribute('aria-label', words.t('timeline.strip'));
    this.message.hidden = true;

    this.selection = new Selection(bridge, rank, this.model, () => this.selectionChanged());
    this.main = new MainCanvas(new Surface(this.canvas, this.frames.invalidate), this.model, this.windows, words, () => this.main.height - (this.panel.active === undefined ? PANEL_HEIGHT : 0));
    this.strip = new OverviewStrip(new Surface(this.stripCanvas, this.frames.invalidate), this.model, words, (lanes, range, pixels, hiddenFamilies, signal) => bridge.call('timelineWindow', { rank, requestId: 0, lanes, startNs: range.from, endNs: range.to, pixels, hiddenFamilies }, { signal }));
    this.labels = new LaneLabels(labels, this.model, words);
    this.legend = new Legend(legend, this.model, words, () => this.filtered());
    this.panel = new Panel(panel, words, (tab) => this.tabOpened(tab));
    this.search = new SearchPanel(this.panel.bodies.search, words, {
      run: (params) => bridge.call('search', { rank, ...params }).catch((error: unknown) => this.fail(error)),
      found: (places) => {
        this.model.hits = places;
        this.model.changed();
      },
      goTo: (place) => this.goTo(place),
    });
    this.toolbar = new Toolbar(toolbar, words, options.profile, layout, rank, options.step, {
      rank: (id) => options.reload(id, undefined), step: (index) => options.reload(rank, index),
      zoom: (factor) => this.model.zoomAt((this.model.viewport.from + this.model.viewport.to) / 2, factor),
      fit: () => this.fit(), measure: () => this.toggleMeasure(), gaps: () => void this.toggleGaps(), search: () => this.openSearch(),
      table: () => this.toggleTable(), sheet: () => openKeySheet(words), unhide: () => this.keyActions.unhide(),
    });
    const pointer = new Pointer(this.canvas, this.main, this.model, this.windows, {
      hover: (hit, x, y) => this.hoverTip.show(hit, x, y), select: (hit) => void this.selectHit(hit), area: () => void this.askArea(), moving: () => this.moving(),
      open: (hit) => {
        this.openWhenKnown = true;
        void this.selectHit(hit);
      },
    });
    void pointer;
    this.listen();
    if (options.saved !== undefined) {
      this.restore(options.saved);
    }
    void this.loadPyramid();
    this.frames.invalidate();
  }

  dispose(): void {
    this.cleanUp.forEach((clean) => clean());
    [this.stillTimer, this.saveTimer, this.tableTimer].forEach((timer) => clearTimeout(timer));
    this.windows.clear();
    this.hoverTip.remove();
  }

  navigate({ event, startNs, endNs, step }: NavigateTarget): void {
    if (event !== undefined) {
      void this.selection.selectRef({ side: 'device', index: event }).then((place) => {
        if (place !== undefined) {
          const ns = Math.max(place.durationNs > 0 ? place.durationNs : 0, 1000);
          this.model.reveal(place.startNs - ns * 4, place.startNs + ns * 5);
          this.panel.show('selection');
        }
      });
    } else if (startNs !== undefined && endNs !== undefined) {
      this.model.reveal(startNs, endNs, 0);
    } else if (step !== undefined) {
      const found = this.model.layout.steps.find(({ index }) => index === step);
      if (found !== undefined) {
        this.model.reveal(found.startNs, found.endNs, 0.02);
      }
    }
  }

  private draw(): void {
    const { model, main } = this;
    main.flow = this.selection.flow;
    main.draw(this.theme, performance.now() - this.lastMove < STILL_MS);
    this.strip.draw(this.theme);
    this.labels.update(main.geometry);
    this.spacer.style.height = `${main.geometry.othersHeight}px`;
    this.scroller.style.top = `${zoneTop(main.geometry)}px`;
    if (Math.abs(this.scroller.scrollTop - model.scrollTop) > 1) {
      this.scroller.scrollTop = model.scrollTop;
    }
    const { from, to } = model.viewport;
    const [startNs, endNs] = [model.warp.toTime(from), model.warp.toTime(to)];
    const { originNs, spanNs } = model.layout;
    // With gaps hidden the range is longer than what is drawn of it, so it needs more pixels for the same sharpness.
    const pixels = Math.max(1, Math.round((main.width * (endNs - startNs)) / (to - from)));
    this.windows.want({ startNs, endNs, pixels, lanes: neededRows(main.geometry, model.scrollTop, main.height), hiddenFamilies: [...model.hiddenFamilies] }, { startNs: originNs, endNs: originNs + spanNs });
    const [fromText, toText] = formatEnds(this.options.words, startNs - originNs, endNs - originNs);
    this.toolbar.update({
      range: this.options.words.t('timeline.range', { from: fromText, to: toText, length: formatNs(this.options.words, endNs - startNs) }),
      measuring: model.measuring, hidingGaps: model.warp.gapCount, table: this.panel.active === 'table', hiddenLanes: model.hiddenLanes.size,
    });
  }

  /** After anything changed: one frame, and a little later the state is kept. */
  private changed(): void {
    this.frames.invalidate();
    clearTimeout(this.saveTimer);
    this.saveTimer = setTimeout(() => this.options.save(this.model.save()), SAVE_MS);
    this.tableLater();
  }

  private arrived(): void {
    this.frames.invalidate();
    this.tableLater();
  }

  private tableLater(): void {
    if (this.panel.active === 'table') {
      clearTimeout(this.tableTimer);
      this.tableTimer = setTimeout(() => this.drawTable(), SAVE_MS);
    }
  }

  private moving(): void {
    this.lastMove = performance.now();
    clearTimeout(this.stillTimer);
    this.stillTimer = setTimeout(this.frames.invalidate, STILL_MS + 10);
  }

  private fail(error: unknown): undefined {
    const text = error instanceof Error ? error.message : String(error);
    this.message.hidden = false;
    fillElement(this.message, text, ' ', h('button', { class: 'text-button', onclick: () => {
      this.message.hidden = true;
      this.windows.clear();
      this.frames.invalidate();
    } }, this.options.words.t('timeline.retry')));
    return undefined;
  }

  private async loadPyramid(): Promise<void> {
    try {
      this.model.pyramid = await this.options.bridge.call('timelinePyramid', { rank: this.options.rank, hiddenFamilies: [...this.model.hiddenFamilies] });
      this.frames.invalidate();
    } catch (error) {
      this.fail(error);
    }
  }

  private filtered(): void {
    void this.loadPyramid();
    this.changed();
  }

  private async selectHit(hit: Hit | undefined): Promise<void> {
    if (hit === undefined) {
      this.openWhenKnown = false;
      this.selection.clear();
      return;
    }
    const { lane } = hit.row.box;
    this.model.focusLane = lane.id;
    const { event } = hit;
    if (event !== undefined) {
      this.panel.show('selection');
      await this.selection.select({ side: event.side, index: event.index, startNs: event.startNs, durationNs: event.durationNs, name: event.name ?? '', lane: lane.id, row: hit.row.row });
    } else if (hit.bin !== undefined) {
      const place = await this.options.bridge.call('nearest', { rank: this.options.rank, lane: lane.id, row: hit.row.row, timeNs: hit.timeNs });
      if (place !== null) {
        this.panel.show('selection');
        await this.selection.select(place);
      }
    } else {
      this.selection.clear();
    }
  }

  private goTo(place: EventPlace | EventLink): void {
    const show = (target: EventPlace): void => {
      this.model.hiddenLanes.delete(target.lane);
      this.model.bringIntoView(target);
      this.scrollToLane(target.lane, target.row);
    };
    if ('lane' in place) {
      show(place);
      void this.selection.select(place);
    } else {
      void this.selection.selectRef(place).then((found) => found !== undefined && show(found));
    }
  }

  private scrollToLane(lane: string, row: number): void {
    const { geometry, height } = this.main;
    const at = rowTop(geometry, this.model.scrollTop, lane, row);
    const top = zoneTop(geometry);
    if (at !== undefined && !at.pinned && (at.y < top || at.y + at.height > height)) {
      this.model.scrollTop += at.y - (top + height) / 2;
      this.model.changed();
    }
  }

  private selectionChanged(): void {
    const { detail, flow } = this.selection;
    const { words, bridge } = this.options;
    this.model.changed();
    if (detail === undefined) {
      fillElement(this.panel.bodies.selection, h('p', { class: 'muted' }, words.t('timeline.nothingSelected')));
      return;
    }
    drawDetails(this.panel.bodies.selection, words, this.model.layout.originNs, detail, flow, {
      goTo: (link) => this.goTo(link), openSource: (file, line) => bridge.post({ kind: 'openSource', file, line }), copy: (text) => bridge.post({ kind: 'copy', text }),
      zoomTo: (startNs, durationNs) => this.model.reveal(startNs, startNs + (durationNs > 0 ? durationNs : 0), 0.5),
    });
    const lane = this.model.lane(detail.lane);
    this.live.textContent = words.t('timeline.say', {
      name: detail.side === 'gap' ? words.t(`timeline.lane.${detail.kind}`) : detail.name, duration: formatNs(words, detail.durationNs), start: formatNs(words, detail.startNs - this.model.layout.originNs),
      lane: lane === undefined ? detail.lane : laneName(words, lane), family: familyName(words, detail.family),
    });
    if (this.openWhenKnown) {
      this.openWhenKnown = false;
      this.openSelected();
    }
  }

  private openSelected(): void {
    if (!this.selection.openSource() && this.selection.detail !== undefined) {
      this.live.textContent = this.options.words.t('timeline.noFrames');
    }
  }

  private async askArea(): Promise<void> {
    const { area } = this.model;
    if (area === undefined) {
      return;
    }
    const run = ++this.areaRun;
    const stats = await this.options.bridge.call('areaStats', { rank: this.options.rank, startNs: Math.round(area.from), endNs: Math.round(area.to), lanes: area.lanes }).catch((error: unknown) => this.fail(error));
    if (stats !== undefined && run === this.areaRun) {
      drawArea(this.panel.bodies.area, this.options.words, this.model, stats, (lanes) => {
        this.model.area = { ...area, lanes };
        void this.askArea();
      });
      this.panel.show('area');
      this.live.textContent = this.options.words.t('timeline.area.say', { count: this.options.words.number(stats.events), union: formatNs(this.options.words, stats.unionNs), sum: formatNs(this.options.words, stats.sumNs) });
    }
  }

  private tabOpened(tab: Panel['active']): void {
    if (tab === 'table') {
      this.drawTable();
    }
    this.frames.invalidate();
  }

  private drawTable(): void {
    const events = eventsOnScreen(this.model, this.windows, this.main.geometry, this.main.height);
    drawTable(this.panel.bodies.table, this.options.words, this.model, events, {
      goTo: (row) => this.goTo(row), save: (text) => this.options.bridge.post({ kind: 'saveText', name: 'timeline.csv', text }),
    });
  }

  private toggleTable(): void {
    this.panel.show(this.panel.active === 'table' ? undefined : 'table');
  }

  private openSearch(): void {
    this.panel.show('search');
    this.search.focus();
  }

  private toggleMeasure(): void {
    this.model.measuring = !this.model.measuring;
    this.model.measure = undefined;
    this.canvas.classList.toggle('measuring', this.model.measuring);
    this.live.textContent = this.options.words.t(this.model.measuring ? 'timeline.measureOn' : 'timeline.measureOff');
    this.model.changed();
  }

  private async toggleGaps(): Promise<void> {
    if (!this.model.warp.isIdentity) {
      this.model.setHideGaps(undefined);
      return;
    }
    const minNs = Math.max(50_000, this.model.layout.spanNs / 2000);
    const pairs = await this.options.bridge.call('timelineGaps', { rank: this.options.rank, minNs });
    this.model.setHideGaps(pairs.length > 0 ? pairs : undefined);
    this.live.textContent = this.options.words.t('timeline.gapsHidden', { count: this.options.words.number(pairs.length / 2) });
  }

  /** F: the selection if there is one (again: the whole step). */
  private fit(): void {
    const { selection, viewport, area } = this.model;
    if (selection !== undefined && Number.isFinite(selection.startNs)) {
      const ns = Math.max(selection.durationNs > 0 ? selection.durationNs : 0, 50);
      const from = this.model.warp.toDisplay(selection.startNs - ns * 0.5);
      if (Math.abs(viewport.from - from) > ns * 0.01) {
        this.model.reveal(selection.startNs, selection.startNs + ns, 0.5);
        return;
      }
    } else if (area !== undefined) {
      this.model.reveal(area.from, area.to, 0);
      return;
    }
    this.model.show(this.model.whole);
  }

  private readonly keyActions: KeyActions = {
    moving: () => this.moving(),
    fit: () => this.fit(),
    step: (direction, by) => void this.selection.step(direction, by),
    lane: (direction) => this.focusLane(direction),
    open: () => (this.model.selection === undefined ? void this.selectCentre() : this.openSelected()),
    search: () => this.openSearch(),
    nextHit: (direction) => this.search.step(direction),
    measure: () => this.toggleMeasure(),
    sheet: () => openKeySheet(this.options.words),
    pin: () => this.withLane((id) => this.model.togglePin(id)),
    hide: () => this.withLane((id) => this.model.toggleHidden(id)),
    unhide: () => {
      this.model.hiddenLanes.clear();
      this.model.changed();
    },
    fold: () => this.withLane((id) => {
      const lane = this.model.lane(id);
      if (lane !== undefined && lane.rows > 1) {
        this.model.toggleFold(lane);
      }
    }),
    gaps: () => void this.toggleGaps(),
    table: () => this.toggleTable(),
    escape: () => this.escape(),
  };

  private withLane(run: (id: string) => void): void {
    const id = this.model.focusLane === '' ? this.model.selection?.lane : this.model.focusLane;
    if (id !== undefined) {
      run(id);
    }
  }

  /** One thing at a time: measuring, then area, then selection, then the panel. */
  private escape(): void {
    const { model } = this;
    if (model.measuring || model.measure !== undefined) {
      model.measuring = true;
      this.toggleMeasure();
    } else if (model.area !== undefined) {
      model.area = undefined;
      model.changed();
    } else if (model.selection !== undefined) {
      this.selection.clear();
    } else {
      this.panel.show(undefined);
      this.canvas.focus();
    }
  }

  /** Moves the keyboard's lane and selects its event in the middle of the view; false past the last one. */
  private focusLane(direction: 1 | -1): boolean {
    const { pinned, others } = this.model.visibleLanes();
    const lanes = [...pinned, ...others].filter(({ events }) => events > 0);
    const at = lanes.findIndex(({ id }) => id === this.model.focusLane);
    const next = at < 0 ? (direction === 1 ? 0 : lanes.length - 1) : at + direction;
    if (next < 0 || next >= lanes.length) {
      this.model.focusLane = '';
      this.model.changed();
      return false;
    }
    this.model.focusLane = lanes[next].id;
    this.live.textContent = laneName(this.options.words, lanes[next]);
    this.scrollToLane(lanes[next].id, 0);
    void this.selectCentre();
    return true;
  }

  private async selectCentre(): Promise<void> {
    const { focusLane, viewport, warp, selection } = this.model;
    const middle = warp.toTime((viewport.from + viewport.to) / 2);
    const visible = selection !== undefined && warp.toDisplay(selection.startNs) >= viewport.from && warp.toDisplay(selection.startNs) <= viewport.to;
    const place = await this.options.bridge.call('nearest', { rank: this.options.rank, lane: focusLane === '' ? 'compute' : focusLane, row: 0, timeNs: visible ? selection.startNs : middle });
    if (place !== null && (focusLane === this.model.focusLane)) {
      this.panel.show('selection');
      await this.selection.select(place);
    }
  }

  private listen(): void {
    const onKey = (event: KeyboardEvent): void => {
      if (handleKey(event, this.model, this.keyActions, event.target === this.canvas)) {
        event.preventDefault();
        event.stopPropagation();
      }
    };
    const onScroll = (): void => {
      if (Math.abs(this.scroller.scrollTop - this.model.scrollTop) > 1) {
        this.model.scrollTop = this.scroller.scrollTop;
        this.model.changed();
      }
    };
    document.addEventListener('keydown', onKey);
    this.scroller.addEventListener('scroll', onScroll);
    const stop = onThemeChange(() => {
      this.theme = readTheme(this.model.layout.families);
      this.legend.draw();
      this.frames.invalidate();
    });
    this.cleanUp.push(stop, () => document.removeEventListener('keydown', onKey));
  }

  private restore(saved: SavedDetail): void {
    this.model.restore(saved);
    this.legend.draw();
    if (saved.hideGaps === true) {
      void this.toggleGaps();
    }
    if (saved.selection !== undefined) {
      void this.selection.selectRef(saved.selection);
    }
  }
}
