/** Where the difference is largest: pairs of windows worth looking at. Chains come first, since they can be acted upon; then operators. */
import type { CompareRow, WindowFocus, WindowPair } from '../../protocol/compare';

const MOST_PAIRS = 16;
const MOST_OPERATORS = 4;
const MILLISECOND = 1e6;
/** Less of the step's difference than this is not worth a picture. */
const SMALLEST_SHARE = 0.002;

export function windowPairs(chains: readonly CompareRow[], operators: readonly CompareRow[]): readonly WindowPair[] {
  const bySize = (list: readonly WindowPair[]): readonly WindowPair[] => [...list].sort((a, b) => Math.abs(b.differenceUs) - Math.abs(a.differenceUs));
  const pairs = [...bySize(chainPairs(chains)), ...unknownPairs(chains)];
  const shown = new Set(pairs.flatMap(({ base, candidate }) => [...base.operators, ...candidate.operators]));
  const others = operators.filter(({ key, status }) => !shown.has(key) && status !== 'same' && key !== '…' && !key.startsWith('comm.')).slice(0, MOST_OPERATORS);
  const all = [...pairs, ...bySize(others.map(operatorPair))];
  const most = Math.max(0, ...all.map(({ differenceUs }) => Math.abs(differenceUs)));
  return all.filter(({ differenceUs }) => Math.abs(differenceUs) > most * SMALLEST_SHARE).slice(0, MOST_PAIRS);
}

/** Spellings of one fusion in one phase together, and beside them the kernels that do it at once. */
function chainPairs(chains: readonly CompareRow[]): readonly WindowPair[] {
  const groups = new Map<string, CompareRow[]>();
  for (const row of chains) {
    if (row.fusion !== undefined && row.status !== 'same') {
      const key = `${row.fusion} ${row.phase ?? ''}`;
      groups.set(key, [...(groups.get(key) ?? []), row]);
    }
  }
  return [...groups].map(([id, rows]): WindowPair => {
    const { fusion, phase, label } = rows[0];
    const ids = (side: 'base' | 'candidate'): readonly string[] => rows.filter((row) => row[side] !== null).flatMap((row) => row.chains ?? []);
    const wanted = new Set(rows.flatMap(({ fused }) => fused ?? []));
    const focus = (side: 'base' | 'candidate'): WindowFocus => (ids(side).length > 0 ? { chains: ids(side), operators: [], phase: phase ?? null } : insteadOf(chains, wanted, side, phase));
    return {
      id, fusion: fusion ?? null, label, phase: phase ?? null, base: focus('base'), candidate: focus('candidate'), lead: ids('base').length > 0 ? 'base' : 'candidate', widthNs: chainWidth(rows),
      differenceUs: rows.reduce((sum, row) => sum + (row.differenceUs ?? 0), 0),
    };
  });
}

/** Fused kernels of the same phase; what is both forward and backward in one token counts as backward of a recompute. */
function insteadOf(chains: readonly CompareRow[], wanted: ReadonlySet<string>, side: 'base' | 'candidate', phase: string | undefined): WindowFocus {
  const present = chains.filter((row) => row.type !== undefined && wanted.has(row.type) && row[side] !== null);
  const own = present.filter((row) => row.phase === phase);
  const chosen = own.length > 0 ? own : phase === 'recompute' ? present.filter((row) => row.phase === 'backward') : [];
  const tokens = [...new Set(chosen.map(({ type }) => type ?? ''))];
  // A plain norm stands in for a special one only where that is missing.
  return { chains: [], operators: tokens.length > 1 ? tokens.filter((token) => token !== 'fused.rmsNorm') : tokens, phase: chosen[0]?.phase ?? phase ?? null };
}

/** Repeated chains nobody has a name for, one by one. */
function unknownPairs(chains: readonly CompareRow[]): readonly WindowPair[] {
  return chains.filter(({ fusion, type, status, key }) => fusion === undefined && type === undefined && status !== 'same' && key !== '…').slice(0, 2).map((row): WindowPair => ({
    id: row.key, fusion: null, label: row.label, phase: row.phase ?? null, base: { chains: row.base === null ? [] : [row.key], operators: [], phase: row.phase ?? null },
    candidate: { chains: row.candidate === null ? [] : [row.key], operators: [], phase: row.phase ?? null }, lead: row.base === null ? 'candidate' : 'base', widthNs: chainWidth([row]), differenceUs: row.differenceUs ?? 0,
  }));
}

/** Wide enough for a few instances and what lies between them, as in the article's figures (4 to 9 ms there). */
function chainWidth(rows: readonly CompareRow[]): number {
  const spans = rows.map(({ base, candidate }) => {
    const side = base ?? candidate;
    return side === null || side.meanUs === null ? 0 : side.meanUs * 1000;
  });
  const periods = rows.map(({ periodUs }) => (periodUs ?? 0) * 1000);
  return rounded(Math.max(6 * Math.max(...spans), Math.min(1.3 * Math.min(...periods.filter((period) => period > 0), Infinity), 10 * MILLISECOND)));
}

function operatorPair(row: CompareRow): WindowPair {
  const focus = (side: 'base' | 'candidate'): WindowFocus => ({ chains: [], operators: row[side] === null ? [] : [row.key], phase: null });
  const longest = Math.max(row.base?.meanUs ?? 0, row.candidate?.meanUs ?? 0) * 1000;
  return { id: `operator ${row.key}`, fusion: null, label: row.label, phase: null, base: focus('base'), candidate: focus('candidate'), lead: row.base === null ? 'candidate' : 'base', widthNs: rounded(Math.max(12 * longest, 2 * MILLISECOND)), differenceUs: row.differenceUs ?? 0 };
}

/** To half milliseconds, between 0.5 and 20. */
const rounded = (widthNs: number): number => Math.min(20, Math.max(0.5, Math.round((Number.isFinite(widthNs) ? widthNs : 0) / (MILLISECOND / 2)) / 2)) * MILLISECOND;
