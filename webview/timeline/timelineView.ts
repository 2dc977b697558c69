import type { ProfileSummary } from '../../src/protocol/engine';
import type { TimelineLayout } from '../../src/protocol/timeline';
import type { NavigateTarget } from '../../src/protocol/webview';
import type { Bridge } from '../shared/bridge';
import { fillElement, h } from '../shared/dom';
import { onThemeChange } from '../shared/theme';
import type { Words } from '../shared/words';
import { readTheme, type Theme } from './colours';
import { CounterStore } from './counterStore';
import { formatEnds, formatNs } from './format';
import { FrameScheduler } from './frames';
import { neededCounters, neededRows, zoneTop } from './geometry';
import { HoverTip } from './hoverTip';
import { Inspector } from './inspector';
import { handleKey } from './keys';
import { LaneLabels } from './laneLabels';
import { Legend } from './legend';
import { MainCanvas } from './mainCanvas';
import { TimelineModel, type SavedDetail } from './model';
import { Modes } from './modes';
import { OverviewStrip, STRIP_LANES } from './overviewStrip';
import { connectPointer } from './pointer';
import { Surface } from './surface';
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
  readonly counters: CounterStore;
  readonly frames = new FrameScheduler(() => this.draw());
  private readonly main: MainCanvas;
  private readonly strip: OverviewStrip;
  private readonly labels: LaneLabels;
  private readonly legend: Legend;
  private readonly toolbar: Toolbar;
  private readonly inspector: Inspector;
  private readonly modes: Modes;
  private readonly hoverTip: HoverTip;
  private readonly spacer = h('div');
  private readonly scroller = h('div', { class: 'scroller', tabindex: -1 }, this.spacer);
  private readonly live = h('div', { class: 'visually-hidden', role: 'status', 'aria-live': 'polite' });
  private readonly message = h('div', { class: 'stage-message', role: 'alert' });
  private readonly cleanUp: (() => void)[] = [];
  private theme: Theme;
  private lastMove = -Infinity;
  private stillTimer: ReturnType<typeof setTimeout> | undefined;
  private saveTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(parent: HTMLElement, private readonly options: TimelineViewOptions) {
    const { bridge, words, layout, rank, profile, step, reload } = options;
    const fail = (error: unknown): undefined => this.fail(error);
    const say = (text: string): void => {
      this.live.textContent = text;
    };
    const model = new TimelineModel(layout, () => this.changed());
    this.model = model;
    this.theme = readTheme(layout.families);
    this.windows = new WindowStore((wish, requestId, signal) => bridge.call('timelineWindow', { rank, requestId, ...wish }, { signal }), () => this.arrived(), fail);
    this.counters = new CounterStore((wish, requestId, signal) => bridge.call('timelineCounters', { rank, requestId, ...wish }, { signal }), () => this.arrived(), fail);
    this.hoverTip = new HoverTip(model, words);

    const [toolbar, legend, labels, panel] = ['toolbar', 'legend', 'lane-labels', 'panel'].map((name) => h('div', { class: name }));
    const canvas = h('canvas', { class: 'lanes-canvas', tabindex: 0, role: 'application', 'aria-label': words.t('timeline.canvas') });
    const stripCanvas = h('canvas', { class: 'strip-canvas', role: 'img', 'aria-label': words.t('timeline.strip') });
    const stripLabel = h('div', { class: 'strip-label', 'aria-hidden': 'true' }, h('div', {}, words.t(step === undefined ? 'view.wholeRecording' : 'timeline.wholeStep')),
      STRIP_LANES.map((id) => h('div', { class: 'strip-lane' }, words.t(`timeline.lane.${id}`))));
    fillElement(parent, h('div', { class: 'timeline' }, toolbar, legend, h('div', { class: 'strip' }, stripLabel, stripCanvas), h('div', { class: 'stage' }, labels, canvas, this.scroller, this.message), panel, this.live));
    this.message.hidden = true;

    this.inspector = new Inspector(panel, { bridge, words, rank, model, windows: this.windows, main: () => this.main, say, fail });
    this.modes = new Modes({ bridge, words, rank, model, inspector: this.inspector, canvas, say, moving: () => this.moving() });
    this.main = new MainCanvas(new Surface(canvas, this.frames.drawNow), model, this.windows, this.counters, words, () => this.main.height - (this.inspector.panel.active === undefined ? PANEL_HEIGHT : 0));
    this.strip = new OverviewStrip(new Surface(stripCanvas, this.frames.drawNow), model, words, (wish, signal) => bridge.call('timelineWindow', { rank, requestId: 0, ...wish }, { signal }));
    this.labels = new LaneLabels(labels, model, words);
    this.legend = new Legend(legend, model, words, () => this.filtered());
    const { keys } = this.modes;
    this.toolbar = new Toolbar(toolbar, words, profile, layout, rank, step, {
      ...keys, rank: (id) => reload(id, undefined), step: (index) => reload(rank, index), zoom: (factor) => model.zoomAt((model.viewport.from + model.viewport.to) / 2, factor),
    });
    connectPointer(canvas, this.main, model, this.windows, {
      hover: (hit, x, y) => this.hoverTip.show(hit, x, y), select: (hit) => void this.inspector.selectHit(hit), open: (hit) => void this.inspector.selectHit(hit, true),
      area: () => void this.inspector.askArea(), moving: () => this.moving(),
    });
    this.listen(canvas);
    if (options.saved !== undefined) {
      this.restore(options.saved);
    }
    void this.loadPyramid();
    this.frames.invalidate();
  }

  dispose(): void {
    this.cleanUp.forEach((clean) => clean());
    [this.stillTimer, this.saveTimer].forEach((timer) => clearTimeout(timer));
    this.inspector.dispose();
    this.windows.clear();
    this.counters.clear();
    this.hoverTip.remove();
  }

  navigate({ event, startNs, endNs, step }: NavigateTarget): void {
    const { model, inspector } = this;
    if (event !== undefined) {
      void inspector.selection.selectRef({ side: 'device', index: event }).then((place) => {
        if (place !== undefined) {
          const ns = Math.max(place.durationNs > 0 ? place.durationNs : 0, 1000);
          // A range given with the event is how much of its surroundings to show.
          model.reveal(startNs ?? place.startNs - ns * 4, endNs ?? place.startNs + ns * 5, startNs === undefined ? undefined : 0);
          inspector.panel.show('selection');
        }
      });
    } else if (startNs !== undefined && endNs !== undefined) {
      model.reveal(startNs, endNs, 0);
    } else {
      const found = model.layout.steps.find(({ index }) => index === step);
      if (found !== undefined) {
        model.reveal(found.startNs, found.endNs, 0.02);
      }
    }
  }

  private draw(): void {
    const { model, main } = this;
    main.flow = this.inspector.selection.flow;
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
    const recording = { startNs: originNs, endNs: originNs + spanNs };
    this.windows.want({ startNs, endNs, pixels, lanes: neededRows(main.geometry, model.scrollTop, main.height), hiddenFamilies: [...model.hiddenFamilies] }, recording);
    this.counters.want({ startNs, endNs, pixels, lanes: neededCounters(main.geometry, model.scrollTop, main.height) }, recording);
    const { words } = this.options;
    const [fromText, toText] = formatEnds(words, startNs - originNs, endNs - originNs);
    this.toolbar.update({
      range: words.t('timeline.range', { from: fromText, to: toText, length: formatNs(words, endNs - startNs) }),
      measuring: model.measuring, hidingGaps: model.warp.gapCount, table: this.inspector.panel.active === 'table', hiddenLanes: model.hiddenLanes.size,
    });
  }

  /** After anything changed: one frame, and a little later the state is kept. */
  private changed(): void {
    this.frames.invalidate();
    clearTimeout(this.saveTimer);
    this.saveTimer = setTimeout(() => this.options.save(this.model.save()), SAVE_MS);
    // The model reports its first changes while the parts are still being made.
    (this.inspector as Inspector | undefined)?.pictureChanged();
  }

  private arrived(): void {
    this.frames.invalidate();
    this.inspector.pictureChanged();
  }

  private moving(): void {
    this.lastMove = performance.now();
    clearTimeout(this.stillTimer);
    this.stillTimer = setTimeout(this.frames.invalidate, STILL_MS + 10);
  }

  private fail(error: unknown): undefined {
    const retry = (): void => {
      this.message.hidden = true;
      this.windows.clear();
      this.counters.clear();
      this.frames.invalidate();
    };
    this.message.hidden = false;
    fillElement(this.message, error instanceof Error ? error.message : String(error), ' ', h('button', { class: 'text-button', onclick: retry }, this.options.words.t('timeline.retry')));
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

  private listen(canvas: HTMLCanvasElement): void {
    const onKey = (event: KeyboardEvent): void => {
      if (handleKey(event, this.model, this.modes.keys, event.target === canvas)) {
        event.preventDefault();
        event.stopPropagation();
      }
    };
    document.addEventListener('keydown', onKey);
    this.scroller.addEventListener('scroll', () => {
      if (Math.abs(this.scroller.scrollTop - this.model.scrollTop) > 1) {
        this.model.scrollTop = this.scroller.scrollTop;
        this.model.changed();
      }
    });
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
      void this.modes.toggleGaps();
    }
    if (saved.selection !== undefined) {
      void this.inspector.selection.selectRef(saved.selection);
    }
  }
}
