import type { MaybeCountTotal, RankReport } from '../../protocol/report';
import { FAMILIES } from '../../protocol/families';
import { EventKind, type DeviceEvents, type RankData } from '../profile/columns';
import { isKernel, type Selection } from './selection';

/** All kernels of one name and type. */
export interface KernelGroup {
  readonly name: string;
  readonly type: string;
  readonly family: string;
  readonly count: number;
  /** Kernels of the group with a known duration. */
  readonly timed: number;
  readonly totalNs: number;
  readonly maxNs: number;
  /** Row of the longest kernel of the group; any of its rows when no duration is known. */
  readonly longestRow: number;
}

interface Sums {
  row: number;
  count: number;
  timed: number;
  totalNs: number;
  maxNs: number;
}

/** Kernels by (name, type): most total time first, ties by name, so that two reads of a file give one order. */
export function kernelGroups(data: RankData, selection: Selection): readonly KernelGroup[] {
  const { deviceEvents: events, strings } = data;
  // Type ids stay far below 2^21 and name ids below 2^32, so both fit one exact number.
  const groups = new Map<number, Sums>();
  eachRow(selection, (row) => {
    if (!isKernel(events.kind[row])) {
      return;
    }
    const key = events.name[row] * 2_097_152 + events.type[row];
    let sums = groups.get(key);
    if (sums === undefined) {
      sums = { row, count: 0, timed: 0, totalNs: 0, maxNs: 0 };
      groups.set(key, sums);
    }
    sums.count++;
    const duration = events.durationNs[row];
    if (!Number.isNaN(duration)) {
      sums.timed++;
      sums.totalNs += duration;
      if (duration > sums.maxNs) {
        sums.maxNs = duration;
        sums.row = row;
      }
    }
  });
  const result = [...groups.values()].map(({ row, count, timed, totalNs, maxNs }) => ({
    name: strings.get(events.name[row]), type: strings.get(events.type[row]), family: FAMILIES[events.family[row]] ?? 'other', count, timed, totalNs, maxNs, longestRow: row,
  }));
  return result.sort((a, b) => b.totalNs - a.totalNs || compareText(a.name, b.name) || compareText(a.type, b.type));
}

/** Order of code units, the same in every language of the user. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Kernels by family, in the order of the family list; families without a kernel are left out. */
export function familyTotals(events: DeviceEvents, selection: Selection): RankReport['families'] {
  const count = new Uint32Array(FAMILIES.length);
  const totalNs = new Float64Array(FAMILIES.length);
  eachRow(selection, (row) => {
    if (!isKernel(events.kind[row])) {
      return;
    }
    const family = events.family[row];
    count[family]++;
    const duration = events.durationNs[row];
    totalNs[family] += Number.isNaN(duration) ? 0 : duration;
  });
  return FAMILIES.flatMap((family, i) => count[i] === 0 ? [] : [{ family, count: count[i], totalUs: totalNs[i] / 1000 }]);
}

/** What the rank's files record of device events; null stands for what they do not. */
export interface Recorded {
  readonly kernels: boolean;
  readonly copies: boolean;
}

/** Counts and plain sums of the four kinds of device events. */
export function splitTotals(events: DeviceEvents, selection: Selection, recorded: Recorded): RankReport['split'] {
  const count = new Uint32Array(4);
  const totalNs = new Float64Array(4);
  eachRow(selection, (row) => {
    const kind = events.kind[row];
    count[kind]++;
    const duration = events.durationNs[row];
    totalNs[kind] += Number.isNaN(duration) ? 0 : duration;
  });
  const of = (kind: EventKind): MaybeCountTotal => {
    const known = kind === EventKind.Copy || kind === EventKind.Set ? recorded.copies : recorded.kernels;
    return known ? { count: count[kind], totalUs: totalNs[kind] / 1000 } : { count: null, totalUs: null };
  };
  return { compute: of(EventKind.Compute), communication: of(EventKind.Communication), memcpy: of(EventKind.Copy), memset: of(EventKind.Set) };
}

export function eachRow(selection: Selection, visit: (row: number) => void): void {
  const { rows } = selection;
  for (let i = 0; i < rows.length; i++) {
    visit(rows[i]);
  }
  for (const row of selection.unplaced) {
    visit(row);
  }
}
