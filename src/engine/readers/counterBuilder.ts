/** Values of one counter as they come, bounded: a series that grows too long keeps the extremes of neighbouring values. */

/** Values of a series before it is thinned to about half. */
export const MOST_POINTS = 128 * 1024;
const FIRST_POINTS = 32;
const GROUP = 8;

export class CounterBuilder {
  /** Values held, and values there were. */
  count = 0;
  recorded = 0;
  private time = new Float64Array(FIRST_POINTS);
  private value = new Float64Array(FIRST_POINTS);

  /** `value` is NaN where the counter is not known from `timeNs` on. */
  add(timeNs: number, value: number): void {
    if (this.count === MOST_POINTS) {
      this.thin();
    }
    if (this.count === this.time.length) {
      this.time = doubled(this.time);
      this.value = doubled(this.value);
    }
    this.time[this.count] = timeNs;
    this.value[this.count] = value;
    this.count++;
    this.recorded++;
  }

  /** Of every eight neighbours the lowest, the highest, the first unknown one and the last stay, in their order: peaks and gaps stay. */
  thin(): void {
    const { time, value } = this;
    let kept = 0;
    for (let from = 0; from < this.count; from += GROUP) {
      const last = Math.min(from + GROUP, this.count) - 1;
      let [low, high, unknown] = [-1, -1, -1];
      for (let i = from; i <= last; i++) {
        if (Number.isNaN(value[i])) {
          unknown = unknown < 0 ? i : unknown;
          continue;
        }
        low = low < 0 || value[i] < value[low] ? i : low;
        high = high < 0 || value[i] > value[high] ? i : high;
      }
      for (let i = from; i <= last; i++) {
        if (i === low || i === high || i === unknown || i === last) {
          time[kept] = time[i];
          value[kept++] = value[i];
        }
      }
    }
    this.count = kept;
  }

  /** Columns by time, as recorded where times are equal; times that `place` does not know are left out and counted. */
  finish(place: (timeNs: number) => number): { readonly timeNs: Float64Array; readonly value: Float64Array; readonly unplaced: number } {
    const timeNs = this.time.slice(0, this.count);
    const value = this.value.slice(0, this.count);
    let kept = 0;
    let sorted = true;
    for (let i = 0; i < timeNs.length; i++) {
      const at = place(timeNs[i]);
      if (!Number.isNaN(at)) {
        sorted &&= kept === 0 || timeNs[kept - 1] <= at;
        timeNs[kept] = at;
        value[kept++] = value[i];
      }
    }
    const unplaced = timeNs.length - kept;
    return { ...inOrder(kept === timeNs.length ? timeNs : timeNs.slice(0, kept), value.length === kept ? value : value.slice(0, kept), sorted), unplaced };
  }
}

/** Both columns by time; equal times keep their order. */
function inOrder(timeNs: Float64Array, value: Float64Array, sorted: boolean): { readonly timeNs: Float64Array; readonly value: Float64Array } {
  if (sorted) {
    return { timeNs, value };
  }
  const order = Uint32Array.from(timeNs, (_time, i) => i).sort((a, b) => timeNs[a] - timeNs[b] || a - b);
  return { timeNs: Float64Array.from(order, (row) => timeNs[row]), value: Float64Array.from(order, (row) => value[row]) };
}

function doubled(column: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(column.length * 2);
  larger.set(column);
  return larger;
}
