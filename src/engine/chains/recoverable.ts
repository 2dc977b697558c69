/**
 * Recoverable time of a chain, as a range and never a promise.
 *
 * `device`: what one fused kernel could save. It must at least do what the longest kernel of the chain does, so at most
 * `mean − longest` is saved for each occurrence; a fused kernel that moves twice as much (it reads what two kernels read)
 * gives the lower end, `mean − 2 × longest`. Shapes are not used: a profile has those of inputs alone, and which of them a
 * fused kernel still reads is not in it.
 *
 * A waste that no fused kernel replaces (casts of many tensors, a mask made again) may go whole, or must stay where it is
 * needed after all: from nothing to all of its time.
 *
 * `step`: the part that lies on the critical path: occurrences under which no communication runs, since a step that waits
 * for communication does not get shorter with its kernels.
 */

export interface RecoverableInput {
  readonly occurrences: number;
  readonly meanNs: number;
  readonly longestNs: number;
  /** Share of the chain's time with no communication running, 0 to 1. */
  readonly exposedShare: number;
  /** Idle time between the chain's kernels, for all occurrences together. */
  readonly gapNs: number;
  /** Nothing replaces the chain: it goes, or it stays. */
  readonly mayRemain?: boolean;
}

export interface Recoverable {
  readonly deviceNs: readonly [number, number];
  readonly stepNs: readonly [number, number];
}

export function recoverable({ occurrences, meanNs, longestNs, exposedShare, gapNs, mayRemain }: RecoverableInput): Recoverable {
  const low = mayRemain === true ? 0 : Math.max(0, meanNs - 2 * longestNs) * occurrences;
  const high = Math.max(0, meanNs - longestNs) * occurrences;
  return { deviceNs: [low, high], stepNs: [low * exposedShare, (high + gapNs) * exposedShare] };
}
