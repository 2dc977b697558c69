/** Times of a CSV file relative to its first usable one, so that integer nanoseconds fit a double exactly. */
import type { MicrosecondParts } from './csvNumbers';

/** Farther than this from the first time (104 days) nanoseconds leave the exact range, and no recording is that long. */
const FAR_US = 9e12;
/** The first time counts as an epoch time from here on (2001). */
const EPOCH_US = 1e15;

export class TimeBase {
  private whole = NaN;
  private nanos = 0;

  constructor(baseNs?: bigint) {
    if (baseNs !== undefined) {
      this.whole = Number(baseNs / 1000n);
      this.nanos = Number(baseNs % 1000n);
    }
  }

  /** Time of relative 0 in ns; undefined before the first time was seen. */
  get baseNs(): bigint | undefined {
    return Number.isNaN(this.whole) ? undefined : BigInt(this.whole) * 1000n + BigInt(this.nanos);
  }

  /**
   * Nanoseconds since the base, which the first call sets; NaN for a time that cannot belong to the same recording (0 among
   * epoch times, for one).
   */
  relative(parts: MicrosecondParts): number {
    if (parts.negative || parts.whole === 0) {
      return NaN;
    }
    if (Number.isNaN(this.whole)) {
      this.whole = parts.whole;
      this.nanos = parts.nanos;
      return 0;
    }
    const distance = parts.whole - this.whole;
    return Math.abs(distance) > FAR_US ? NaN : distance * 1000 + (parts.nanos - this.nanos);
  }

  /** Whether the base was taken from a stray small number and `parts` is the first real time: all times before it are void. */
  shouldRestart(parts: MicrosecondParts): boolean {
    return this.whole < EPOCH_US && parts.whole >= EPOCH_US && parts.whole - this.whole > FAR_US;
  }

  restart(parts: MicrosecondParts): void {
    this.whole = parts.whole;
    this.nanos = parts.nanos;
  }
}
