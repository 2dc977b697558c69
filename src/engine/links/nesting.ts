/**
 * Which events of some kinds enclose a moment on a thread. "Encloses" tests the start only: `start <= t <= end`; events
 * that end a little after their parent occur in real traces and must not break the nesting.
 */
import type { HostEvents } from '../profile/columns';

export class Nesting {
  private constructor(
    private readonly host: Pick<HostEvents, 'startNs' | 'durationNs'>,
    /** Host rows of the wanted kinds, thread by thread, by start within a thread. */
    private readonly rows: Uint32Array,
    /** Position in `rows` of the innermost event still open when this one starts, -1 none. */
    private readonly up: Int32Array,
    /** Where each thread begins in `rows`; one more entry than threads. */
    private readonly offsets: Uint32Array,
  ) {}

  /** `host` must be sorted as `HostEvents` says. Events without a start are left out; without a duration they end where they start. */
  static build(host: HostEvents, threads: number, wanted: (kind: number) => boolean): Nesting {
    const takes = new Uint8Array(256);
    for (let kind = 0; kind < 256; kind++) {
      takes[kind] = wanted(kind) ? 1 : 0;
    }
    const { startNs, durationNs, kind, thread } = host;
    const offsets = new Uint32Array(threads + 1);
    for (let row = 0; row < host.count; row++) {
      if (takes[kind[row]] === 1 && startNs[row] === startNs[row]) {
        offsets[thread[row] + 1]++;
      }
    }
    for (let t = 0; t < threads; t++) {
      offsets[t + 1] += offsets[t];
    }
    const rows = new Uint32Array(offsets[threads]);
    const up = new Int32Array(rows.length);
    const next = offsets.slice(0, threads);
    /** Innermost open event of each thread; the chain through `up` is the stack. */
    const open = new Int32Array(threads).fill(-1);
    for (let row = 0; row < host.count; row++) {
      if (takes[kind[row]] === 0 || startNs[row] !== startNs[row]) {
        continue;
      }
      const at = next[thread[row]]++;
      let top = open[thread[row]];
      while (top >= 0 && endOf(startNs, durationNs, rows[top]) < startNs[row]) {
        top = up[top];
      }
      rows[at] = row;
      up[at] = top;
      open[thread[row]] = at;
    }
    return new Nesting(host, rows, up, offsets);
  }

  /** The innermost (latest started) event that encloses `timeNs`, as host row, -1 none. */
  innermost(thread: number, timeNs: number): number {
    const at = this.positionAt(thread, timeNs);
    return at < 0 ? -1 : this.rows[at];
  }

  /** All events that enclose `timeNs`, outermost first. */
  enclosing(thread: number, timeNs: number): number[] {
    const found: number[] = [];
    for (let at = this.positionAt(thread, timeNs); at >= 0; at = this.climb(at, timeNs)) {
      found.push(this.rows[at]);
    }
    return found.reverse();
  }

  /** Whether an enclosing event satisfies `test`, innermost first; returns it, -1 none. */
  findEnclosing(thread: number, timeNs: number, test: (row: number) => boolean): number {
    for (let at = this.positionAt(thread, timeNs); at >= 0; at = this.climb(at, timeNs)) {
      if (test(this.rows[at])) {
        return this.rows[at];
      }
    }
    return -1;
  }

  private positionAt(thread: number, timeNs: number): number {
    if (thread < 0 || thread + 1 >= this.offsets.length || timeNs !== timeNs) {
      return -1;
    }
    let low = this.offsets[thread];
    let high = this.offsets[thread + 1];
    const first = low;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.host.startNs[this.rows[middle]] <= timeNs) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const at = low - 1;
    if (at < first) {
      return -1;
    }
    return this.stillOpen(at, timeNs) ? at : this.climb(at, timeNs);
  }

  private climb(from: number, timeNs: number): number {
    let at = this.up[from];
    while (at >= 0 && !this.stillOpen(at, timeNs)) {
      at = this.up[at];
    }
    return at;
  }

  private stillOpen(at: number, timeNs: number): boolean {
    return endOf(this.host.startNs, this.host.durationNs, this.rows[at]) >= timeNs;
  }
}

function endOf(startNs: Float64Array, durationNs: Float64Array, row: number): number {
  const duration = durationNs[row];
  return duration === duration ? startNs[row] + duration : startNs[row];
}
