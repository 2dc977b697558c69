/**
 * Layer periods: stretches where the token sequence repeats itself at a constant lag, give or take a kernel. Lags come from
 * a histogram of distances between equal runs of tokens (q-grams), so the cost is linear in the number of kernels.
 */

export interface Period {
  /** Kernels (operators) from one repeat to the next. */
  readonly lag: number;
  /** Token indices, end exclusive. */
  readonly start: number;
  readonly end: number;
  readonly repeats: number;
}

/** Longest first: long runs are rare and so tell the true lag; short ones help where layers vary. */
const GRAM_LENGTHS = [16, 8, 5] as const;
/** Mismatches allowed while a stretch goes on: a missing or extra kernel shifts the lag by one and is followed. */
const TOLERANCE = 0.12;
const MIN_REPEATS = 3;

export function layerPeriods(tokens: Uint16Array): readonly Period[] {
  const free = new Uint8Array(tokens.length).fill(1);
  const periods: Period[] = [];
  for (const length of GRAM_LENGTHS) {
    for (const lag of frequentLags(tokens, free, length)) {
      for (const period of stretches(tokens, free, lag)) {
        free.fill(0, period.start, period.end);
        periods.push(period);
      }
    }
  }
  return periods.sort((a, b) => a.start - b.start);
}

/** Lags by how many q-grams they explain, at most eight. */
function frequentLags(tokens: Uint16Array, free: Uint8Array, length: number): readonly number[] {
  const lastSeen = new Map<number, number>();
  const counts = new Map<number, number>();
  let hash = 0;
  let power = 1;
  for (let i = 0; i < length; i++) {
    power = i === 0 ? 1 : Math.imul(power, BASE);
  }
  for (let i = 0; i < tokens.length; i++) {
    if (i >= length) {
      hash = (hash - Math.imul(tokens[i - length] + 1, power)) | 0;
    }
    hash = (Math.imul(hash, BASE) + tokens[i] + 1) | 0;
    if (i < length - 1 || free[i] === 0) {
      continue;
    }
    const before = lastSeen.get(hash);
    if (before !== undefined) {
      const lag = i - before;
      counts.set(lag, (counts.get(lag) ?? 0) + 1);
    }
    lastSeen.set(hash, i);
  }
  return [...counts].filter(([lag, count]) => count >= Math.max(2 * length, lag) && lag >= 4).sort((a, b) => b[1] - a[1]).slice(0, 8).map(([lag]) => lag);
}

const BASE = 0x01000193;

function stretches(tokens: Uint16Array, free: Uint8Array, lag: number): readonly Period[] {
  const found: Period[] = [];
  let start = -1;
  let misses = 0;
  let matched = 0;
  let shift = 0;
  for (let i = lag + 1; i <= tokens.length; i++) {
    const here = i < tokens.length && free[i] === 1;
    let same = here && tokens[i] === tokens[i - lag + shift];
    if (here && !same && start >= 0) {
      // One kernel more or less than in the repeat before.
      for (const drift of [1, -1]) {
        if (!same && i + 2 < tokens.length && tokens[i] === tokens[i - lag + shift + drift] && tokens[i + 1] === tokens[i + 1 - lag + shift + drift] && Math.abs(shift + drift) <= 3) {
          shift += drift;
          same = true;
        }
      }
    }
    if (same) {
      if (start < 0) {
        start = i;
        misses = 0;
        matched = 0;
        shift = 0;
      }
      matched++;
      continue;
    }
    if (start < 0) {
      continue;
    }
    misses++;
    if (!here || misses > 4 + matched * TOLERANCE) {
      push(found, start, i, lag);
      start = -1;
      shift = 0;
    }
  }
  return found;
}

function push(found: Period[], start: number, end: number, lag: number): void {
  const repeats = (end - start) / lag + 1;
  if (repeats >= MIN_REPEATS) {
    found.push({ lag, start: start - lag, end, repeats: Math.round(repeats) });
  }
}
