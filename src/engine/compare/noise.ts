/** Samples, their spread, and when a difference stands out of it. Everything is symmetric in the two sides. */
import type { Judgement, Spread } from '../../protocol/compare';

/** From so many samples on, the spread is the distance of the quartiles; below, the whole range. */
const QUARTILES_FROM = 8;

/**
 * The range of few samples is small by chance, so it counts more than once: with these factors noise is about three standard
 * errors of the difference of two medians, whatever the number of samples.
 */
const RANGE_FACTOR: readonly number[] = [NaN, NaN, 3, 2, 1.5, 1.5, 1.5, 1.5];

/** Below this share of the smaller side nothing is called a difference, however steady the samples. */
const SMALLEST_CHANGE = 0.01;

/** Median and spread of known values; null when there is none. */
export function spreadOf(values: readonly (number | null)[]): Spread | null {
  const sorted = values.filter((value): value is number => value !== null && Number.isFinite(value)).sort((a, b) => a - b);
  if (sorted.length === 0) {
    return null;
  }
  const few = sorted.length < QUARTILES_FROM;
  return { median: quantile(sorted, 0.5), low: few ? sorted[0] : quantile(sorted, 0.25), high: few ? sorted[sorted.length - 1] : quantile(sorted, 0.75), samples: sorted.length };
}

/** Between two neighbours in proportion (type 7 of Hyndman and Fan). */
export function quantile(sorted: readonly number[], q: number): number {
  const at = (sorted.length - 1) * q;
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
}

/** What chance alone may do to the difference of the two medians; null where a side has a single sample. */
export function noiseOf(base: Spread, candidate: Spread): number | null {
  const parts = [base, candidate].map(({ low, high, samples }) => (samples < 2 ? NaN : (high - low) * (samples < QUARTILES_FROM ? RANGE_FACTOR[samples] : 1)));
  return parts.some(Number.isNaN) ? null : Math.max(...parts);
}

/** A verdict only outside the noise. */
export function judge(base: Spread, candidate: Spread): { readonly kind: Judgement; readonly noise: number | null } {
  const noise = noiseOf(base, candidate);
  const difference = candidate.median - base.median;
  if (noise === null) {
    return { kind: 'unjudged', noise };
  }
  const floor = Math.min(Math.abs(base.median), Math.abs(candidate.median)) * SMALLEST_CHANGE;
  return { kind: Math.abs(difference) <= Math.max(noise, floor) ? 'same' : difference < 0 ? 'faster' : 'slower', noise };
}

/** The same samples in another unit of work. */
export function scaled(spread: Spread, factor: number): Spread {
  return { median: spread.median * factor, low: spread.low * factor, high: spread.high * factor, samples: spread.samples };
}
