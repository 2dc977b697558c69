import type { RankReport, StepReport } from '../../protocol/report';
import type { RankData } from '../profile/columns';
import { familyTotals, kernelGroups, splitTotals, type KernelGroup } from './groups';
import { kernelFigures, sortedDurations, UNKNOWN_KERNELS } from './kernelFigures';
import { laneFigures, recordsCopies } from './laneFigures';
import { busyUnions, isKernel, selectEvents, selectSteps, type Selection } from './selection';
import { streamFigures } from './streamFigures';
import { microseconds } from './units';

export interface ReportOptions {
  /** How the rank is called where it has no number. */
  readonly label: string;
  /** Index into `RankData.steps`; undefined for the whole recording. */
  readonly step?: number;
}

/** Names in `topKernels`; the rest is in the Overview and in `--kernels`. */
const TOP_KERNELS = 20;

/**
 * All figures of one rank in microseconds relative to the rank's own base. With a step, every figure is over the events
 * assigned to that step, and only that step is listed. `assignFamilies` must have run.
 */
export function rankReport(data: RankData, options: ReportOptions): RankReport {
  return reportOf(data, options, measureWindow(data, options.step));
}

/** What costs most to find out about a window, found once for the report and the Overview. */
export interface MeasuredWindow {
  readonly selection: Selection;
  readonly sorted: Float64Array;
  readonly groups: readonly KernelGroup[];
}

export function measureWindow(data: RankData, step: number | undefined): MeasuredWindow {
  const selection = selectEvents(data.deviceEvents, step);
  return { selection, sorted: sortedDurations(data.deviceEvents, selection), groups: kernelGroups(data, selection) };
}

export function reportOf(data: RankData, options: ReportOptions, { selection, sorted, groups }: MeasuredWindow): RankReport {
  const unions = busyUnions(data.deviceEvents, selection);
  return {
    rank: data.rank ?? null,
    label: options.label,
    kernels: data.coverage.kernels ? kernelFigures(data.deviceEvents, selection, unions, sorted) : UNKNOWN_KERNELS,
    lanes: laneFigures(data, selection, unions),
    split: splitTotals(data.deviceEvents, selection, { kernels: data.coverage.kernels, copies: recordsCopies(data) }),
    streams: streamFigures(data.deviceEvents, selection, data.streams),
    families: familyTotals(data.deviceEvents, selection),
    topKernels: groups.slice(0, TOP_KERNELS)
      .map(({ name, type, count, totalNs }) => ({ name, type, count, totalUs: totalNs / 1000 })),
    steps: stepReports(data, options.step, options.step === undefined ? selection : undefined),
  };
}

/** One row per step (or the one asked for). Events outside every step are in no row. */
function stepReports(data: RankData, only?: number, whole?: Selection): readonly StepReport[] {
  const selections = only === undefined ? selectSteps(data.deviceEvents, data.steps.length, whole) : undefined;
  return data.steps.flatMap((step, index) => {
    if (only !== undefined && only !== index) {
      return [];
    }
    const selection = selections?.[index] ?? selectEvents(data.deviceEvents, index);
    const unions = busyUnions(data.deviceEvents, selection);
    return [{
      name: step.name,
      startUs: microseconds(step.startNs),
      durationUs: microseconds(step.durationNs),
      leadInUs: microseconds(unions.firstNs - step.startNs),
      kernels: data.coverage.kernels ? countKernels(data, selection) : null,
      ...laneFigures(data, selection, unions),
    }];
  });
}

function countKernels(data: RankData, selection: Selection): number {
  let count = 0;
  for (const rows of [selection.rows, selection.unplaced]) {
    for (const row of rows) {
      count += isKernel(data.deviceEvents.kind[row]) ? 1 : 0;
    }
  }
  return count;
}
