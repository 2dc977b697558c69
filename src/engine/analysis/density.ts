import type { OverviewData } from '../../protocol/overview';

const BINS_PER_DECADE = 10;

/**
 * Probability density of kernel durations on logarithmic bins: `density[i]` is the share of all kernels per microsecond of
 * bin width, so that its integral over all bins is 1; drawn with both axes logarithmic. Kernels of zero length have no place
 * on a logarithmic axis and are left out.
 * `sorted` holds durations in ns, ascending.
 */
export function durationDensity(sorted: Float64Array): OverviewData['density'] {
  let first = 0;
  while (first < sorted.length && sorted[first] <= 0) {
    first++;
  }
  const total = sorted.length - first;
  if (total === 0) {
    return { edgesUs: [], density: [], counts: [] };
  }
  const low = binOf(sorted[first]);
  const high = binOf(sorted[sorted.length - 1]) + 1;
  const edgesUs: number[] = [];
  for (let bin = low; bin <= high; bin++) {
    edgesUs.push(edgeNs(bin) / 1000);
  }
  const counts = new Array<number>(high - low).fill(0);
  let bin = low;
  let upper = edgeNs(bin + 1);
  for (let i = first; i < sorted.length; i++) {
    while (sorted[i] >= upper) {
      bin++;
      upper = edgeNs(bin + 1);
    }
    counts[bin - low]++;
  }
  return { edgesUs, counts, density: counts.map((count, i) => count / total / (edgesUs[i + 1] - edgesUs[i])) };
}

/** Lower edge of a bin in ns; bin 0 starts at 1 ns. */
function edgeNs(bin: number): number {
  return 10 ** (bin / BINS_PER_DECADE);
}

function binOf(durationNs: number): number {
  const guess = Math.floor(Math.log10(durationNs) * BINS_PER_DECADE);
  // The logarithm may land a hair on the wrong side of an edge.
  return durationNs < edgeNs(guess) ? guess - 1 : durationNs >= edgeNs(guess + 1) ? guess + 1 : guess;
}
