import type { AreaGroup, AreaStats } from '../../protocol/timeline';
import type { RankData } from '../profile/columns';
import { IntervalBuilder, lengthOf, NO_INTERVALS, unite, type Intervals } from '../analysis/intervals';
import { firstEndingAfter, rowCount } from './lane';
import { PALETTE } from './palette';
import { timelineIndex } from './timelineIndex';

const MOST_NAMES = 50;

interface Group {
  events: number;
  sumNs: number;
}

/** Totals of a stretch of time over some lanes. An event that two of the lanes show counts once. */
export function areaStats(rank: RankData, { startNs, endNs, lanes }: { readonly startNs: number; readonly endNs: number; readonly lanes: readonly string[] }): AreaStats {
  const { laneById } = timelineIndex(rank);
  const seen = { device: new Uint8Array(rank.deviceEvents.count), host: new Uint8Array(rank.hostEvents.count), step: new Uint8Array(rank.steps.length) };
  const families = new Map<string, Group>();
  const names = new Map<string, Group>();
  const durations: number[] = [];
  let union: Intervals = NO_INTERVALS;
  let sumNs = 0;
  for (const id of new Set(lanes)) {
    const lane = laneById.get(id);
    for (let row = 0; lane !== undefined && row < rowCount(lane); row++) {
      const { table } = lane;
      const taken = table.side === 'gap' ? undefined : seen[table.side];
      const busy = new IntervalBuilder();
      for (let position = firstEndingAfter(lane, row, startNs); position < lane.rowStart[row + 1]; position++) {
        const event = lane.order[position];
        const start = table.startNs[event];
        if (start >= endNs) {
          break;
        }
        if (taken?.[event] === 1) {
          continue;
        }
        if (taken !== undefined) {
          taken[event] = 1;
        }
        const duration = table.durationNs[event];
        const insideStart = Math.max(start, startNs);
        const insideEnd = Math.min(start + (duration > 0 ? duration : 0), endNs);
        const insideNs = Math.max(0, insideEnd - insideStart);
        busy.add(insideStart, insideEnd);
        sumNs += insideNs;
        durations.push(duration >= 0 ? duration : NaN);
        addTo(families, PALETTE[table.colour[event]].id, insideNs);
        addTo(names, table.side === 'gap' ? PALETTE[table.colour[event]].id : table.nameOf(event), insideNs);
      }
      union = unite(union, busy.finish());
    }
  }
  const byName = groups(names);
  return {
    startNs, endNs, events: durations.length, sumNs, unionNs: lengthOf(union), ...distribution(durations),
    families: groups(families), names: byName.slice(0, MOST_NAMES), omittedNames: Math.max(0, byName.length - MOST_NAMES),
  };
}

function addTo(groups: Map<string, Group>, name: string, ns: number): void {
  const group = groups.get(name);
  if (group === undefined) {
    groups.set(name, { events: 1, sumNs: ns });
  } else {
    group.events++;
    group.sumNs += ns;
  }
}

function groups(map: ReadonlyMap<string, Group>): readonly AreaGroup[] {
  return [...map].map(([name, { events, sumNs }]) => ({ name, events, sumNs })).sort((a, b) => b.sumNs - a.sumNs || b.events - a.events || (a.name < b.name ? -1 : 1));
}

/** Nearest rank, over the events whose duration is known. */
function distribution(durations: readonly number[]): Pick<AreaStats, 'minNs' | 'meanNs' | 'medianNs' | 'p95Ns' | 'maxNs'> {
  const known = Float64Array.from(durations.filter((duration) => !Number.isNaN(duration))).sort();
  if (known.length === 0) {
    return { minNs: null, meanNs: null, medianNs: null, p95Ns: null, maxNs: null };
  }
  const rank = (share: number): number => known[Math.max(0, Math.ceil(share * known.length) - 1)];
  return { minNs: known[0], meanNs: known.reduce((sum, ns) => sum + ns, 0) / known.length, medianNs: rank(0.5), p95Ns: rank(0.95), maxNs: known[known.length - 1] };
}
