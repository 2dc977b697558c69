import type { EventPlace, EventRef, TimelineLane, TimelineLayout, TimelinePyramid } from '../../src/protocol/timeline';
import { TimeWarp } from './timeWarp';

export interface Viewport {
  readonly from: number;
  readonly to: number;
}

export interface Area extends Viewport {
  readonly lanes: readonly string[];
}

/** Two edges in recorded time; `to` follows the pointer until the second click. */
export interface Measure {
  readonly from: number;
  readonly to: number;
  readonly done: boolean;
}

/** What is kept while the view is hidden, in the state's `detail`. */
export interface SavedDetail {
  readonly from?: number;
  readonly to?: number;
  readonly hiddenLanes?: readonly string[];
  readonly pinned?: readonly string[];
  readonly open?: readonly string[];
  readonly closed?: readonly string[];
  readonly hiddenFamilies?: readonly string[];
  readonly selection?: EventRef & { readonly lane?: string };
  readonly scrollTop?: number;
  readonly hideGaps?: boolean;
}

const MOST_UNDO = 100;
/** Lanes with more rows than this start folded. */
const OPEN_ROWS = 8;
/** Deepest zoom: a nanosecond over some ten pixels. */
const SHORTEST_NS = 100;

/** Everything the timeline shows, without a pixel. Changes call `changed`, which schedules a frame. */
export class TimelineModel {
  viewport: Viewport;
  selection: EventPlace | undefined;
  area: Area | undefined;
  measure: Measure | undefined;
  measuring = false;
  hits: readonly EventPlace[] = [];
  warp = new TimeWarp();
  scrollTop = 0;
  focusLane = '';
  pyramid: TimelinePyramid | undefined;
  /** Positions in `layout.families` that the legend leaves out. */
  readonly hiddenFamilies = new Set<number>();
  readonly hiddenLanes = new Set<string>();
  pinned: readonly string[] = [];
  private readonly folds = new Map<string, boolean>();
  private readonly undo: Viewport[] = [];

  /** Counters stand between the device and the host. */
  private readonly ordered: readonly TimelineLane[];

  constructor(readonly layout: TimelineLayout, readonly changed: () => void) {
    const isHost = ({ side }: TimelineLane): boolean => side === 'host';
    const isCounter = ({ side }: TimelineLane): boolean => side === 'counter';
    this.ordered = [...layout.lanes.filter((lane) => !isHost(lane) && !isCounter(lane)), ...layout.lanes.filter(isCounter), ...layout.lanes.filter(isHost)];
    this.viewport = { from: layout.window.startNs, to: layout.window.endNs };
  }

  get extent(): Viewport {
    const { originNs, spanNs } = this.layout;
    return { from: this.warp.toDisplay(originNs), to: this.warp.toDisplay(originNs + spanNs) };
  }

  /** The range of the strip on top: the asked step, else the recording. */
  get whole(): Viewport {
    const { startNs, endNs } = this.layout.window;
    return { from: this.warp.toDisplay(startNs), to: Math.max(this.warp.toDisplay(endNs), this.warp.toDisplay(startNs) + 1) };
  }

  lane(id: string): TimelineLane | undefined {
    return this.layout.lanes.find((lane) => lane.id === id);
  }

  /** Pinned lanes first, then the others in their fixed order. Counters show when their group is open, or pinned. */
  visibleLanes(): { readonly pinned: readonly TimelineLane[]; readonly others: readonly TimelineLane[] } {
    const shown = this.ordered.filter((lane) => !this.hiddenLanes.has(lane.id));
    const group = shown.find(({ kind }) => kind === 'counters');
    const closed = group === undefined || this.isFolded(group);
    return {
      pinned: this.pinned.map((id) => shown.find((lane) => lane.id === id)).filter((lane): lane is TimelineLane => lane !== undefined),
      others: shown.filter((lane) => !this.pinned.includes(lane.id) && !(closed && lane.kind === 'counter')),
    };
  }

  isFolded(lane: TimelineLane): boolean {
    return this.folds.get(lane.id) ?? (lane.kind === 'counters' || lane.rows > OPEN_ROWS);
  }

  /** Makes a lane visible that is hidden, or in a group that is closed. */
  uncover(id: string): void {
    this.hiddenLanes.delete(id);
    const group = this.layout.lanes.find(({ kind }) => kind === 'counters');
    if (group !== undefined && this.lane(id)?.kind === 'counter' && !this.pinned.includes(id)) {
      this.hiddenLanes.delete(group.id);
      this.folds.set(group.id, false);
    }
  }

  toggleFold(id: string): void {
    const lane = this.lane(id);
    if (lane !== undefined && (lane.rows > 1 || lane.kind === 'counters')) {
      this.folds.set(id, !this.isFolded(lane));
      this.changed();
    }
  }

  togglePin(id: string): void {
    this.pinned = this.pinned.includes(id) ? this.pinned.filter((pinned) => pinned !== id) : [...this.pinned, id];
    this.changed();
  }

