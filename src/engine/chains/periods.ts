/**
 * Layer periods: stretches where a sequence repeats itself at a constant lag, give or take a kernel. A lag is a layer or, where kinds of
 * layers alternate, the shortest mix of them that repeats. Candidates are the distances between equal runs of tokens that end in a
 * heavy kernel; the one that explains most is taken first. The cost is linear in the number of kernels.
 */

export interface Period {
  /** Operators from one repeat to the next. */
  readonly lag: number;
  /** Token indices, end exclusive. */
  readonly start: number;
  readonly end: number;
  readonly repeats: number;
}

/** Tokens that must be equal before a distance counts; with fewer, parts of one layer look like two. */
const RUN_LENGTH = 12;
/** Distances are taken to so many earlier equal runs: of mixed layers the neighbour is often of the other half of the mix. */
const RUNS_KEPT = 6;
const CANDIDATES = 12;
const MIN_REPEATS = 3;
/** A layer has its products: what repeats with fewer is a loop over parameters or chunks. */
const MIN_HEAVY = 2;
/** Mismatches that end a stretch, when they come this close: each is forgiven by so many matches. */
const MISSES = 6;
const FORGIVEN_BY = 8;
/** So much of a repeat, but at least three kernels, may have come or gone, and so many equal tokens say that it goes on after that. */
const DRIFT_SHARE = 16;
const RESUMED = 6;
/** A smaller lag that explains nearly as much is the truer one: the other is a multiple of it. */
const NEARLY = 0.95;

/** `heavy`: whether a token is a product or an attention. In order of their start. */
export function layerPeriods(tokens: Uint16Array, heavy: (token: number) => boolean): readonly Period[] {
  const products = new Uint32Array(tokens.length + 1);
  for (let i = 0; i < tokens.length; i++) {
    products[i + 1] = products[i] + (heavy(tokens[i]) ? 1 : 0);
  }
  const free = new Uint8Array(tokens.length).fill(1);
  const periods: Period[] = [];
  let lags = candidateLags(tokens, products);
  while (lags.length > 0) {
    const found = lags.map((lag) => ({ lag, stretches: stretches(tokens, free, lag).filter(({ start, end, repeats }) => products[end] - products[start] >= MIN_HEAVY * repeats) }));
    const covers = ({ stretches: all }: (typeof found)[number]): number => all.reduce((sum, { start, end }) => sum + end - start, 0);
    const most = Math.max(...found.map(covers));
    const best = found.filter((one) => covers(one) >= most * NEARLY).sort((a, b) => a.lag - b.lag)[0];
    if (best.stretches.length === 0) {
      break;
    }
    best.stretches.forEach((period) => {
      free.fill(0, period.start, period.end);
      periods.push(period);
    });
    lags = found.filter((one) => one !== best && one.stretches.length > 0).map(({ lag }) => lag);
  }
  return periods.sort((a, b) => a.start - b.start);
}

const BASE = 0x01000193;

function candidateLags(tokens: Uint16Array, products: Uint32Array): readonly number[] {
  const earlier = new Map<number, number[]>();
  const votes = new Map<number, number>();
  for (let i = RUN_LENGTH - 1; i < tokens.length; i++) {
    if (products[i + 1] === products[i]) {
      continue;
    }
    let hash = 0;
    for (let k = i - RUN_LENGTH + 1; k <= i; k++) {
      hash = (Math.imul(hash, BASE) + tokens[k] + 1) | 0;
    }
    const places = earlier.get(hash) ?? [];
    for (const place of places) {
      votes.set(i - place, (votes.get(i - place) ?? 0) + 1);
    }
    places.unshift(i);
    places.length = Math.min(places.length, RUNS_KEPT);
    earlier.set(hash, places);
  }
  return [...votes].filter(([lag, count]) => lag >= RUN_LENGTH / 2 && count >= MIN_REPEATS - 1).sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, CANDIDATES).map(([lag]) => lag);
}

/** By how much a repeat may be longer or shorter than the one before, the likeliest first. */
const DRIFTS = Array.from({ length: 16 }, (_, i) => [i + 1, -i - 1]).flat();

function stretches(tokens: Uint16Array, free: Uint8Array, lag: number): readonly Period[] {
  const found: Period[] = [];
  let start = -1;
  let end = -1;
  let misses = 0;
  let shift = 0;
  const close = (): void => {
    const repeats = (end - start) / lag + 1;
    if (start >= 0 && repeats >= MIN_REPEATS - 1 / FORGIVEN_BY) {
      found.push({ lag, start: start - lag, end, repeats: Math.round(repeats) });
    }
    start = -1;
    shift = 0;
  };
  const equal = (i: number, by: number): boolean => tokens[i] === tokens[i - lag + by];
  const resumes = (i: number, by: number): boolean => {
    for (let k = 0; k < RESUMED; k++) {
      if (i + k >= tokens.length || i + k - lag + by < 0 || !equal(i + k, by)) {
        return false;
      }
    }
    return true;
  };
  for (let i = lag; i < tokens.length; i++) {
    if (free[i] === 0 || free[i - lag] === 0) {
      close();
      continue;
    }
    // A single equal token is no beginning.
    let same = start < 0 ? resumes(i, 0) : equal(i, shift);
    if (!same && start >= 0) {
      // A few kernels more or less than in the repeat before: the rest goes on beside it.
      const drift = DRIFTS.find((by) => Math.abs(shift + by) <= Math.max(3, lag / DRIFT_SHARE) && resumes(i, shift + by));
      if (drift !== undefined) {
        shift += drift;
        same = true;
      }
    }
    if (same) {
      if (start < 0) {
        start = i;
        misses = 0;
      }
      end = i + 1;
      misses = Math.max(0, misses - 1 / FORGIVEN_BY);
    } else if (start >= 0 && ++misses > MISSES) {
      close();
    }
  }
  close();
  return found;
}
