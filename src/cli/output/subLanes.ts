/**
 * Places events of one track, coming in order of start, on sub-tracks where none overlaps another (`apart`) or where each
 * lies inside or after the others (`nested`).
 */
export class SubLanes {
  private readonly ends = new Map<number, number[]>();
  private readonly stacks = new Map<number, number[][]>();

  /** The first sub-track that is free at `start`. Empty events fit wherever their start is not covered. */
  apart(key: number, start: number, end: number): number {
    let ends = this.ends.get(key);
    if (ends === undefined) {
      ends = [];
      this.ends.set(key, ends);
    }
    for (let i = 0; i < ends.length; i++) {
      if (ends[i] <= start) {
        ends[i] = end;
        return i;
      }
    }
    ends.push(end);
    return ends.length - 1;
  }

  /** The first sub-track where the event lies wholly inside whatever is open at `start`. */
  nested(key: number, start: number, end: number): number {
    let stacks = this.stacks.get(key);
    if (stacks === undefined) {
      stacks = [];
      this.stacks.set(key, stacks);
    }
    for (let i = 0; ; i++) {
      const open = stacks[i] ?? (stacks[i] = []);
      while (open.length > 0 && open[open.length - 1] <= start) {
        open.pop();
      }
      if (open.length === 0 || end <= open[open.length - 1]) {
        open.push(end);
        return i;
      }
    }
  }
}
