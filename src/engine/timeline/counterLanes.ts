import type { TimelineLane } from '../../protocol/timeline';
import type { MemorySeries, RankData } from '../profile/columns';
import { CounterLevels } from './counterLevels';

export type CounterMeasure = 'allocated' | 'reserved' | 'active';

/** One counter as a lane: values by time, each holding until the next; NaN = not known from then on. */
export interface CounterLane {
  readonly id: string;
  readonly label: string;
  readonly measure?: CounterMeasure;
  readonly unit: string;
  readonly timeNs: Float64Array;
  readonly value: Float64Array;
  /** Coarse extremes; undefined for short series. */
  readonly levels: CounterLevels | undefined;
}

export interface CounterIndex {
  readonly lanes: readonly CounterLane[];
  readonly byId: ReadonlyMap<string, CounterLane>;
}

const MEASURES = { allocated: 'allocatedBytes', reserved: 'reservedBytes', active: 'activeBytes' } as const satisfies Record<CounterMeasure, keyof MemorySeries>;

const indexes = new WeakMap<RankData, CounterIndex>();

/** Counters of the trace and memory over time, built on the first request of a rank. */
export function counterIndex(rank: RankData): CounterIndex {
  let index = indexes.get(rank);
  if (index === undefined) {
    const lanes = [...memoryLanes(rank), ...traceLanes(rank)];
    index = { lanes, byId: new Map(lanes.map((lane) => [lane.id, lane])) };
    indexes.set(rank, index);
  }
  return index;
}

function memoryLanes({ memory }: RankData): readonly CounterLane[] {
  // A rank has one device as a rule; its name would only push out of sight what is counted.
  const severalDevices = new Set(memory.map(({ device }) => device)).size > 1;
  return memory.flatMap((series, i) => {
    const order = timeOrder(series.timeNs);
    const label = [series.component, severalDevices ? series.device : ''].filter((part) => part !== '').join(' ');
    return (Object.keys(MEASURES) as CounterMeasure[]).flatMap((measure) => {
      const column = series[MEASURES[measure]];
      return column.some((value) => !Number.isNaN(value))
        ? [lane({ id: `memory:${i}:${measure}`, label, measure, unit: 'B', timeNs: picked(series.timeNs, order), value: picked(column, order) })] : [];
    });
  });
}

/** Groups of few series first: a unit of each core must not push the frequency out of sight. */
function traceLanes({ counters = [] }: RankData): readonly CounterLane[] {
  const sizes = new Map<string, number>();
  for (const { group } of counters) {
    sizes.set(group, (sizes.get(group) ?? 0) + 1);
  }
  const groups = [...sizes.keys()].sort((a, b) => (sizes.get(a) ?? 0) - (sizes.get(b) ?? 0));
  const place = new Map(groups.map((group, i) => [group, i]));
  return counters.map((series, i) => ({ series, i }))
    .sort((a, b) => (place.get(a.series.group) ?? 0) - (place.get(b.series.group) ?? 0) || a.i - b.i)
    .map(({ series: { group, name, unit, timeNs, value }, i }) => lane({ id: `counter:${i}`, label: group === '' || name.startsWith(group) ? name : `${group} · ${name}`, unit, timeNs, value }));
}

function lane(parts: Omit<CounterLane, 'levels'>): CounterLane {
  return { ...parts, levels: CounterLevels.build(parts.value) };
}

/** Rows by time without those that have none; undefined when the column is that already. */
function timeOrder(timeNs: Float64Array): Uint32Array | undefined {
  let sorted = true;
  for (let i = 0; i < timeNs.length && sorted; i++) {
    sorted = timeNs[i] >= (i === 0 ? -Infinity : timeNs[i - 1]);
  }
  return sorted ? undefined : Uint32Array.from([...timeNs.keys()].filter((i) => !Number.isNaN(timeNs[i]))).sort((a, b) => timeNs[a] - timeNs[b] || a - b);
}

function picked(column: Float64Array, order: Uint32Array | undefined): Float64Array {
  return order === undefined ? column : Float64Array.from(order, (row) => column[row]);
}

/** The lanes of the layout: a group that opens, and one lane a series. */
export function counterLayout(rank: RankData, { originNs, spanNs }: { readonly originNs: number; readonly spanNs: number }): readonly TimelineLane[] {
  const { lanes } = counterIndex(rank);
  if (lanes.length === 0) {
    return [];
  }
  const base = { side: 'counter', rows: 1, untimed: 0 } as const;
  return [
    { ...base, id: 'counters', kind: 'counters', label: '', events: lanes.length },
    ...lanes.map(({ id, label, measure, unit, timeNs }): TimelineLane => ({
      ...base, id, kind: 'counter', label, unit, events: timeNs.length, ...(measure === undefined ? {} : { measure }),
      outside: firstAfter(timeNs, originNs - 1) + timeNs.length - firstAfter(timeNs, originNs + spanNs),
    })),
  ];
}

/** First position with a later time; the length when there is none. */
export function firstAfter(timeNs: Float64Array, at: number): number {
  let low = 0;
  let high = timeNs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeNs[middle] > at) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
