/**
 * Recorded time ↔ display time. Normally the same; with "hide gaps" the long times in which the device does nothing take no
 * width. Display time keeps the unit (ns) and equals recorded time up to the first hidden gap.
 */
export class TimeWarp {
  private readonly removedBefore: Float64Array;

  /** `pairs`: start, end, start, end … of the gaps to hide, ascending and disjoint. */
  constructor(private readonly pairs: Float64Array = new Float64Array(0)) {
    this.removedBefore = new Float64Array(pairs.length / 2 + 1);
    for (let gap = 0; 2 * gap < pairs.length; gap++) {
      this.removedBefore[gap + 1] = this.removedBefore[gap] + pairs[2 * gap + 1] - pairs[2 * gap];
    }
  }

  get isIdentity(): boolean {
    return this.pairs.length === 0;
  }

  get gapCount(): number {
    return this.pairs.length / 2;
  }

  toDisplay(timeNs: number): number {
    const gap = this.gapsStartingBefore(timeNs);
    if (gap === 0) {
      return timeNs;
    }
    const end = this.pairs[2 * gap - 1];
    const start = this.pairs[2 * gap - 2];
    return timeNs >= end ? timeNs - this.removedBefore[gap] : start - this.removedBefore[gap - 1];
  }

  toTime(displayNs: number): number {
    let low = 0;
    let high = this.gapCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.pairs[2 * middle] - this.removedBefore[middle] <= displayNs) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return displayNs + this.removedBefore[low];
  }

  /** Display times of hidden gaps in `[from, to]`, with the time each hides. */
  marks(from: number, to: number): { readonly at: number; readonly hiddenNs: number }[] {
    const marks: { at: number; hiddenNs: number }[] = [];
    for (let gap = 0; gap < this.gapCount; gap++) {
      const at = this.pairs[2 * gap] - this.removedBefore[gap];
      if (at > to) {
        break;
      }
      if (at >= from) {
        marks.push({ at, hiddenNs: this.pairs[2 * gap + 1] - this.pairs[2 * gap] });
      }
    }
    return marks;
  }

  private gapsStartingBefore(timeNs: number): number {
    let low = 0;
    let high = this.gapCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.pairs[2 * middle] < timeNs) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
