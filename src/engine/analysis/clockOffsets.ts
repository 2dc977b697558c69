/**
 * Clocks of two hosts can differ by minutes. A collective that every member must wait for (all-reduce, all-gather, …) ends on
 * all of them at nearly the same moment, so the ends of the same collectives tell how far the clocks of two ranks lie apart.
 */
import { EventKind, type RankData } from '../profile/columns';

/** Ends of collectives by a key that is the same on every rank, in ns relative to the rank's own base. */
export type CollectiveEnds = ReadonlyMap<string, number>;

export interface ClockOffset {
  /** How much later this rank's clock reads than the first rank's, ns; 0 where nothing tells or the clocks agree. */
  readonly offsetNs: number;
  /** Half of the collectives agree with the offset to within this, ns. */
  readonly residualNs: number;
  readonly matches: number;
}

/** All members leave these together; a broadcast or a send may end early on one side. */
const TOGETHER = /all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|barrier/i;
/** `hcom_allReduce__170_4_1`: kind, group and number of the call in the group. */
const NUMBERED = /__\d+_\d+/;
const MOST = 512;
const FEWEST = 3;
/** Below this ranks differ by what the network and the scheduler do, not by their clocks. */
const LEAST_NS = 1_000_000;
const NONE: ClockOffset = { offsetNs: 0, residualNs: 0, matches: 0 };

export function collectiveEnds({ deviceEvents: events, strings }: RankData): CollectiveEnds {
  const named: { readonly name: string; readonly endNs: number }[] = [];
  for (let row = 0; row < events.count && named.length < MOST; row++) {
    const endNs = events.startNs[row] + events.durationNs[row];
    if (events.kind[row] === EventKind.Communication && !Number.isNaN(endNs)) {
      const name = strings.get(events.name[row]);
      if (TOGETHER.test(name)) {
        named.push({ name, endNs });
      }
    }
  }
  const totals = new Map<string, number>();
  const kindOf = (name: string): string => TOGETHER.exec(name)?.[0].toLowerCase() ?? '';
  named.forEach(({ name }) => totals.set(kindOf(name), (totals.get(kindOf(name)) ?? 0) + 1));
  const ends = new Map<string, number>();
  const seen = new Map<string, number>();
  for (const { name, endNs } of named) {
    // Names without a number are told apart by their order, if both ranks have equally many.
    const kind = kindOf(name);
    const place = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, place);
    const key = NUMBERED.test(name) ? name : `${kind} ${place} of ${totals.get(kind) ?? 0}`;
    // A name that comes again (several steps) says nothing about which is which.
    ends.set(key, ends.has(key) ? NaN : endNs);
  }
  return ends;
}

/** One offset a rank, against the first; a rank that shares no collective with it is reached through others. */
export function clockOffsets(ranks: readonly { readonly baseNs: bigint; readonly ends: CollectiveEnds }[]): readonly ClockOffset[] {
  const known = new Map<number, ClockOffset>(ranks.length === 0 ? [] : [[0, NONE]]);
  for (let found = true; found;) {
    found = false;
    for (let rank = 1; rank < ranks.length; rank++) {
      if (known.has(rank)) {
        continue;
      }
      for (const [other, { offsetNs }] of known) {
        const pair = between(ranks[other], ranks[rank]);
        if (pair !== undefined) {
          known.set(rank, { ...pair, offsetNs: offsetNs + pair.offsetNs });
          found = true;
          break;
        }
      }
    }
  }
  return ranks.map((_rank, i) => {
    const offset = known.get(i) ?? NONE;
    return Math.abs(offset.offsetNs) < LEAST_NS || offset.residualNs > Math.abs(offset.offsetNs) / 10 ? { ...offset, offsetNs: 0 } : offset;
  });
}

function between(one: { readonly baseNs: bigint; readonly ends: CollectiveEnds }, other: { readonly baseNs: bigint; readonly ends: CollectiveEnds }): ClockOffset | undefined {
  const apart = Number(other.baseNs - one.baseNs);
  const differences: number[] = [];
  for (const [key, endNs] of other.ends) {
    const difference = apart + endNs - (one.ends.get(key) ?? NaN);
    if (!Number.isNaN(difference)) {
      differences.push(difference);
    }
  }
  if (differences.length < FEWEST) {
    return undefined;
  }
  const offsetNs = median(differences);
  return { offsetNs, residualNs: median(differences.map((difference) => Math.abs(difference - offsetNs))), matches: differences.length };
}

function median(values: readonly number[]): number {
  return Float64Array.from(values).sort()[values.length >> 1];
}
