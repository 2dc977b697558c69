import { Random } from '../random';
import type { Collective, MarkName, Operation, PauseName, Program } from './program';

/** What the calibration turns, and what a run fixes. All times in nanoseconds. */
export interface Tuning {
  /** Mean launch gap before an ordinary kernel, and before a kernel that waits for the host. */
  readonly gapNs: number;
  readonly hostGapNs: number;
  readonly pausesNs: Readonly<Record<PauseName, number>>;
  /** Start of each rank's first kernel after the earliest rank's. */
  readonly offsetsNs: readonly number[];
  /** How long rank 0 sees the first collective. */
  readonly firstCollectiveNs: number;
  readonly seed: number;
}

/** One rank's step: kernels in stream order, collectives in issue order. Times from the earliest rank's first kernel. */
export interface RankSchedule {
  readonly kernelStart: Float64Array;
  readonly kernelDuration: Float64Array;
  readonly collectiveStart: Float64Array;
  readonly collectiveEnd: Float64Array;
  readonly marks: readonly { readonly name: MarkName; readonly ns: number }[];
}

/** Device times come in steps of 20 ns. */
const TICK = 20;
const CHAIN_GAP = 6500;
const LAUNCH_NS = 14_000;
const JITTER = 0.015;
const RANK_SPEED = 0.0015;
const tick = (ns: number): number => Math.max(TICK, Math.round(ns / TICK) * TICK);

interface RankState {
  readonly random: Random;
  readonly speed: number;
  now: number;
  kernels: number;
  readonly queues: Record<Collective['kind'], number>;
  readonly schedule: RankSchedule & { readonly marks: { name: MarkName; ns: number }[] };
}

/**
 * Runs the program on all ranks in lockstep. Each rank has one compute stream and one queue per kind of collective; a
 * collective ends on all ranks together, when the last rank has arrived and the transfer is over. So early ranks wait
 * longer, late ones less, as on a real machine.
 */
export function schedule(program: Program, tuning: Tuning): readonly RankSchedule[] {
  const kernels = program.operations.filter((operation) => operation.kind === 'kernel').length;
  const ranks = tuning.offsetsNs.map((offset, rank) => newRank(offset, rank, kernels, program.collectives.length, tuning.seed));
  const network = new Random(tuning.seed + 7919);
  for (const operation of program.operations) {
    if (operation.kind === 'issue') {
      collective(ranks, program.collectives[operation.collective], operation.collective, tuning, network);
      continue;
    }
    ranks.forEach((state, rank) => step(state, rank, operation, tuning));
  }
  return ranks.map((state) => state.schedule);
}

function newRank(offset: number, rank: number, kernels: number, collectives: number, seed: number): RankState {
  const random = new Random(seed + rank * 104729);
  return {
    random, now: offset, kernels: 0,
    speed: rank === 0 ? 1 : 1 + RANK_SPEED * random.spread(),
    queues: { allReduce: 0, allGather: 0, reduceScatter: 0 },
    schedule: {
      kernelStart: new Float64Array(kernels), kernelDuration: new Float64Array(kernels),
      collectiveStart: new Float64Array(collectives), collectiveEnd: new Float64Array(collectives), marks: [],
    },
  };
}

function step(state: RankState, rank: number, operation: Exclude<Operation, { kind: 'issue' }>, tuning: Tuning): void {
  switch (operation.kind) {
    case 'kernel': {
      const { kernel } = operation;
      const vary = state.random.spread() * JITTER;
      const gap = gapBefore(operation.gap, state.random.next(), tuning);
      // The remainder of rank 0 closes the counts, so it is exact there.
      const duration = tick(kernel.meanNs * (kernel.remainder && rank === 0 ? 1 : (1 + vary) * state.speed));
      const at = state.kernels++;
      if (at > 0) {
        state.now += tick(gap);
      }
      state.schedule.kernelStart[at] = state.now;
      state.schedule.kernelDuration[at] = duration;
      state.now += duration;
      return;
    }
    case 'wait':
      state.now = Math.max(state.now, state.schedule.collectiveEnd[operation.collective]);
      return;
    case 'pause':
      state.now += tick(tuning.pausesNs[operation.name]);
      return;
    case 'mark':
      state.schedule.marks.push({ name: operation.name, ns: state.now });
      return;
    case 'seam':
      return;
  }
}

function gapBefore(kind: 'normal' | 'chain' | 'host', random: number, tuning: Tuning): number {
  switch (kind) {
    case 'normal': return tuning.gapNs * (0.5 + random);
    case 'chain': return CHAIN_GAP * (0.9 + 0.2 * random);
    case 'host': return tuning.hostGapNs * (0.5 + random);
  }
}

function collective(ranks: readonly RankState[], what: Collective, id: number, tuning: Tuning, network: Random): void {
  let arrived = 0;
  for (const state of ranks) {
    const start = tick(Math.max(state.queues[what.kind], state.now + LAUNCH_NS));
    state.schedule.collectiveStart[id] = start;
    arrived = Math.max(arrived, start);
  }
  const transfer = what.transferUs * 1000 * (1 + 0.03 * network.spread());
  const first = id === 0 ? ranks[0].schedule.collectiveStart[0] + tuning.firstCollectiveNs : 0;
  const end = tick(Math.max(arrived + transfer, first));
  ranks.forEach((state, rank) => {
    // Ranks leave within a few microseconds of each other.
    const left = id === 0 && rank === 0 ? end : end + tick(3000 * network.next());
    state.schedule.collectiveEnd[id] = left;
    state.queues[what.kind] = left;
  });
}
