/**
 * Times of a trace relative to its first event, exact to the ns: the base is subtracted while µs and ns are still apart.
 * Files exist with single stamps of 0 among epoch times (kineto#109); those must not stretch the axis to decades.
 */
import { DecimalTime, parseMicroseconds } from './traceNumbers';

/** Stands for a stamp of exactly 0 until the base is known. */
export const ZERO_STAMP = -Infinity;

const MAX_EXACT = 2 ** 53;

export class TraceClock {
  private readonly time = new DecimalTime();
  private baseMicroseconds = NaN;
  private baseNanoseconds = 0;
  /** Stamps more than 104 days from the base. */
  tooFar = 0;
  read = 0;
  private readonly far = new DecimalTime();

  constructor(base?: DecimalTime) {
    if (base !== undefined) {
      this.baseMicroseconds = base.microseconds;
      this.baseNanoseconds = base.nanoseconds;
    }
  }

  /** ns after the base; NaN when absent, no number or too far away; `ZERO_STAMP` for 0. */
  relative(bytes: Uint8Array, start: number, end: number): number {
    const time = this.time;
    if (start < 0 || !parseMicroseconds(bytes, start, end, time)) {
      return NaN;
    }
    if (time.microseconds === 0 && time.nanoseconds === 0) {
      return ZERO_STAMP;
    }
    if (this.baseMicroseconds !== this.baseMicroseconds) {
      this.baseMicroseconds = time.microseconds;
      this.baseNanoseconds = time.nanoseconds;
    }
    this.read++;
    const relative = (time.microseconds - this.baseMicroseconds) * 1000 + (time.nanoseconds - this.baseNanoseconds);
    if (relative > MAX_EXACT || relative < -MAX_EXACT) {
      this.tooFar++;
      this.far.microseconds = time.microseconds;
      this.far.nanoseconds = time.nanoseconds;
      return NaN;
    }
    return relative;
  }

  /** As `relative`, without a say in which base is the better one: counters may be stamped by a clock of their own. */
  beside(bytes: Uint8Array, start: number, end: number): number {
    const { read, tooFar } = this;
    const relative = this.relative(bytes, start, end);
    this.read = read;
    this.tooFar = tooFar;
    return relative;
  }

  /** A duration in ns; NaN when absent or no number. Negative ones are returned as they are. */
  duration(bytes: Uint8Array, start: number, end: number): number {
    if (start < 0 || !parseMicroseconds(bytes, start, end, this.time)) {
      return NaN;
    }
    const duration = this.time.microseconds * 1000 + this.time.nanoseconds;
    return duration > MAX_EXACT ? NaN : duration;
  }

  /** What a stamp of 0 is relative to the base; NaN when that is too far to say exactly. */
  zeroStamp(): number {
    if (this.baseMicroseconds !== this.baseMicroseconds) {
      return 0;
    }
    const relative = -this.baseMicroseconds * 1000 - this.baseNanoseconds;
    return relative < -MAX_EXACT ? NaN : relative + 0;
  }

  /** Set when most stamps lie far from the first one, which was the odd one out: read again with this base. */
  betterBase(): DecimalTime | undefined {
    return this.tooFar > this.read / 2 ? this.far : undefined;
  }

  /** Whether the stamps count from the Unix epoch themselves (before 2.3): `baseTimeNanoseconds` must not be added then. */
  get countsFromEpoch(): boolean {
    return this.baseMicroseconds > 1e15;
  }

  /** Absolute ns of relative 0, on the file's own clock. */
  baseNs(): bigint {
    return this.baseMicroseconds !== this.baseMicroseconds ? 0n : BigInt(this.baseMicroseconds) * 1000n + BigInt(this.baseNanoseconds);
  }
}

const SAMPLE = 20_000;
const HOUR = 3.6e12;

/**
 * The range outside which a start is not believed: an hour, or a hundred times the extent of the dense part (5 % to 95 %
 * of a sample), beyond that part.
 */
export function believableRange(...columns: readonly Float64Array[]): readonly [number, number] {
  const total = columns.reduce((sum, column) => sum + column.length, 0);
  const stride = Math.max(1, Math.floor(total / SAMPLE));
  const sample: number[] = [];
  for (const column of columns) {
    for (let i = 0; i < column.length; i += stride) {
      if (Number.isFinite(column[i])) {
        sample.push(column[i]);
      }
    }
  }
  if (sample.length === 0) {
    return [-Infinity, Infinity];
  }
  const sorted = Float64Array.from(sample).sort();
  const low = sorted[Math.floor((sorted.length - 1) * 0.05)];
  const high = sorted[Math.ceil((sorted.length - 1) * 0.95)];
  const slack = Math.max(HOUR, 100 * (high - low));
  return [low - slack, high + slack];
}

/**
 * Resolves stamps of 0 and takes away starts outside `range` (with a duration of 0 that belongs to such a stamp). Returns
 * how many rows have no usable start.
 */
export function dropUnbelievable(starts: Float64Array, durations: Float64Array, range: readonly [number, number], zeroStamp: number): number {
  let dropped = 0;
  for (let i = 0; i < starts.length; i++) {
    if (starts[i] === ZERO_STAMP) {
      starts[i] = zeroStamp;
    }
    if (starts[i] >= range[0] && starts[i] <= range[1]) {
      continue;
    }
    dropped++;
    starts[i] = NaN;
    if (durations[i] === 0) {
      durations[i] = NaN;
    }
  }
  return dropped;
}
