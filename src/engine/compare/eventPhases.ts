import type { Explanation } from '../attribution/explain';
import type { Fingerprint } from '../chains/fingerprints';
import { kernelSequences, type TokenNames } from '../chains/kernelSequence';
import { isBackwardOnly, PHASES, phasesOf } from '../chains/phases';
import type { RankData } from '../profile/columns';

const UNKNOWN_PHASE = PHASES.indexOf('unknown');
const BACKWARD = PHASES.indexOf('backward');
const RECOMPUTE = PHASES.indexOf('recompute');

/** Fused forward operators, whose backward has a token of its own: in the backward pass they are recompute. */
const FORWARD_ONLY: ReadonlySet<string> = new Set(['fused.rmsNorm', 'fused.gatedNorm', 'fused.swiglu', 'fused.rotary', 'attention']);

export const fusedPhase = (token: string, phase: string): string => (phase === 'backward' && FORWARD_ONLY.has(token) ? 'recompute' : phase);

/**
 * Phase of every device event as index into `PHASES`; a helper takes the phase of the operator before it. Recompute is what
 * lies between two forward forms in the backward pass with no backward kernel between them, those forms included: what comes
 * before the first and after the last one may belong to either and counts as backward.
 */
export function eventPhases(rank: RankData, explanation?: Pick<Explanation, 'fingerprints' | 'chainOf'>): Uint8Array {
  const phases = new Uint8Array(rank.deviceEvents.count).fill(UNKNOWN_PHASE);
  const { names, sequences } = kernelSequences(rank);
  const forms = (explanation?.fingerprints ?? []).map(({ fingerprint }) => formOf(fingerprint, explanation));
  const formAt = (event: number): Form => forms[explanation?.chainOf[event] ?? -1] ?? 'either';
  for (const { order, positions, tokens } of sequences) {
    const own = phasesOf(tokens, names);
    markRecompute(own, tokens, names, (i) => formAt(order[positions[i]]));
    let next = 0;
    let phase = own.length > 0 ? own[0] : UNKNOWN_PHASE;
    for (let i = 0; i < order.length; i++) {
      if (next < positions.length && positions[next] === i) {
        phase = own[next];
        next++;
      }
      phases[order[i]] = phase;
    }
  }
  return phases;
}

/** What a chain in the backward pass tells of the pass its kernels belong to. */
type Form = 'forward' | 'backward' | 'either';

/** Turning back a rotary embedding is the same kernels as turning it. */
const OWN_BACKWARD: ReadonlySet<string> = new Set(['rope']);

function formOf({ phase, chain, fusion }: Fingerprint, explanation: Pick<Explanation, 'fingerprints'> | undefined): Form {
  if (fusion !== undefined) {
    return phase === 'recompute' && !OWN_BACKWARD.has(fusion.id) ? 'forward' : 'either';
  }
  // What repeats in no forward pass belongs to the backward one.
  return phase !== 'backward' ? 'either' : (explanation?.fingerprints ?? []).some(({ fingerprint }) => fingerprint.phase === 'forward' && fingerprint.chain === chain) ? 'either' : 'backward';
}

function markRecompute(phases: Uint8Array, tokens: Uint16Array, names: TokenNames, formAt: (i: number) => Form): void {
  const backwardOnly = names.names.map(isBackwardOnly);
  const forwardOnly = names.names.map((name) => FORWARD_ONLY.has(name));
  /** The last forward form, as long as nothing but recompute can lie behind it. */
  let last = -1;
  for (let i = 0; i < tokens.length; i++) {
    if (phases[i] !== BACKWARD || backwardOnly[tokens[i]] || formAt(i) === 'backward') {
      last = -1;
    } else if (forwardOnly[tokens[i]] || formAt(i) === 'forward') {
      phases.fill(RECOMPUTE, last < 0 ? i : last, i + 1);
      last = i;
    }
  }
}
