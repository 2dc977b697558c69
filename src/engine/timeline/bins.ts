import { PALETTE } from './palette';

const COLOURS = PALETTE.length;

/** Takes the finished bins of a row, in ascending order; empty bins are not reported. */
export type BinSink = (bin: number, busyNs: number, colour: number, count: number) => void;

/**
 * Adds up disjoint events in order of time into bins of `binNs`. Events are at most a bin long, so at most one of them
 * reaches from a bin into the next, and nothing larger than the colours of one bin has to be kept.
 */
export class BinCursor {
  private bin = -Infinity;
  private readonly busy = new Float64Array(COLOURS);
  private readonly seen = new Uint8Array(COLOURS);
  private readonly colours = new Uint8Array(COLOURS);
  private colourCount = 0;
  private count = 0;
  private carryNs = 0;
  private carryColour = 0;

  constructor(private readonly originNs: number, private readonly binNs: number, private readonly firstBin: number, private readonly endBin: number, private readonly sink: BinSink) {}

  /** `durationNs` is at most `binNs`. Parts outside `[firstBin, endBin)` are left out; the event counts in the bin of its start. */
  add(startNs: number, durationNs: number, colour: number): void {
    const at = startNs - this.originNs;
    const bin = Math.floor(at / this.binNs);
    if (bin !== this.bin) {
      this.moveTo(bin);
    }
    const room = (bin + 1) * this.binNs - at;
    this.count++;
    this.addBusy(colour, durationNs < room ? durationNs : room);
    if (durationNs > room) {
      this.carryNs = durationNs - room;
      this.carryColour = colour;
    }
  }

  finish(): void {
    this.moveTo(Infinity);
  }

  private addBusy(colour: number, ns: number): void {
    if (this.seen[colour] === 0) {
      this.seen[colour] = 1;
      this.colours[this.colourCount++] = colour;
      this.busy[colour] = 0;
    }
    this.busy[colour] += ns;
  }

  private moveTo(bin: number): void {
    this.flush();
    if (this.carryNs > 0) {
      this.bin++;
      this.addBusy(this.carryColour, this.carryNs);
      this.carryNs = 0;
      if (this.bin === bin) {
        return;
      }
      this.flush();
    }
    this.bin = bin;
  }

  private flush(): void {
    let busy = 0;
    let best = 0;
    for (let i = 0; i < this.colourCount; i++) {
      const colour = this.colours[i];
      busy += this.busy[colour];
      this.seen[colour] = 0;
      if (i === 0 || this.busy[colour] > this.busy[best]) {
        best = colour;
      }
    }
    if (this.colourCount > 0 && this.bin >= this.firstBin && this.bin < this.endBin) {
      this.sink(this.bin, busy, best, this.count);
    }
    this.colourCount = 0;
    this.count = 0;
  }
}

/** Share of a bin as 1 … 255: a bin with any event is never invisible. */
export function busyByte(busyNs: number, binNs: number): number {
  return Math.max(1, Math.min(255, Math.round((busyNs / binNs) * 255)));
}
