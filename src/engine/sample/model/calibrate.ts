import { DIMENSIONS } from './dimensions';
import type { Lanes } from './lanes';
import { lanesOf } from './lanes';
import type { Program } from './program';
import { fillSeams } from './program';
import { remainderDurations, remainderKernels } from './remainder';
import type { RankSchedule, Tuning } from './schedule';
import { schedule } from './schedule';
import { Random } from '../random';
import type { Targets } from '../targets';

/** One simulated run: the final program, what every rank did, and rank 0's lanes. */
export interface SimulatedRun {
  readonly program: Program;
  readonly ranks: readonly RankSchedule[];
  readonly lanes: Lanes;
  readonly tuning: Tuning;
  /** Nanoseconds on rank 0. */
  readonly remainderNs: number;
}

const ROUNDS = 14;
const SHORTEST_PAUSE_NS = 200_000;
/** Where the knobs start. */
const START = { gapNs: 5000, hostGapNs: 40_000, firstPauseNs: 2_000_000 };

/**
 * Turns three knobs, each with one effect: the launch gap (exposed communication), the host gap of the optimizer (free
 * time), and the pause before the first micro-batch (where the chain of figure 3 falls). The remainder is recomputed each
 * round. Everything is deterministic; a few rounds converge to well under 0.1 %.
 */
export function calibrate(program: Program, targets: Targets, seed: number): SimulatedRun {
  const offsetsNs = startOffsets(targets, seed);
  const modelled = program.operations.filter((operation) => operation.kind === 'kernel').length;
  let knobs = START;
  let kernelsOfSeams = remainderKernels(placeholder(targets, modelled + program.collectives.length), targets, program.seams);
  let result: SimulatedRun | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const filled = fillSeams(program, kernelsOfSeams);
    const tuning = tuningOf(knobs, targets, offsetsNs, seed);
    const ranks = schedule(filled, tuning);
    const lanes = lanesOf(ranks[0]);
    result = { program: filled, ranks, lanes, tuning, remainderNs: kernelsOfSeams.flat().reduce((sum, kernel) => sum + kernel.meanNs, 0) };
    if (round === ROUNDS - 1) {
      break;
    }
    kernelsOfSeams = closeRemainder(filled, ranks[0], targets, program.seams, seed);
    knobs = turn(knobs, lanes, ranks[0], targets, filled);
  }
  if (result === undefined) {
    throw new Error('no calibration round ran');
  }
  return result;
}

function tuningOf(knobs: typeof START, targets: Targets, offsetsNs: readonly number[], seed: number): Tuning {
  return {
    gapNs: knobs.gapNs, hostGapNs: knobs.hostGapNs, offsetsNs, seed, firstCollectiveNs: targets.firstCollectiveMs * 1e6,
    pausesNs: { 'first-micro-batch': knobs.firstPauseNs, 'next-micro-batch': 260_000, loss: 640_000 },
  };
}

function turn(knobs: typeof START, lanes: Lanes, rank: RankSchedule, targets: Targets, program: Program): typeof START {
  const hostKernels = program.operations.filter((o) => o.kind === 'kernel' && o.gap === 'host').length;
  const exposedMissing = targets.exposedCommunicationMs * 1e6 - lanes.exposedCommunication;
  const freeMissing = targets.freeMs * 1e6 - lanes.free;
  const shift = chainShift(rank, targets, knobs.firstPauseNs);
  const kernels = rank.kernelStart.length;
  return {
    // About half of the gaps lie under a collective and count as exposed.
    gapNs: clamp(knobs.gapNs + (0.8 * exposedMissing) / (0.5 * kernels), 300, 30_000),
    hostGapNs: clamp(knobs.hostGapNs + (0.9 * (freeMissing - shift)) / hostKernels, 300, 400_000),
    firstPauseNs: knobs.firstPauseNs + shift,
  };
}

/** How much later micro-batch 1 must begin for a forward gated chain to fall on its target, with a pause that stays positive. */
function chainShift(rank: RankSchedule, targets: Targets, pauseNs: number): number {
  if (targets.gatedChainAtMs === undefined) {
    return 0;
  }
  const wanted = targets.gatedChainAtMs * 1e6;
  const shifts = rank.marks.filter((mark) => mark.name === 'gated-forward').map((mark) => wanted - mark.ns);
  const possible = shifts.filter((shift) => pauseNs + shift >= SHORTEST_PAUSE_NS);
  return possible.length === 0 ? 0 : Math.min(...possible);
}

function closeRemainder(program: Program, rank: RankSchedule, targets: Targets, seams: readonly number[], seed: number): ReturnType<typeof remainderKernels> {
  const durations: number[] = Array.from(rank.collectiveStart, (start, i) => rank.collectiveEnd[i] - start);
  let compute = 0;
  let at = 0;
  for (const operation of program.operations) {
    if (operation.kind === 'kernel') {
      const duration = rank.kernelDuration[at++];
      if (!operation.kernel.remainder) {
        durations.push(duration);
        compute += duration;
      }
    }
  }
  return remainderKernels(remainderDurations(Float64Array.from(durations), compute, targets, new Random(seed + 31)), targets, seams);
}

function placeholder(targets: Targets, modelled: number): number[] {
  return new Array<number>(targets.kernels - modelled).fill(10_000);
}

/** Start of each rank's first kernel: rank 0 where the targets say, one rank at each end, the others between. */
function startOffsets(targets: Targets, seed: number): number[] {
  const random = new Random(seed + 17);
  const spread = targets.startSpreadMs * 1e6;
  return Array.from({ length: DIMENSIONS.ranks }, (_, rank) => {
    const between = Math.round((spread * (0.12 + 0.8 * random.next())) / 20) * 20;
    if (rank === 0) {
      return targets.rank0StartMs * 1e6;
    }
    return rank === 11 ? spread : rank === 4 && targets.rank0StartMs > 0 ? 0 : between;
  });
}

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));
