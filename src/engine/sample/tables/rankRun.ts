import type { Collective } from '../model/program';
import type { Lanes } from '../model/lanes';
import type { Kernel } from '../model/kernel';
import type { RankSchedule } from '../model/schedule';
import type { SampleRun } from '../runs';

/** Everything the writers of one rank folder need. */
export interface RankRun {
  readonly run: SampleRun;
  readonly rank: number;
  /** One per `schedule.kernelStart`. */
  readonly kernels: readonly Kernel[];
  readonly collectives: readonly Collective[];
  readonly schedule: RankSchedule;
  readonly lanes: Lanes;
  /** Per collective: time on the wire, the shortest any rank saw, ns. */
  readonly transferNs: Float64Array;
}

/** The profiled step, as in the article. */
export const STEP = 5;

const KINDS = {
  allReduce: { type: 'hcom_allReduce_', short: 'allreduce', group: '4310925576118203128' },
  allGather: { type: 'hcom_allGather_', short: 'allgather', group: '4310925591407466356' },
  reduceScatter: { type: 'hcom_reduceScatter_', short: 'reducescatter', group: '4310925603992174721' },
} as const;

export interface CollectiveName { readonly name: string; readonly type: string; readonly short: string; readonly group: string }

/** `hcom_allGather__356_17_1`: last three digits of the group, running number in the group. */
export function collectiveNames(collectives: readonly Collective[]): readonly CollectiveName[] {
  const next: Record<string, number> = {};
  return collectives.map(({ kind }) => {
    const { type, short, group } = KINDS[kind];
    const index = next[kind] ?? 0;
    next[kind] = index + 1;
    return { name: `${type}_${group.slice(-3)}_${index}_1`, type, short, group };
  });
}
