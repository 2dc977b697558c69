/** Rows of the two sides beside each other: what is gone, new, faster or slower, and by how much. */
import type { CompareRow, DigestRow, DigestTableId, RankDigest, RowSide } from '../../protocol/compare';
import { judge, scaled, spreadOf } from './noise';
import type { RankPair, Sample } from './pairing';

export interface RowRules {
  /** Time of a step → time per unit of work. */
  readonly baseFactor: number;
  readonly candidateFactor: number;
  /** False where the sides are not comparable: gone and new are facts, faster and slower would be verdicts. */
  readonly judged: boolean;
}

/** All rows of one table, largest difference first. */
export function compareRows(id: DigestTableId, pairs: readonly RankPair[], rules: RowRules): readonly CompareRow[] {
  const usable = pairs.filter(({ base, candidate }) => [...base, ...candidate].some((sample) => applies(id, sample)));
  const places = new RowPlaces(id);
  const bases = metadata(usable.flatMap(({ base }) => base), id);
  const candidates = metadata(usable.flatMap(({ candidate }) => candidate), id);
  const partner = id === 'lines' ? linePartners(bases, candidates) : undefined;
  const keyOf = (key: string): string => partner?.get(key) ?? key;
  const candidateKeys = new Map([...candidates.keys()].map((key) => [keyOf(key), key]));
  const keys = new Set([...bases.keys(), ...candidateKeys.keys()]);
  const rows = [...keys].map((key) => {
    const row = united(bases.get(key), candidates.get(candidateKeys.get(key) ?? key));
    const own = usable.map(({ base, candidate }) => ({ base: base.map((sample) => places.value(sample, key)), candidate: candidate.map((sample) => places.value(sample, candidateKeys.get(key) ?? key)) }));
    return row === undefined ? undefined : abstaining(id, compareRow(row, own, rules));
  });
  // What ran only in steps that are left out is on neither side.
  return rows.filter((row): row is CompareRow => row !== undefined && (row.base !== null || row.candidate !== null)).sort((a, b) => sizeOf(b) - sizeOf(a) || (a.key < b.key ? -1 : 1));
}

const sizeOf = ({ differenceUs, base, candidate }: CompareRow): number => Math.abs(differenceUs ?? base?.totalUs ?? candidate?.totalUs ?? 0);

/** A line that is missing on one side may only not have been located there: nothing is said of it. */
function abstaining(id: DigestTableId, row: CompareRow): CompareRow {
  return id === 'lines' && (row.base === null || row.candidate === null) ? { ...row, differenceUs: null, allDifferenceUs: null, change: null, noiseUs: null, status: 'unjudged' } : row;
}

/** Lines are found on ranks that were given the sources only. */
const applies = (id: DigestTableId, { digest }: Sample): boolean => id !== 'lines' || digest.tables.lines.rows.length > 0;

interface Value {
  readonly count: number;
  readonly us: number;
}

/** Finds a row in a digest without searching it each time. */
class RowPlaces {
  private readonly known = new Map<RankDigest, ReadonlyMap<string, number>>();

  constructor(private readonly id: DigestTableId) {}

  value({ digest, step }: Sample, key: string): Value {
    const table = digest.tables[this.id];
    let places = this.known.get(digest);
    if (places === undefined) {
      places = new Map(table.rows.map((row, i) => [row.key, i]));
      this.known.set(digest, places);
    }
    const place = places.get(key);
    const at = place === undefined ? -1 : step * table.rows.length + place;
    return at < 0 ? { count: 0, us: 0 } : { count: table.counts[at], us: table.totalsNs[at] / 1000 };
  }
}

function metadata(samples: readonly Sample[], id: DigestTableId): ReadonlyMap<string, DigestRow> {
  const rows = new Map<string, DigestRow>();
  for (const digest of new Set(samples.map((sample) => sample.digest))) {
    for (const row of digest.tables[id].rows) {
      const known = rows.get(row.key);
      // The spellings of a chain differ from rank to rank and from side to side: all of them are the row.
      rows.set(row.key, known?.chains === undefined ? known ?? row : { ...known, chains: [...new Set([...known.chains, ...(row.chains ?? [])])] });
    }
  }
  return rows;
}

function united(base: DigestRow | undefined, candidate: DigestRow | undefined): DigestRow | undefined {
  return base?.chains === undefined || candidate?.chains === undefined ? base ?? candidate : { ...base, chains: [...new Set([...base.chains, ...candidate.chains])] };
}

interface RankValues {
  readonly base: readonly Value[];
  readonly candidate: readonly Value[];
}

