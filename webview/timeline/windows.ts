import type { LaneRows, TimelineWindow } from '../../src/protocol/timeline';

/** The part of a window that one row owns. */
export interface RowPart {
  readonly eventFrom: number;
  readonly eventTo: number;
  readonly segmentFrom: number;
  readonly segmentTo: number;
  /** Offset of the first segment's first bin in the bin arrays. */
  readonly binFrom: number;
}

export interface LoadedWindow {
  readonly data: TimelineWindow;
  readonly rows: ReadonlyMap<string, RowPart>;
  readonly nsPerPixel: number;
}

export interface WindowWish {
  readonly startNs: number;
  readonly endNs: number;
  readonly pixels: number;
  readonly lanes: readonly LaneRows[];
  readonly hiddenFamilies: readonly number[];
}

export type FetchWindow = (wish: WindowWish, requestId: number, signal: AbortSignal) => Promise<TimelineWindow>;

const KEPT_WINDOWS = 6;
/** Zooming in further than this asks for finer bins. */
const FINER = 1.3;
const COARSER = 4;

export const rowKey = (lane: string, row: number): string => `${lane}/${row}`;

/**
 * Windows by recency and the queue that asks for them: one request at a time, and when it returns only the latest wish
 * counts. What was there stays drawable until better data has come.
 */
export class WindowStore {
  private windows: LoadedWindow[] = [];
  private inFlight: { readonly wish: WindowWish; readonly abort: AbortController } | undefined;
  private requestId = 0;
  private failures = 0;

  constructor(private readonly fetchWindow: FetchWindow, private readonly arrived: () => void, private readonly failed: (error: unknown) => void) {}

  /** Called once a frame with what is on screen; asks for 3× the viewport when nothing loaded serves it. */
  want(wish: WindowWish, extent: { readonly startNs: number; readonly endNs: number }): void {
    if (this.inFlight !== undefined || this.failures > 3 || wish.lanes.length === 0) {
      return;
    }
    const width = wish.endNs - wish.startNs;
    const margin = { ...wish, startNs: Math.max(extent.startNs, wish.startNs - width * 0.4), endNs: Math.min(extent.endNs, wish.endNs + width * 0.4) };
    if (this.windows.some((window) => serves(window, margin, width / wish.pixels))) {
      return;
    }
    const startNs = Math.max(extent.startNs, wish.startNs - width);
    const endNs = Math.min(extent.endNs, wish.endNs + width);
    if (!(endNs > startNs)) {
      return;
    }
    this.ask({ ...wish, startNs, endNs, pixels: Math.max(1, Math.round((wish.pixels * (endNs - startNs)) / width)) });
  }

  /** Windows that show this row somewhere in the range, coarse before fine. */
  forRow(key: string, startNs: number, endNs: number): readonly LoadedWindow[] {
    return this.windows.filter(({ data, rows }) => rows.has(key) && data.startNs < endNs && data.endNs > startNs).sort((a, b) => b.data.nsPerBin - a.data.nsPerBin);
  }

  /** The one to read events from: the finest that covers the range, else the finest there is. */
  bestFor(key: string, startNs: number, endNs: number): LoadedWindow | undefined {
    const all = this.forRow(key, startNs, endNs);
    return all.findLast(({ data }) => data.startNs <= startNs && data.endNs >= endNs) ?? all.at(-1);
  }

  get newest(): LoadedWindow | undefined {
    return this.windows[0];
  }

  clear(): void {
    this.inFlight?.abort.abort();
    this.inFlight = undefined;
    this.windows = [];
    this.failures = 0;
  }

  private ask(wish: WindowWish): void {
    const abort = new AbortController();
    const current = { wish, abort };
    this.inFlight = current;
    this.fetchWindow(wish, ++this.requestId, abort.signal).then(
      (data) => {
        if (this.inFlight === current) {
          this.inFlight = undefined;
          this.failures = 0;
          this.add(data, (wish.endNs - wish.startNs) / wish.pixels);
          this.arrived();
        }
      },
      (error: unknown) => {
        if (this.inFlight === current) {
          this.inFlight = undefined;
          this.failures++;
          this.failed(error);
        }
      },
    );
  }

  private add(data: TimelineWindow, nsPerPixel: number): void {
    const filter = data.hiddenFamilies.join();
    const others = this.windows.filter((window) => window.data.hiddenFamilies.join() === filter);
    this.windows = [{ data, nsPerPixel, rows: indexRows(data) }, ...others].slice(0, KEPT_WINDOWS);
  }
}

function serves(window: LoadedWindow, wish: WindowWish, nsPerPixel: number): boolean {
  const { data } = window;
  return data.startNs <= wish.startNs && data.endNs >= wish.endNs && window.nsPerPixel <= nsPerPixel * FINER && window.nsPerPixel * COARSER >= nsPerPixel
    && data.hiddenFamilies.join() === wish.hiddenFamilies.join()
    && wish.lanes.every((lane) => window.rows.has(rowKey(lane.id, lane.from)) && window.rows.has(rowKey(lane.id, lane.to - 1)));
}

function indexRows({ rows, lanes, bins }: TimelineWindow): ReadonlyMap<string, RowPart> {
  const index = new Map<string, RowPart>();
  let eventFrom = 0;
  let segmentFrom = 0;
  let binFrom = 0;
  for (let at = 0; at < rows.length; at += 4) {
    const part = { eventFrom, eventTo: eventFrom + rows[at + 2], segmentFrom, segmentTo: segmentFrom + rows[at + 3], binFrom };
    index.set(rowKey(lanes[rows[at]].id, rows[at + 1]), part);
    for (; segmentFrom < part.segmentTo; segmentFrom++) {
      binFrom += bins.segments[2 * segmentFrom + 1];
    }
    eventFrom = part.eventTo;
  }
  return index;
}
