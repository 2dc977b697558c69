/**
 * Recoverable time of a chain, as a range and never a promise.
 *
 * `device`: what one fused kernel could save. It must at least do what the longest kernel of the chain does, so at most
 * `mean − longest` is saved for each occurrence; a fused kernel that moves twice as much (it reads what two kernels read)
 * gives the lower end, `mean − 2 × longest`. Where shapes and dtypes are known the fused kernel moves the chain's distinct
 * inputs and its last output once, at the bandwidth this profile's own elementwise kernels reach: that gives the upper end.
 *
 * `step`: the part that lies on the critical path: occurrences under which no communication runs, since a step that waits
 * for communication does not get shorter with its kernels.
 */

export interface RecoverableInput {
  readonly occurrences: number;
  readonly meanNs: number;
  readonly longestNs: number;
  /** Time of the fused kernel by bytes and bandwidth; undefined without shapes. */
  readonly fusedNs: number | undefined;
  /** Share of the chain's time with no communication running, 0 to 1. */
  readonly exposedShare: number;
  /** Idle time between the chain's kernels, for all occurrences together. */
  readonly gapNs: number;
}

export interface Recoverable {
  readonly deviceNs: readonly [number, number];
  readonly stepNs: readonly [number, number];
}

export function recoverable(input: RecoverableInput): Recoverable {
  const high = Math.max(0, input.meanNs - Math.min(input.longestNs, input.fusedNs ?? input.longestNs));
  const low = Math.max(0, Math.min(high, input.meanNs - 2 * Math.max(input.longestNs, input.fusedNs ?? 0)));
  const device: [number, number] = [low * input.occurrences, high * input.occurrences];
  return { deviceNs: device, stepNs: [device[0] * input.exposedShare, device[1] * input.exposedShare + input.gapNs * input.exposedShare] };
}