function compareRow(row: DigestRow, ranks: readonly RankValues[], rules: RowRules): CompareRow {
  const base = rowSide(ranks.map((rank) => rank.base));
  const candidate = rowSide(ranks.map((rank) => rank.candidate));
  const spread = (side: 'base' | 'candidate', factor: number): ReturnType<typeof spreadOf> => {
    const found = spreadOf(ranks.flatMap((rank) => rank[side].map(({ us }) => us)));
    return found === null ? null : scaled(found, factor);
  };
  const [from, to] = [spread('base', rules.baseFactor), spread('candidate', rules.candidateFactor)];
  const judgement = from === null || to === null ? undefined : judge(from, to);
  const status = base === null ? 'new' : candidate === null ? 'gone' : rules.judged && judgement !== undefined ? judgement.kind : 'unjudged';
  const fromUs = (base?.totalUs ?? 0) * rules.baseFactor;
  const differenceUs = (candidate?.totalUs ?? 0) * rules.candidateFactor - fromUs;
  return {
    ...row, base, candidate, differenceUs, allDifferenceUs: (candidate?.allTotalUs ?? 0) * rules.candidateFactor - (base?.allTotalUs ?? 0) * rules.baseFactor,
    change: fromUs > 0 ? differenceUs / fromUs : null, noiseUs: judgement?.noise ?? null, status, by: status === 'same' ? null : movedBy(base, candidate, rules),
  };
}

function movedBy(base: RowSide | null, candidate: RowSide | null, { baseFactor, candidateFactor }: RowRules): CompareRow['by'] {
  if (base === null || candidate === null || !(base.count > 0) || !(candidate.count > 0) || !(base.totalUs > 0) || !(candidate.totalUs > 0)) {
    return null;
  }
  const calls = Math.abs(Math.log((candidate.count * candidateFactor) / (base.count * baseFactor)));
  const mean = Math.abs(Math.log(candidate.totalUs / candidate.count / (base.totalUs / base.count)));
  return calls === 0 && mean === 0 ? null : calls > mean ? 'calls' : 'mean';
}

/** Null where no sample has the row. */
function rowSide(ranks: readonly (readonly Value[])[]): RowSide | null {
  const all = ranks.flat();
  if (all.every(({ count }) => count === 0)) {
    return null;
  }
  const median = (values: readonly number[]): number => spreadOf(values)?.median ?? 0;
  const time = spreadOf(all.map(({ us }) => us));
  const count = median(all.map((value) => value.count));
  const totalUs = time?.median ?? 0;
  return {
    count, totalUs, meanUs: count > 0 ? totalUs / count : null, low: time?.low ?? 0, high: time?.high ?? 0,
    allCount: ranks.reduce((sum, rank) => sum + median(rank.map((value) => value.count)), 0), allTotalUs: ranks.reduce((sum, rank) => sum + median(rank.map(({ us }) => us)), 0),
  };
}

/**
 * Candidate key → base key of the same line. An edit above moves lines: where a function has as many unmatched lines on both
 * sides, they pair in their order.
 */
function linePartners(bases: ReadonlyMap<string, DigestRow>, candidates: ReadonlyMap<string, DigestRow>): ReadonlyMap<string, string> {
  const place = ({ label, function: name }: DigestRow): string => `${label.replace(/:\d+$/, '')}\0${name ?? ''}`;
  const groups = (rows: ReadonlyMap<string, DigestRow>): ReadonlyMap<string, readonly (readonly [string, DigestRow])[]> => {
    const found = new Map<string, (readonly [string, DigestRow])[]>();
    for (const entry of rows) {
      found.set(place(entry[1]), [...(found.get(place(entry[1])) ?? []), entry]);
    }
    return found;
  };
  const partners = new Map<string, string>();
  const baseGroups = groups(bases);
  for (const [name, own] of groups(candidates)) {
    const others = baseGroups.get(name) ?? [];
    const free = new Set(others);
    const unmatched = own.filter(([key, row]) => {
      const same = others.find(([, other]) => other.line === row.line);
      if (same === undefined) {
        return true;
      }
      partners.set(key, same[0]);
      free.delete(same);
      return false;
    });
    const byLine = (a: readonly [string, DigestRow], b: readonly [string, DigestRow]): number => (a[1].line ?? 0) - (b[1].line ?? 0);
    const left = [...free].sort(byLine);
    if (left.length === unmatched.length) {
      [...unmatched].sort(byLine).forEach(([key], i) => partners.set(key, left[i][0]));
    }
  }
  return partners;
}