  toggleHidden(id: string): void {
    if (!this.hiddenLanes.delete(id)) {
      this.hiddenLanes.add(id);
    }
    this.changed();
  }

  showAllLanes(): void {
    this.hiddenLanes.clear();
    this.changed();
  }

  /** Moves the viewport; `remember` makes it one step of Backspace. */
  show(range: Viewport, remember = true): void {
    if (remember) {
      this.remember();
    }
    this.viewport = this.clamped(range);
    this.changed();
  }

  remember(): void {
    const last = this.undo[this.undo.length - 1];
    if (last === undefined || last.from !== this.viewport.from || last.to !== this.viewport.to) {
      this.undo.push(this.viewport);
      if (this.undo.length > MOST_UNDO) {
        this.undo.shift();
      }
    }
  }

  undoZoom(): boolean {
    const previous = this.undo.pop();
    if (previous !== undefined) {
      this.viewport = this.clamped(previous);
      this.changed();
    }
    return previous !== undefined;
  }

  zoomAt(display: number, factor: number): void {
    const { from, to } = this.viewport;
    const width = Math.max(SHORTEST_NS, Math.min((to - from) * factor, (this.extent.to - this.extent.from) * 1.05));
    const share = (display - from) / (to - from);
    this.show({ from: display - share * width, to: display - share * width + width }, false);
  }

  pan(displayNs: number): void {
    this.show({ from: this.viewport.from + displayNs, to: this.viewport.to + displayNs }, false);
  }

  /** Shows a range of recorded time with some air around it. */
  reveal(startNs: number, endNs: number, air = 0.1): void {
    const from = this.warp.toDisplay(startNs);
    const to = Math.max(this.warp.toDisplay(endNs), from + SHORTEST_NS / 2);
    this.show({ from: from - (to - from) * air, to: to + (to - from) * air });
  }

  /** Makes sure an event is in sight without changing the zoom, unless it would be a speck or far larger than the view. */
  bringIntoView({ startNs, durationNs }: EventPlace): void {
    const from = this.warp.toDisplay(startNs);
    const to = this.warp.toDisplay(startNs + (durationNs > 0 ? durationNs : 0));
    const width = this.viewport.to - this.viewport.from;
    const inside = from >= this.viewport.from && to <= this.viewport.to;
    if (inside) {
      return;
    }
    const centre = to - from < width ? (from + to) / 2 : from + width / 3;
    this.show({ from: centre - width / 2, to: centre + width / 2 });
  }

  setHideGaps(pairs: Float64Array | undefined): void {
    const from = this.warp.toTime(this.viewport.from);
    const to = this.warp.toTime(this.viewport.to);
    this.warp = new TimeWarp(pairs);
    this.undo.length = 0;
    this.viewport = this.clamped({ from: this.warp.toDisplay(from), to: this.warp.toDisplay(to) });
    this.changed();
  }

  save(): SavedDetail {
    const { viewport, warp, selection, layout } = this;
    return {
      from: Math.round(warp.toTime(viewport.from)), to: Math.round(warp.toTime(viewport.to)), scrollTop: Math.round(this.scrollTop), hideGaps: !warp.isIdentity,
      hiddenLanes: [...this.hiddenLanes].slice(0, 200), pinned: this.pinned.slice(0, 100), hiddenFamilies: [...this.hiddenFamilies].map((family) => layout.families[family].id),
      open: this.foldedAs(false), closed: this.foldedAs(true),
      ...(selection === undefined ? {} : { selection: { side: selection.side, index: selection.index, lane: selection.lane } }),
    };
  }

  restore(saved: SavedDetail): void {
    const known = (id: string): boolean => this.lane(id) !== undefined;
    saved.hiddenLanes?.filter(known).forEach((id) => this.hiddenLanes.add(id));
    saved.open?.filter(known).forEach((id) => this.folds.set(id, false));
    saved.closed?.filter(known).forEach((id) => this.folds.set(id, true));
    this.pinned = saved.pinned?.filter(known) ?? [];
    this.layout.families.forEach((family, position) => {
      if (saved.hiddenFamilies?.includes(family.id) === true) {
        this.hiddenFamilies.add(position);
      }
    });
    this.scrollTop = saved.scrollTop ?? 0;
    if (saved.from !== undefined && saved.to !== undefined && saved.to > saved.from) {
      this.viewport = this.clamped({ from: saved.from, to: saved.to });
    }
  }

  private foldedAs(folded: boolean): string[] {
    return [...this.folds].filter(([, value]) => value === folded).map(([id]) => id).slice(0, 200);
  }

  /** Keeps the viewport on the recording, with a little air at both ends. */
  private clamped({ from, to }: Viewport): Viewport {
    const { extent } = this;
    const span = extent.to - extent.from;
    const width = Math.max(SHORTEST_NS, Math.min(to - from, span * 1.05));
    const air = Math.min(width, span) * 0.025;
    const first = Math.max(extent.from - air, Math.min((from + to) / 2 - width / 2, extent.to + air - width));
    return { from: first, to: first + width };
  }
}
