/** Finds the row that starts at an exact moment on a lane: both ends of a flow lie at the start of a slice. */
export class StartIndex {
  private readonly byLane = new Map<number, number[]>();

  /** `rows` must be in order of start. */
  constructor(private readonly startNs: Float64Array, lane: ArrayLike<number>, rows: Iterable<number>) {
    for (const row of rows) {
      if (Number.isNaN(startNs[row])) {
        continue;
      }
      const list = this.byLane.get(lane[row]);
      if (list === undefined) {
        this.byLane.set(lane[row], [row]);
      } else {
        list.push(row);
      }
    }
  }

  /** The row that starts at `timeNs`, the last added (innermost) of several; -1 none. */
  find(lane: number, timeNs: number): number {
    const rows = this.byLane.get(lane);
    if (rows === undefined || Number.isNaN(timeNs)) {
      return -1;
    }
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.startNs[rows[middle]] <= timeNs) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low > 0 && this.startNs[rows[low - 1]] === timeNs ? rows[low - 1] : -1;
  }
}
