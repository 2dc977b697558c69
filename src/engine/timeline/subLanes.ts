/** Smallest end times over a growing list of rows, so that the first free row is found in O(log rows). */
class RowEnds {
  rows = 0;
  private size = 64;
  private tree = new Float64Array(128).fill(-Infinity);

  /** Lowest row whose last event has ended at `startNs`; opens a new row when there is none. */
  firstFree(startNs: number): number {
    let row: number;
    if (this.tree[1] > startNs) {
      row = this.rows;
    } else {
      let node = 1;
      while (node < this.size) {
        node = this.tree[2 * node] <= startNs ? 2 * node : 2 * node + 1;
      }
      row = node - this.size;
    }
    if (row >= this.rows) {
      this.rows = row + 1;
      if (this.rows > this.size) {
        this.grow();
      }
    }
    return row;
  }

  occupy(row: number, endNs: number): void {
    let node = row + this.size;
    this.tree[node] = endNs;
    for (node >>= 1; node >= 1; node >>= 1) {
      this.tree[node] = Math.min(this.tree[2 * node], this.tree[2 * node + 1]);
    }
  }

  private grow(): void {
    const old = this.tree;
    const oldSize = this.size;
    this.size *= 2;
    this.tree = new Float64Array(2 * this.size).fill(-Infinity);
    for (let row = 0; row < oldSize; row++) {
      this.tree[this.size + row] = old[oldSize + row];
    }
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
    const row = ends.firstFree(startNs[event]);
    ends.occupy(row, occupiedUntil(startNs[event], durationNs[event]));
    rowOf[i] = row;
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
