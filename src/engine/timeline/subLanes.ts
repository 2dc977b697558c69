/** Rows looked at one by one: nearly all lanes need no more. */
const FEW = 16;

/** End times of the rows in use, so that the first free row is found quickly, however many there are. */
class RowEnds {
  rows = 0;
  private readonly few = new Float64Array(FEW);
  private readonly many = new EndTree();

  /** Lowest row whose last event has ended at `startNs`; opens a new row when there is none. Occupies it until `endNs`. */
  take(startNs: number, endNs: number): number {
    const look = this.rows < FEW ? this.rows : FEW;
    for (let row = 0; row < look; row++) {
      if (this.few[row] <= startNs) {
        this.few[row] = endNs;
        return row;
      }
    }
    if (this.rows < FEW) {
      this.few[this.rows] = endNs;
      return this.rows++;
    }
    const row = FEW + this.many.take(startNs, endNs);
    this.rows = Math.max(this.rows, row + 1);
    return row;
  }
}

/** A tree of minima: the first row that has ended is found in O(log rows). */
class EndTree {
  private size = 64;
  private tree = new Float64Array(128).fill(-Infinity);

  take(startNs: number, endNs: number): number {
    if (this.tree[1] > startNs) {
      this.grow();
    }
    let node = 1;
    while (node < this.size) {
      node = this.tree[2 * node] <= startNs ? 2 * node : 2 * node + 1;
    }
    const row = node - this.size;
    this.tree[node] = endNs;
    for (node >>= 1; node >= 1; node >>= 1) {
      this.tree[node] = Math.min(this.tree[2 * node], this.tree[2 * node + 1]);
    }
    return row;
  }

  private grow(): void {
    const old = this.tree;
    const oldSize = this.size;
    this.size *= 2;
    this.tree = new Float64Array(2 * this.size).fill(-Infinity);
    this.tree.set(old.subarray(oldSize), this.size);
    for (let node = this.size - 1; node >= 1; node--) {
      this.tree[node] = Math.min(this.tree[2 * node], this.tree[2 * node + 1]);
    }
  }
}

/** Events of a lane, row after row, each row by start. */
export interface Rows {
  readonly order: Uint32Array;
  /** First position of each row in `order`, plus the total at the end. */
  readonly rowStart: Uint32Array;
}

/** Where an event ends for the purpose of sharing a row: unknown and zero durations still need a place of their own. */
export function occupiedUntil(startNs: number, durationNs: number): number {
  return startNs + (durationNs >= 1 ? durationNs : 1);
}

/**
 * Puts events on rows so that events of one row never overlap; nested events go below their parent. `events` must be
 * ordered by start (the longer first where starts are equal, if the caller wants parents above children).
 */
export function assignRows(events: Uint32Array, startNs: Float64Array, durationNs: Float64Array): Rows {
  const ends = new RowEnds();
  const rowOf = new Uint32Array(events.length);
  for (let i = 0; i < events.length; i++) {
    const event = events[i];
    rowOf[i] = ends.take(startNs[event], occupiedUntil(startNs[event], durationNs[event]));
  }
  const rowStart = new Uint32Array(ends.rows + 1);
  for (let i = 0; i < rowOf.length; i++) {
    rowStart[rowOf[i] + 1]++;
  }
  for (let row = 0; row < ends.rows; row++) {
    rowStart[row + 1] += rowStart[row];
  }
  const next = rowStart.slice();
  const order = new Uint32Array(events.length);
  for (let i = 0; i < events.length; i++) {
    order[next[rowOf[i]]++] = events[i];
  }
  return { order, rowStart };
}
