import { PALETTE } from './palette';

const COLOURS = PALETTE.length;

/** Takes the finished bins of a row, in ascending order; empty bins are not reported. */
export type BinSink = (bin: number, busyNs: number, colour: number, count: number) => void;

/**
 * Adds up disjoint events in order of time into bins of `binNs`. An event may cross at most one bin border, so two sets
 * of counters are enough and nothing has to be cleared between rows.
 */
export class BinCursor {
  private bin = -Infinity;
  private busyHere = new Float64Array(COLOURS);
  private countHere = new Uint32Array(COLOURS);
  private busyNext = new Float64Array(COLOURS);

  constructor(private readonly originNs: number, private readonly binNs: number, private readonly firstBin: number, private readonly endBin: number, private readonly sink: BinSink) {}

  /** `durationNs` is at most `binNs`. Parts outside `[firstBin, endBin)` are left out; the event counts in the bin of its start. */
  add(startNs: number, durationNs: number, colour: number): void {
    const at = startNs - this.originNs;
    const bin = Math.floor(at / this.binNs);
    this.moveTo(bin);
    const inside = Math.min(durationNs, (bin + 1) * this.binNs - at);
    this.countHere[colour]++;
    this.busyHere[colour] += inside;
    this.busyNext[colour] += durationNs - inside;
  }

  finish(): void {
    this.moveTo(this.endBin + 2);
  }

  private moveTo(bin: number): void {
    while (this.bin < bin) {
      this.flush();
      const spilled = this.busyHere;
      this.busyHere = this.busyNext;
      this.busyNext = spilled.fill(0);
      this.countHere.fill(0);
      // After one step over a gap nothing is left to carry.
      this.bin = this.busyHere.some((busy) => busy > 0) ? this.bin + 1 : bin;
    }
  }

  private flush(): void {
    if (this.bin < this.firstBin || this.bin >= this.endBin) {
      return;
    }
    let busy = 0;
    let count = 0;
    let best = -1;
    for (let colour = 0; colour < COLOURS; colour++) {
      if (this.countHere[colour] === 0 && this.busyHere[colour] === 0) {
        continue;
      }
      busy += this.busyHere[colour];
      count += this.countHere[colour];
      if (best < 0 || this.busyHere[colour] > this.busyHere[best]) {
        best = colour;
      }
    }
    if (best >= 0) {
      this.sink(this.bin, busy, best, count);
    }
  }
}

/** Share of a bin as 1 … 255: a bin with any event is never invisible. */
export function busyByte(busyNs: number, binNs: number): number {
  return Math.max(1, Math.min(255, Math.round((busyNs / binNs) * 255)));
}
