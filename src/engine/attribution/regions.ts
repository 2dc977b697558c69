/** Cuts a rank's kernel sequence into passes: a forward, the backward that follows it, an optimizer. */
import type { KernelSequence, TokenNames } from '../chains/kernelSequence';
import { PHASES, phasesOf } from '../chains/phases';

export interface Pass {
  readonly phase: 'forward' | 'backward' | 'optimizer' | 'unknown';
  /** Token indices, end exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Passes in order; a pass shorter than `minimum` tokens is joined to the one before it. */
export function passesOf(sequence: KernelSequence, names: TokenNames, minimum = 8): readonly Pass[] {
  const phases = phasesOf(sequence.tokens, names);
  const passes: { phase: Pass['phase']; start: number; end: number }[] = [];
  let start = 0;
  for (let i = 1; i <= phases.length; i++) {
    if (i < phases.length && phases[i] === phases[start]) {
      continue;
    }
    const phase = PHASES[phases[start]];
    const last = passes[passes.length - 1];
    if (last !== undefined && (i - start < minimum || last.phase === phase)) {
      last.end = i;
    } else {
      passes.push({ phase: phase === 'recompute' ? 'backward' : phase, start, end: i });
    }
    start = i;
  }
  return passes;
}
