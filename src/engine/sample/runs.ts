import type { SimulatedRun } from './model/calibrate';
import { calibrate } from './model/calibrate';
import type { RunModel } from './model/runModel';
import { BASELINE_MODEL, OPTIMIZED_MODEL } from './model/runModel';
import { trainingStep } from './model/trainingStep';
import type { Targets } from './targets';
import { BASELINE_TARGETS, OPTIMIZED_TARGETS } from './targets';

/** The two runs of the sample. */
export interface SampleRun {
  readonly name: 'baseline' | 'optimized';
  readonly model: RunModel;
  readonly targets: Targets;
  readonly seed: number;
  /** First kernel of the earliest rank, microseconds since the epoch. */
  readonly baseUs: number;
  /** Local time in folder names. */
  readonly stamp: string;
}

export const SAMPLE_RUNS: readonly SampleRun[] = [
  { name: 'baseline', model: BASELINE_MODEL, targets: BASELINE_TARGETS, seed: 20260711, baseUs: 1783762325118240, stamp: '20260711093205' },
  { name: 'optimized', model: OPTIMIZED_MODEL, targets: OPTIMIZED_TARGETS, seed: 20260718, baseUs: 1784367905402880, stamp: '20260718094505' },
];

export const simulate = (run: SampleRun): SimulatedRun => calibrate(trainingStep(run.model), run.targets, run.seed);
