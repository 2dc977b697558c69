import { HostKind, type DeviceEvents, type HostEvents, type StepInfo, type StringTableLike } from '../profile/columns';

/** Ranges that name an iteration: torch's own, and what training scripts usually call theirs. */
const STEP = /^(?:ProfilerStep#|(?:train(?:ing)?[ _])?(?:step|iteration|iter)[ _#:]*)(\d+)$/i;

/** For every host row the innermost NVTX range on its thread that encloses its start (itself excluded), -1 none. */
export function enclosingRanges(host: HostEvents): Int32Array {
  const enclosing = new Int32Array(host.count).fill(-1);
  const open = new Map<number, number>();
  for (let row = 0; row < host.count; row++) {
    const thread = host.thread[row];
    let outer = open.get(thread) ?? -1;
    while (outer >= 0 && !(host.startNs[outer] + host.durationNs[outer] >= host.startNs[row])) {
      outer = enclosing[outer];
    }
    enclosing[row] = outer;
    const isRange = host.kind[row] === HostKind.Operator || host.kind[row] === HostKind.Annotation;
    open.set(thread, isRange && host.durationNs[row] >= 0 ? row : outer);
  }
  return enclosing;
}

/** Steps by their ranges' names; device events belong to the step in which they were launched. */
export function stepsOfRanges(host: HostEvents, device: DeviceEvents, strings: StringTableLike): readonly StepInfo[] {
  const steps: StepInfo[] = [];
  for (let row = 0; row < host.count; row++) {
    const number = host.kind[row] === HostKind.Annotation ? STEP.exec(strings.get(host.name[row]))?.[1] : undefined;
    if (number !== undefined && steps.every((step) => step.number !== Number(number))) {
      steps.push({ name: strings.get(host.name[row]), number: Number(number), startNs: host.startNs[row], durationNs: host.durationNs[row], source: 'profiler' });
    }
  }
  if (steps.length > 0) {
    for (let row = 0; row < device.count; row++) {
      const launched = device.launch[row] < 0 ? NaN : host.startNs[device.launch[row]];
      device.step[row] = steps.findIndex((step) => launched >= step.startNs && launched < step.startNs + step.durationNs);
    }
  }
  return steps;
}
