import type { TimelineCounters } from '../../src/protocol/timeline';

export interface CounterWish {
  readonly startNs: number;
  readonly endNs: number;
  readonly pixels: number;
  readonly lanes: readonly string[];
}

export type FetchCounters = (wish: CounterWish, requestId: number, signal: AbortSignal) => Promise<TimelineCounters>;

/** The columns of one lane in an answer: `[from, to)`; what the last one says is known up to `untilNs`. */
export interface CounterColumns {
  readonly data: TimelineCounters;
  readonly from: number;
  readonly to: number;
  readonly nsPerBin: number;
  readonly untilNs: number;
}

interface Loaded {
  readonly data: TimelineCounters;
  readonly lanes: ReadonlyMap<string, number>;
  readonly nsPerPixel: number;
}

const KEPT = 4;
const FINER = 1.3;
const COARSER = 4;

/** What is known of the counters on screen: as `WindowStore` does, one request at a time, and old answers stay drawable. */
export class CounterStore {
  private loaded: Loaded[] = [];
  private inFlight: AbortController | undefined;
  private requestId = 0;
  private failures = 0;

  constructor(private readonly fetch: FetchCounters, private readonly arrived: () => void, private readonly failed: (error: unknown) => void) {}

  /** Called once a frame; asks for twice the viewport when nothing loaded serves it. */
  want(wish: CounterWish, extent: { readonly startNs: number; readonly endNs: number }): void {
    if (this.inFlight !== undefined || this.failures > 3 || wish.lanes.length === 0) {
      return;
    }
    const width = wish.endNs - wish.startNs;
    const within = (share: number): CounterWish => ({ ...wish, startNs: Math.max(extent.startNs, wish.startNs - width * share), endNs: Math.min(extent.endNs, wish.endNs + width * share) });
    if (this.loaded.some((loaded) => serves(loaded, within(0.2), width / wish.pixels))) {
      return;
    }
    const { startNs, endNs } = within(0.5);
    if (endNs > startNs) {
      this.ask({ ...wish, startNs, endNs, pixels: Math.max(1, Math.round((wish.pixels * (endNs - startNs)) / width)) });
    }
  }

  /** The finest answer that covers the range, else the newest that shows some of it. */
  columns(lane: string, startNs: number, endNs: number): CounterColumns | undefined {
    let best: { readonly loaded: Loaded; readonly number: number; readonly covers: boolean } | undefined;
    for (const loaded of this.loaded) {
      const number = loaded.lanes.get(lane);
      if (number === undefined || loaded.data.startNs >= endNs || loaded.data.endNs <= startNs) {
        continue;
      }
      const covers = loaded.data.startNs <= startNs && loaded.data.endNs >= endNs;
      if (best === undefined || (covers && (!best.covers || loaded.data.nsPerBin[number] < best.loaded.data.nsPerBin[best.number]))) {
        best = { loaded, number, covers };
      }
    }
    if (best === undefined) {
      return undefined;
    }
    const { loaded: { data }, number } = best;
    return { data, from: data.first[number], to: data.first[number + 1], nsPerBin: data.nsPerBin[number], untilNs: data.untilNs[number] };
  }

  clear(): void {
    this.inFlight?.abort();
    this.inFlight = undefined;
    this.loaded = [];
    this.failures = 0;
  }

  private ask(wish: CounterWish): void {
    const abort = new AbortController();
    this.inFlight = abort;
    const settle = (then: () => void): void => {
      if (this.inFlight === abort) {
        this.inFlight = undefined;
        then();
      }
    };
    this.fetch(wish, ++this.requestId, abort.signal).then(
      (data) => settle(() => {
        this.failures = 0;
        this.loaded = [{ data, nsPerPixel: (wish.endNs - wish.startNs) / wish.pixels, lanes: new Map(data.lanes.map((lane, i) => [lane, i])) }, ...this.loaded].slice(0, KEPT);
        this.arrived();
      }),
      (error: unknown) => settle(() => {
        this.failures++;
        this.failed(error);
      }),
    );
  }
}

function serves({ data, lanes, nsPerPixel }: Loaded, wish: CounterWish, asked: number): boolean {
  return data.startNs <= wish.startNs && data.endNs >= wish.endNs && nsPerPixel <= asked * FINER && nsPerPixel * COARSER >= asked && wish.lanes.every((lane) => lanes.has(lane));
}

/** The column that holds at a time, or comes at most `reachNs` later; undefined where nothing is known of the time. */
export function columnAt({ data, from, to, untilNs }: CounterColumns, timeNs: number, reachNs: number): number | undefined {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (data.timeNs[middle] > timeNs) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const near = (column: number): boolean => column >= from && column < to && Math.abs(data.timeNs[column] - timeNs) <= reachNs;
  if (low > from) {
    const ended = low === to && timeNs > untilNs;
    return ended && !near(low - 1) ? undefined : low - 1;
  }
  return near(low) ? low : undefined;
}

export interface VisibleCounter {
  /** First column that shows in the range, and the end. */
  readonly from: number;
  readonly to: number;
  /** Lowest and highest value known in the range; NaN when none is. */
  readonly low: number;
  readonly high: number;
}

/** What of a lane a stretch of time shows: the value that holds at its start, and all that come in it. */
export function visibleColumns({ data, from, to, untilNs }: CounterColumns, startNs: number, endNs: number): VisibleCounter {
  let first = from;
  while (first + 1 < to && data.timeNs[first + 1] <= startNs) {
    first++;
  }
  let last = first;
  let [low, high] = [Infinity, -Infinity];
  for (; last < to && data.timeNs[last] <= endNs; last++) {
    const before = data.timeNs[last] < startNs;
    if (before && last + 1 === to && untilNs < startNs) {
      first = last + 1;
      continue;
    }
    // A column is taken whole, but for the one that lies before: of that only the value it ends with still shows.
    const [least, most] = before ? [data.value[last], data.value[last]] : [data.low[last], data.high[last]];
    low = least < low ? least : low;
    high = most > high ? most : high;
  }
  return low <= high ? { from: first, to: last, low, high } : { from: first, to: last, low: NaN, high: NaN };
}
