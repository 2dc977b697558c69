import { kernelSequences } from '../chains/kernelSequence';
import { PHASES, phasesOf } from '../chains/phases';
import type { RankData } from '../profile/columns';

const UNKNOWN_PHASE = PHASES.indexOf('unknown');

/** Phase of every device event as index into `PHASES`; a helper takes the phase of the operator before it. */
export function eventPhases(rank: RankData): Uint8Array {
  const phases = new Uint8Array(rank.deviceEvents.count).fill(UNKNOWN_PHASE);
  const { names, sequences } = kernelSequences(rank);
  for (const { order, positions, tokens } of sequences) {
    const own = phasesOf(tokens, names);
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
