/** Runs the finders of the catalogue over the kernels that no chain has taken; what one finds is taken for the next. */
import type { Fusion } from '../fusions/fusion';
import type { RankData } from '../profile/columns';
import type { KernelSequence, TokenNames } from './kernelSequence';
import { PHASES, type Phase } from './phases';
import type { WasteRun } from './wasteView';

export interface FoundWaste {
  readonly fusion: Fusion;
  readonly run: WasteRun;
  readonly phase: Phase;
}

interface Found {
  readonly sequences: readonly KernelSequence[];
  readonly names: TokenNames;
  /** By sequence, 1 for tokens of recognised chains; those of wastes are added. */
  readonly taken: readonly Uint8Array[];
  readonly phases: readonly Uint8Array[];
  readonly fusions: readonly Fusion[];
}

export function findWastes(rank: RankData, { sequences, names, taken, phases, fusions }: Found): readonly FoundWaste[] {
  const finders = fusions.filter((fusion) => fusion.find !== undefined);
  if (finders.length === 0) {
    return [];
  }
  const free = new Uint8Array(rank.deviceEvents.count).fill(1);
  /** Sequence and token of each operator's event, -1 for copies and helpers. */
  const tokenOf = new Int32Array(rank.deviceEvents.count).fill(-1);
  const sequenceOf = new Uint16Array(rank.deviceEvents.count);
  sequences.forEach(({ order, positions }, s) => {
    for (let i = 0; i < positions.length; i++) {
      const event = order[positions[i]];
      tokenOf[event] = i;
      sequenceOf[event] = s;
      free[event] = taken[s][i] === 1 ? 0 : 1;
    }
  });
  const found: FoundWaste[] = [];
  const view = { rank, sequences, names, steps: Math.max(1, rank.steps.length), isFree: (event: number): boolean => free[event] === 1 };
  for (const fusion of finders) {
    for (const run of fusion.find?.(view) ?? []) {
      for (const event of run.events) {
        free[event] = 0;
        if (tokenOf[event] >= 0) {
          taken[sequenceOf[event]][tokenOf[event]] = 1;
        }
      }
      const [first] = run.events;
      const phase = fusion.family === 'optimizer' ? 'optimizer' : tokenOf[first] < 0 ? 'unknown' : PHASES[phases[sequenceOf[first]][tokenOf[first]]] ?? 'unknown';
      found.push({ fusion, run, phase });
    }
  }
  return found;
}
