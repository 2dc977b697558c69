import fc from 'fast-check';
import { assignFamilies } from '../../../src/engine/analysis/families';
import { rankDigest } from '../../../src/engine/compare/rankDigest';
import { EventKind, type Coverage, type RankData, type StepInfo } from '../../../src/engine/profile/columns';
import type { CompareSide, RankDigest } from '../../../src/protocol/compare';
import { rankOf, type EventSpec } from '../analysis/rankBuilder';

/** A side as a test writes it: per rank, the kernels of each step. */
export interface SideSpec {
  readonly ranks: readonly { readonly rank: number; readonly steps: readonly (readonly { readonly name: string; readonly ns: number; readonly communication?: boolean }[])[] }[];
  readonly facts?: Readonly<Record<string, string>>;
  readonly backend?: RankData['backend'];
  readonly coverage?: Partial<Coverage>;
}

const NAMES = ['ampere_sgemm_64x64_nn', 'void at::native::vectorized_elementwise_kernel<4, MulFunctor>', 'ncclDevKernel_AllReduce_Sum', 'softmax_warp_forward', 'mystery'];

const step = fc.array(fc.record({ name: fc.constantFrom(...NAMES), ns: fc.integer({ min: 1, max: 1_000_000 }) }), { minLength: 1, maxLength: 12 });
export const sideSpec: fc.Arbitrary<SideSpec> = fc.record({ ranks: fc.uniqueArray(fc.record({ rank: fc.integer({ min: 0, max: 3 }), steps: fc.array(step, { minLength: 1, maxLength: 4 }) }), { selector: ({ rank }) => rank, minLength: 1, maxLength: 3 }) });

export function rankData({ rank, steps }: SideSpec['ranks'][number], { backend = 'cuda', facts = {}, coverage = {} }: Pick<SideSpec, 'backend' | 'facts' | 'coverage'> = {}): RankData {
  const events: EventSpec[] = [];
  const infos: StepInfo[] = [];
  let at = 0;
  steps.forEach((kernels, index) => {
    const start = at;
    for (const { name, ns, communication = /nccl|hcom/.test(name) } of kernels) {
      events.push({ start: at, duration: ns, name, step: index, kind: communication ? EventKind.Communication : EventKind.Compute });
      at += ns + 100;
    }
    infos.push({ name: `ProfilerStep#${index}`, number: index, startNs: start, durationNs: at - start, source: 'profiler' });
  });
  const made = rankOf({ events, steps: infos, backend });
  const data = { ...made, rank, facts, coverage: { ...made.coverage, ...coverage } };
  assignFamilies(data);
  return data;
}

export function digestOf(rank: SideSpec['ranks'][number], spec: SideSpec): RankDigest {
  return rankDigest(rankData(rank, spec), { id: `rank${rank.rank}`, label: `rank${rank.rank}`, rank: rank.rank, group: '' });
}

export const sideOf = (name: string, ...runs: readonly SideSpec[]): CompareSide => ({ name, runs: runs.map((spec) => spec.ranks.map((rank) => digestOf(rank, spec))) });
