/** Shorter series are scanned: that takes less than a millisecond. */
const MINIMUM_VALUES = 16_384;
const BLOCK = 64;

/** Lowest and highest value of a range; NaN when nothing in it is known. */
export interface Extremes {
  low: number;
  high: number;
}

/** Extremes of blocks of values, so that a bin over a hundred thousand of them costs as much as one over a few. */
export class CounterLevels {
  private constructor(private readonly low: Float64Array, private readonly high: Float64Array) {}

  static build(value: Float64Array): CounterLevels | undefined {
    if (value.length < MINIMUM_VALUES) {
      return undefined;
    }
    const blocks = Math.ceil(value.length / BLOCK);
    const low = new Float64Array(blocks);
    const high = new Float64Array(blocks);
    const found: Extremes = { low: NaN, high: NaN };
    for (let block = 0; block < blocks; block++) {
      found.low = found.high = NaN;
      scan(value, value, block * BLOCK, Math.min(value.length, (block + 1) * BLOCK), found);
      low[block] = found.low;
      high[block] = found.high;
    }
    return new CounterLevels(low, high);
  }

  /** As `extremes`, through the blocks that lie whole inside `[from, to)`. */
  add(value: Float64Array, from: number, to: number, found: Extremes): void {
    const first = Math.ceil(from / BLOCK);
    const last = Math.floor(to / BLOCK);
    if (first >= last) {
      scan(value, value, from, to, found);
      return;
    }
    scan(value, value, from, first * BLOCK, found);
    scan(this.low, this.high, first, last, found);
    scan(value, value, last * BLOCK, to, found);
  }
}

/** Extremes of the known values in `[from, to)`. */
export function extremes(value: Float64Array, levels: CounterLevels | undefined, from: number, to: number): Extremes {
  const found: Extremes = { low: NaN, high: NaN };
  if (levels === undefined) {
    scan(value, value, from, to, found);
  } else {
    levels.add(value, from, to, found);
  }
  return found;
}

/** A comparison with NaN is false, so the first known value replaces it and unknown ones change nothing. */
function scan(lows: Float64Array, highs: Float64Array, from: number, to: number, found: Extremes): void {
  let { low, high } = found;
  for (let i = from; i < to; i++) {
    low = low <= lows[i] || Number.isNaN(lows[i]) ? low : lows[i];
    high = high >= highs[i] || Number.isNaN(highs[i]) ? high : highs[i];
  }
  found.low = low;
  found.high = high;
}
