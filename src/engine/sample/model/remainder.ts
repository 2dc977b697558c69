import type { Random } from '../random';
import type { Targets } from '../targets';
import type { Kernel } from './kernel';

/**
 * The unmodelled remainder: the one group of kernels that is not derived from the model. It closes the counts and the
 * distribution of rank 0 and nothing else. Every such kernel is named `…UnmodelledRemainder…`, sits in a seam between two
 * layers' backward passes, at the start of a micro-batch or before the optimizer, and never inside a forward pass.
 */
const REMAINDER_MARK = 'UnmodelledRemainder';

type Look = readonly [name: string, type: string];

const GLUE: readonly Look[] = [
  [`aclnn${REMAINDER_MARK}_CastAiCore_Cast`, 'Cast'], [`aclnn${REMAINDER_MARK}_TensorMoveAiCore_TensorMove`, 'TensorMove'],
  [`aclnn${REMAINDER_MARK}_SliceAiCore_Slice`, 'Slice'], [`aclnn${REMAINDER_MARK}_TransposeAiCore_Transpose`, 'Transpose'],
];
const ELEMENTWISE: readonly Look[] = [[`aclnn${REMAINDER_MARK}_MulAiCore_Mul`, 'Mul'], [`aclnn${REMAINDER_MARK}_AddAiCore_Add`, 'Add']];
const OTHER: readonly Look[] = [[REMAINDER_MARK, REMAINDER_MARK]];

/** How many kernels sit exactly on a percentile, so that a kernel more or less elsewhere does not move it. */
const ON_P50 = 41;
const ON_P90 = 5;

/** Durations (ns) that, together with `modelled` (ns, any order), give the target distribution and a compute sum of `computeNs`. */
export function remainderDurations(modelled: Float64Array, modelledComputeNs: number, targets: Targets, random: Random): number[] {
  const sorted = modelled.slice().sort();
  const below = (ns: number, inclusive: boolean): number => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < ns || (inclusive && sorted[middle] === ns)) { low = middle + 1; } else { high = middle; }
    }
    return low;
  };
  const { kernels } = targets;
  const p50 = targets.p50Us * 1000;
  const p90 = targets.p90Us * 1000;
  // How many of all kernels must lie below p50, up to 50 µs, up to 100 µs, below p90 (nearest rank).
  const upTo = [
    Math.ceil(kernels / 2) - 1 - (ON_P50 - 1) / 2,
    Math.round(kernels * targets.atMost50us),
    Math.round(kernels * targets.atMost100us),
    Math.ceil(kernels * 0.9) - 1 - (ON_P90 - 1) / 2,
  ];
  const counts = [
    upTo[0] - below(p50, false),
    upTo[1] - upTo[0] - ON_P50 - (below(50_000, true) - below(p50, false)),
    upTo[2] - upTo[1] - (below(100_000, true) - below(50_000, true)),
    upTo[3] - upTo[2] - (below(p90, false) - below(100_000, true)),
    kernels - upTo[3] - ON_P90 - (sorted.length - below(p90, false)),
  ];
  if (counts.some((count) => count < 0)) {
    throw new Error(`the model alone exceeds a bin of the target distribution: ${counts.join(', ')}`);
  }
  const durations: number[] = [
    ...spaced(counts[0], 2_200, p50 * 0.97), ...new Array<number>(ON_P50).fill(p50), ...spaced(counts[1], p50 * 1.03, 49_000),
    ...spaced(counts[2], 51_500, 98_500), ...spaced(counts[3], 103_000, p90 * 0.97), ...new Array<number>(ON_P90).fill(p90),
  ];
  const left = targets.computeBusyMs * 1e6 - modelledComputeNs - durations.reduce((sum, ns) => sum + ns, 0);
  durations.push(...around(counts[4], left / Math.max(1, counts[4])));
  return random.shuffle(durations.map((ns) => Math.round(ns / 20) * 20));
}

/** Log-spaced, denser at the short end. */
function spaced(count: number, low: number, high: number): number[] {
  return Array.from({ length: count }, (_, i) => low * (high / low) ** (((i + 0.5) / count) ** 1.25));
}

/** Evenly spread over ±25 % with exactly this mean. */
function around(count: number, mean: number): number[] {
  return Array.from({ length: count }, (_, i) => mean * (0.75 + (0.5 * (i + 0.5)) / count));
}

/** The remainder's kernels for each seam; the pattern of names is the same in every seam, so that layers stay periodic. */
export function remainderKernels(durations: readonly number[], targets: Targets, seams: readonly number[]): Kernel[][] {
  const { glue, elementwise, other } = targets.remainder;
  const left = { glue, elementwise, other };
  const looks = { glue: GLUE, elementwise: ELEMENTWISE, other: OTHER };
  const total = seams.reduce((sum, weight) => sum + weight, 0);
  const result: Kernel[][] = [];
  let used = 0;
  let weight = 0;
  for (const share of seams) {
    weight += share;
    const until = Math.round((durations.length * weight) / total);
    const kernels: Kernel[] = [];
    for (let i = 0; used < until; i++) {
      const wanted = (['glue', 'elementwise', 'other'] as const).reduce((a, b) => (left[b] / targets.remainder[b] > left[a] / targets.remainder[a] ? b : a));
      left[wanted]--;
      const choices = looks[wanted];
      const [name, type] = choices[i % choices.length];
      kernels.push({ ...BLANK, name, type, meanNs: durations[used++] });
    }
    result.push(kernels);
  }
  return result;
}

const BLANK = {
  core: 'AI_VECTOR_CORE', inputShapes: '', inputTypes: '', outputShapes: '', outputTypes: '', remainder: true,
} as const;
