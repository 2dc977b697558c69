const DIGIT = 11;
const BUCKETS = 1 << DIGIT;
const SMALL = 2048;

/**
 * Sorts non-negative integers ascending and returns them. Counting digits is some five times faster than comparing for the
 * million durations of a long recording; short lists and values of 2^33 or more (8.6 s in ns) are compared.
 */
export function sortIntegers(values: Float64Array): Float64Array {
  let largest = 0;
  for (let i = 0; i < values.length; i++) {
    if (!(values[i] >= 0) || !Number.isInteger(values[i])) {
      return values.sort();
    }
    largest = Math.max(largest, values[i]);
  }
  if (values.length < SMALL || largest >= 2 ** (3 * DIGIT)) {
    return values.sort();
  }
  let from: Float64Array = values;
  let to: Float64Array = new Float64Array(values.length);
  for (let divisor = 1; divisor <= largest; divisor *= BUCKETS) {
    const offsets = new Uint32Array(BUCKETS);
    for (let i = 0; i < from.length; i++) {
      offsets[digit(from[i], divisor)]++;
    }
    let sum = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const count = offsets[bucket];
      offsets[bucket] = sum;
      sum += count;
    }
    for (let i = 0; i < from.length; i++) {
      to[offsets[digit(from[i], divisor)]++] = from[i];
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Values go beyond 32 bits, so the shift is a division; the quotient's low digits survive the conversion to 32 bits. */
function digit(value: number, divisor: number): number {
  return Math.floor(value / divisor) & (BUCKETS - 1);
}
