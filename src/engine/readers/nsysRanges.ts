import { assignSteps, findSteps, MAX_STEPS } from '../links/steps';
import { HostKind, type DeviceEvents, type HostEvents, type StepInfo, type StringTableLike } from '../profile/columns';

/** Ranges that name an iteration, as training scripts usually call theirs. */
const STEP = /^(?:train(?:ing)?[ _])?(?:step|iteration|iter)[ _#:]*(\d+)$/i;

/**
 * Steps: torch's own ranges, else ranges named like an iteration, else the optimizer's, else the whole recording
 * `[fromNs, toNs)`. Fills `device.step` by launch.
 */
export function stepsOfRanges(host: HostEvents, device: DeviceEvents, strings: StringTableLike, [fromNs, toNs]: readonly [number, number]): readonly StepInfo[] {
  const found = findSteps(host, strings, fromNs, toNs).steps;
  const named = found.some((step) => step.source === 'profiler') ? [] : iterations(host, strings);
  const steps = named.length > 0 ? named : found;
  assignSteps(device, host, steps, device.launch.some((row) => row >= 0));
  return steps;
}

/** One step a number: the first range that carries it (ranges of several threads repeat it). */
function iterations(host: HostEvents, strings: StringTableLike): readonly StepInfo[] {
  const steps = new Map<number, StepInfo>();
  for (let row = 0; row < host.count && steps.size < MAX_STEPS; row++) {
    const name = host.kind[row] === HostKind.Annotation ? strings.get(host.name[row]) : '';
    const number = Number(STEP.exec(name)?.[1] ?? NaN);
    if (!Number.isNaN(number) && !steps.has(number)) {
      steps.set(number, { name, number, startNs: host.startNs[row], durationNs: host.durationNs[row], source: 'profiler' });
    }
  }
  return [...steps.values()];
}
