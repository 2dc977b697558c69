/**
 * Attribution carried over from a second capture of the same code that has Python stacks: both captures' kernels are lined up
 * stream by stream, step by step, and what lies in an equal stretch takes the other's place. Where the two differ we abstain.
 */
import { canonicalOperator, kernelTokens } from '../chains/kernelSequence';
import type { RankData } from '../profile/columns';
import { commonStretches } from './commonStretches';

export interface CarriedOver {
  /** For each device event the event of the other capture it stands for, -1 where the captures differ. */
  readonly eventOf: Int32Array;
  /** Share of both captures' kernels that lie in equal stretches, 0 to 1. */
  readonly share: number;
}

/** Fewer equal kernels in a row than this are chance: `mul`, `add`, `cast` come in any order somewhere. */
const LEAST_STRETCH = 8;
/** With less than this in common, the captures are not of the same code and settings. */
const LEAST_SHARE = 0.5;

/** Undefined when the captures have too little in common. */
export function carryOver(rank: RankData, other: RankData): CarriedOver | { readonly share: number } {
  const ids = new Map<string, number>();
  const own = lanesOf(rank, ids);
  const theirs = lanesOf(other, ids);
  const eventOf = new Int32Array(rank.deviceEvents.count).fill(-1);
  let common = 0;
  let all = 0;
  let answered = 0;
  own.forEach((lane, place) => {
    const partner = theirs[place];
    if (partner === undefined) {
      all += lane.count;
      return;
    }
    const steps = [...partner.steps.values()];
    const model = steps.reduce<Sequence | undefined>((a, b) => (a === undefined || b.events.length > a.events.length ? b : a), undefined);
    lane.steps.forEach((sequence, step) => {
      // The same number of the step, where both have it, saw the same data; else the other's fullest step.
      const twin = partner.steps.get(step) ?? model;
      if (twin === undefined) {
        return;
      }
      all += sequence.events.length;
      for (const [from, to, length] of commonStretches(sequence.tokens, twin.tokens)) {
        common += length;
        if (length < LEAST_STRETCH && length < Math.min(sequence.events.length, twin.events.length)) {
          continue;
        }
        answered += length;
        for (let i = 0; i < length; i++) {
          eventOf[sequence.events[from + i]] = twin.events[to + i];
        }
      }
    });
  });
  const share = all === 0 ? 0 : common / all;
  return share < LEAST_SHARE || answered === 0 ? { share } : { eventOf, share };
}

interface Sequence {
  readonly events: readonly number[];
  readonly tokens: Int32Array;
}

interface Lane {
  readonly count: number;
  /** By step number, -1 outside every step. */
  readonly steps: ReadonlyMap<number, Sequence>;
}

/** Device events of each stream in order, the fullest stream first: stream numbers change from run to run. */
function lanesOf(rank: RankData, ids: Map<string, number>): readonly Lane[] {
  const { deviceEvents: events, strings } = rank;
  const tokenOf = kernelTokens(rank);
  const known = new Map<number, number>();
  const idOf = (event: number): number => {
    const key = (events.name[event] * strings.size + events.type[event]) * 4 + events.kind[event];
    let id = known.get(key);
    if (id === undefined) {
      const { op, satelliteOf } = tokenOf(event);
      // Kernels of no known operator are compared by name, without the numbers that tile sizes and counters leave in it.
      const text = `${events.kind[event]} ${op === '' ? strings.get(events.name[event]).replace(/\d+/g, '') : canonicalOperator(op)} ${satelliteOf ?? ''}`;
      id = ids.get(text) ?? ids.size;
      ids.set(text, id);
      known.set(key, id);
    }
    return id;
  };
  const streams: number[][] = rank.streams.map(() => []);
  for (let i = 0; i < events.count; i++) {
    if (!Number.isNaN(events.startNs[i])) {
      streams[events.stream[i]].push(i);
    }
  }
  return streams.filter((list) => list.length > 0).sort((a, b) => b.length - a.length).map((list) => {
    list.sort((a, b) => events.startNs[a] - events.startNs[b] || a - b);
    const steps = new Map<number, number[]>();
    for (const event of list) {
      const step = rank.steps[events.step[event]];
      const key = step === undefined ? -1 : step.number ?? events.step[event];
      const known = steps.get(key);
      if (known === undefined) {
        steps.set(key, [event]);
      } else {
        known.push(event);
      }
    }
    return { count: list.length, steps: new Map([...steps].map(([step, members]) => [step, { events: members, tokens: Int32Array.from(members, idOf) }])) };
  });
}
