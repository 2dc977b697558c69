import type { CompareReport, CompareRow } from './compare';

/** What a fusion's chains cost a step before, and what stands in their place after: one rank, forward and recompute together. */
export interface MeasuredFusion {
  /** Catalogue id. */
  readonly fusion: string;
  readonly beforeUs: number;
  readonly afterUs: number;
  /** True: the steps had different numbers of tokens, and `afterUs` is scaled to those of before. */
  readonly perToken: boolean;
}

/**
 * From a comparison: for each fusion whose chains became fewer, the sum of its chains before, against what is left of them plus
 * what its fused operators grew by. Operators that serve this fusion alone come first; where none of them appeared, one that serves
 * several is shared by how many chains each lost. Nothing where the two profiles are not comparable.
 */
export function measuredFusions({ verdict, per, base, candidate, tables }: CompareReport): readonly MeasuredFusion[] {
  const perToken = per === 'token';
  const scale = !perToken ? 1 : base.tokensPerStep !== null && candidate.tokensPerStep !== null && candidate.tokensPerStep > 0 ? base.tokensPerStep / candidate.tokensPerStep : undefined;
  if (verdict.kind === 'notComparable' || scale === undefined) {
    return [];
  }
  const chains = new Map<string, CompareRow[]>();
  for (const row of tables.chains) {
    if (row.fusion !== undefined) {
      chains.set(row.fusion, [...(chains.get(row.fusion) ?? []), row]);
    }
  }
  const growth = operatorGrowth(tables.chains, scale);
  const lost = new Map([...chains].map(([fusion, rows]) => [fusion, rows.reduce((sum, row) => sum + occurrences(row, 'base') - scale * occurrences(row, 'candidate'), 0)]));
  const servedBy = (token: string): readonly string[] => [...chains].filter(([fusion, rows]) => (lost.get(fusion) ?? 0) > LEAST && rows.some(({ fused = [] }) => fused.includes(token))).map(([fusion]) => fusion);
  const own = new Map([...chains].map(([fusion, rows]) => [fusion, [...new Set(rows.flatMap(({ fused = [] }) => fused))].filter((token) => (growth.get(token) ?? 0) > 0)]));
  const alone = (fusion: string): readonly string[] => (own.get(fusion) ?? []).filter((token) => servedBy(token).length === 1);
  return [...chains].flatMap(([fusion, rows]) => {
    if ((lost.get(fusion) ?? 0) <= LEAST) {
      return [];
    }
    const shared = alone(fusion).length > 0 ? [] : (own.get(fusion) ?? []).map((token) => {
      const takers = servedBy(token).filter((other) => alone(other).length === 0);
      return (growth.get(token) ?? 0) * ((lost.get(fusion) ?? 0) / takers.reduce((sum, other) => sum + (lost.get(other) ?? 0), 0));
    });
    const inPlace = [...alone(fusion).map((token) => growth.get(token) ?? 0), ...shared].reduce((sum, us) => sum + us, 0);
    const beforeUs = rows.reduce((sum, row) => sum + (row.base?.totalUs ?? 0), 0);
    const left = rows.reduce((sum, row) => sum + scale * (row.candidate?.totalUs ?? 0), 0);
    // Nothing known took its place: that is no measurement of a fusion.
    return inPlace > 0 ? [{ fusion, beforeUs, afterUs: left + inPlace, perToken }] : [];
  });
}

/** Occurrences a step that must have gone. */
const LEAST = 0.5;

/** How much more time each fused operator takes than before, over all phases. */
function operatorGrowth(rows: readonly CompareRow[], scale: number): ReadonlyMap<string, number> {
  const growth = new Map<string, number>();
  for (const { fusion, type, key, base, candidate } of rows) {
    if (fusion === undefined && type !== undefined && key.startsWith('fused ')) {
      growth.set(type, (growth.get(type) ?? 0) + scale * (candidate?.totalUs ?? 0) - (base?.totalUs ?? 0));
    }
  }
  return growth;
}

function occurrences({ chainLength = 1, ...row }: CompareRow, side: 'base' | 'candidate'): number {
  return (row[side]?.count ?? 0) / chainLength;
}
