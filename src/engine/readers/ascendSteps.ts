/** Steps of an Ascend rank: the `Step Id` column, the `ProfilerStep#N` ranges of the host, or what else tells them. */
import { assignSteps, findSteps, stepAt } from '../links/steps';
import { EventKind, type DeviceEvents, type HostEvents, type StepInfo, type StringTableLike } from '../profile/columns';
import type { ProblemList } from '../profile/problems';

/** The steps in order; rewrites `events.step`, which pointed into `numbers`, to point into them. */
export function stepsOf(events: DeviceEvents, numbers: readonly number[], host: HostEvents, strings: StringTableLike, span: readonly [number, number]): readonly StepInfo[] {
  const found = findSteps(host, strings, span[0], span[1]).steps;
  if (numbers.length === 0) {
    const hasLaunches = events.launch.some((row) => row >= 0);
    assignSteps(events, host, found, hasLaunches);
    return found;
  }
  // The column is the profiler's own answer, by launch. Ranges only add where a step lies on the host.
  const ranges = new Map(found.filter((step) => step.source === 'profiler').reverse().map((step) => [step.number, step]));
  const steps: StepInfo[] = [...numbers].sort((a, b) => a - b)
    .map((number) => ranges.get(number) ?? { name: `ProfilerStep#${number}`, number, startNs: NaN, durationNs: NaN, source: 'profiler' });
  const places = new Map(steps.map((step, index) => [step.number, index]));
  const position = Int32Array.from(numbers, (number) => places.get(number) ?? -1);
  for (let row = 0; row < events.count; row++) {
    events.step[row] = events.step[row] < 0 ? -1 : position[events.step[row]];
  }
  assignCopies(events, host, steps);
  return steps;
}

/** The kernel table numbers kernels only. A copy belongs to the step that launched it, else to the one it starts in. */
function assignCopies(events: DeviceEvents, host: HostEvents, steps: readonly StepInfo[]): void {
  const placed = steps.map((step, index) => ({ step, index })).filter(({ step }) => !Number.isNaN(step.startNs)).sort((a, b) => a.step.startNs - b.step.startNs);
  const starts = Float64Array.from(placed, ({ step }) => step.startNs);
  const ends = Float64Array.from(placed, ({ step }) => step.startNs + step.durationNs);
  for (let row = 0; row < events.count; row++) {
    if (events.step[row] < 0 && (events.kind[row] === EventKind.Copy || events.kind[row] === EventKind.Set)) {
      const launch = events.launch[row];
      const at = stepAt(starts, ends, launch >= 0 ? host.startNs[launch] : events.startNs[row]);
      events.step[row] = at < 0 ? -1 : placed[at].index;
    }
  }
}

/** Below this share of the usual number of kernels a border step is incomplete for sure, not just uneven. */
const SHORT = 0.9;

/**
 * The profiler may lose the first kernels of its window (Ascend/pytorch#167) and cut the last step: said where the inner
 * steps agree with each other, so that the border steps clearly fall out of line.
 */
export function reportShortSteps(problems: ProblemList, where: string, events: DeviceEvents, steps: readonly StepInfo[]): void {
  if (steps.length < 4) {
    return;
  }
  const counts = new Float64Array(steps.length);
  for (let row = 0; row < events.count; row++) {
    if (events.step[row] >= 0) {
      counts[events.step[row]]++;
    }
  }
  const inner = counts.slice(1, -1).sort();
  const usual = inner[inner.length >> 1];
  if (inner[0] < usual * 0.98 || inner[inner.length - 1] > usual * 1.02) {
    return;
  }
  for (const [kind, index] of [['ascend-first-step-short', 0], ['ascend-last-step-short', steps.length - 1]] as const) {
    if (counts[index] < usual * SHORT) {
      problems.add(kind, where, { args: { step: steps[index].name, kernels: counts[index], usual } });
    }
  }
}
