/** Which ranks and steps of the two sides stand beside each other. */
import type { CompareReport, CompareSide, RankDigest } from '../../protocol/compare';

/** One step of one rank of one run. */
export interface Sample {
  readonly run: number;
  readonly digest: RankDigest;
  /** Index into `digest.steps`. */
  readonly step: number;
}

export interface RankPair {
  readonly rank: number | null;
  readonly base: readonly Sample[];
  readonly candidate: readonly Sample[];
}

type Notes = CompareReport['notes'];

export interface Pairing {
  readonly pairs: readonly RankPair[];
  /** `order`: ranks of different numbers or names stand beside each other. `none`: no rank is on both sides, all are taken. */
  readonly by: 'rank' | 'order' | 'none';
  readonly notes: Notes;
}

interface Located {
  readonly run: number;
  readonly digest: RankDigest;
}

export function pairRanks(base: CompareSide, candidate: CompareSide): Pairing {
  const notes: Notes[number][] = [];
  const [baseRanks, candidateRanks] = pairGroups(located(base), located(candidate), notes);
  const baseKeys = byRank(baseRanks);
  const candidateKeys = byRank(candidateRanks);
  // In order of the ranks, so that both directions of a comparison show the same one first.
  const common = [...baseKeys.keys()].filter((key) => candidateKeys.has(key)).sort(byNumber);
  const dropped = baseKeys.size + candidateKeys.size - 2 * common.length;
  const matched = common.length > 0 ? common.map((key) => [key, key] as const) : inOrder([...baseKeys.keys()].sort(byNumber), [...candidateKeys.keys()].sort(byNumber));
  const by = common.length > 0 ? 'rank' : matched.length > 0 ? 'order' : 'none';
  if (common.length > 0 && dropped > 0) {
    notes.push({ code: 'compare.note.ranks-left-out', args: { count: dropped } });
  }
  const lists = by === 'none' ? [[baseRanks, candidateRanks] as const] : matched.map(([first, second]) => [baseKeys.get(first) ?? [], candidateKeys.get(second) ?? []] as const);
  let partial = 0;
  const samples = (ranks: readonly Located[]): readonly Sample[] => {
    const all = ranks.flatMap(({ run, digest }) => digest.steps.map((_step, step): Sample => ({ run, digest, step })));
    const whole = withoutPartial(all);
    partial += all.length - whole.length;
    return whole;
  };
  const pairs = lists.map(([first, second]): RankPair => ({ rank: first[0]?.digest.rank ?? null, base: samples(first), candidate: samples(second) })).filter((pair) => pair.base.length > 0 && pair.candidate.length > 0);
  if (partial > 0) {
    notes.push({ code: 'compare.note.partial-steps', args: { count: partial } });
  }
  return { pairs, by, notes };
}

const located = ({ runs }: CompareSide): readonly Located[] => runs.flatMap((digests, run) => digests.map((digest): Located => ({ run, digest })));

const groupKey = (digest: RankDigest): string => digest.group.split(/[\\/]/).pop() ?? '';

/** Step folders of one name belong together; where no name is on both sides, the first of each is taken. */
function pairGroups(base: readonly Located[], candidate: readonly Located[], notes: Notes[number][]): readonly [readonly Located[], readonly Located[]] {
  const keys = (ranks: readonly Located[]): readonly string[] => [...new Set(ranks.map(({ digest }) => groupKey(digest)))];
  const [baseKeys, candidateKeys] = [keys(base), keys(candidate)];
  const common = baseKeys.filter((key) => candidateKeys.includes(key));
  const [baseKept, candidateKept] = common.length > 0 ? [common, common] : [baseKeys.slice(0, 1), candidateKeys.slice(0, 1)];
  const left = [...baseKeys.filter((key) => !baseKept.includes(key)), ...candidateKeys.filter((key) => !candidateKept.includes(key))];
  if (left.length > 0) {
    notes.push({ code: 'compare.note.folders-left-out', args: { folders: left.join(', ') } });
  }
  return [base.filter(({ digest }) => baseKept.includes(groupKey(digest))), candidate.filter(({ digest }) => candidateKept.includes(groupKey(digest)))];
}

function byRank(ranks: readonly Located[]): ReadonlyMap<string, readonly Located[]> {
  const found = new Map<string, Located[]>();
  for (const one of ranks) {
    const key = one.digest.rank === null ? one.digest.label : String(one.digest.rank);
    found.set(key, [...(found.get(key) ?? []), one]);
  }
  return found;
}

const byNumber = (a: string, b: string): number => Number(a) - Number(b) || (a < b ? -1 : a > b ? 1 : 0);

/** Ranks without a common name: one beside one, or as many beside as many. */
function inOrder(base: readonly string[], candidate: readonly string[]): readonly (readonly [string, string])[] {
  return base.length === candidate.length ? base.map((key, i) => [key, candidate[i]] as const) : [];
}

/** A recording that begins or ends within a step leaves part of one; it is no sample. */
const PARTIAL_SHARE = 0.5;

function withoutPartial(samples: readonly Sample[]): readonly Sample[] {
  if (samples.length < 3) {
    return samples;
  }
  const counts = samples.map(({ digest, step }) => digest.steps[step].kernels.count ?? 0);
  const median = [...counts].sort((a, b) => a - b)[counts.length >> 1];
  return samples.filter((_sample, i) => counts[i] >= median * PARTIAL_SHARE);
}
