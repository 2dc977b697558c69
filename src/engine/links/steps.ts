/** Steps of a recording, and which step a kernel belongs to. */
import type { DeviceEvents, HostEvents, StepInfo, StringTableLike } from '../profile/columns';
import { HostKind } from '../profile/columns';

const PROFILER_STEP = /^ProfilerStep(?:#(\d+)|\*)/;
const OPTIMIZER_STEP = /^Optimizer\.step#/;
/** No run is profiled over so many steps; a longer list would take more memory than its kernels. */
export const MAX_STEPS = 100_000;

export interface StepList {
  readonly steps: readonly StepInfo[];
  /** Steps beyond what a column can number; they are left out. */
  readonly dropped: number;
}

/**
 * ProfilerStep ranges; without any, the ranges between the ends of the optimizer's steps; without those the whole
 * recording `[fromNs, toNs)`. Only host ranges count: a device-side range of the same name is the step's shadow.
 */
export function findSteps(host: HostEvents, strings: StringTableLike, fromNs: number, toNs: number): StepList {
  const profiler = rowsNamed(host, strings, PROFILER_STEP);
  if (profiler.length > 0) {
    const steps: StepInfo[] = [];
    let dropped = 0;
    let last = -1;
    for (const row of profiler) {
      const isRepeat = last >= 0 && host.name[last] === host.name[row] && host.startNs[last] === host.startNs[row];
      last = row;
      if (isRepeat) {
        continue;
      }
      if (steps.length === MAX_STEPS) {
        dropped++;
        continue;
      }
      const name = strings.get(host.name[row]);
      const number = PROFILER_STEP.exec(name)?.[1];
      steps.push({ name, number: number === undefined ? undefined : Number(number), startNs: host.startNs[row], durationNs: host.durationNs[row], source: 'profiler' });
    }
    return { steps, dropped };
  }
  const optimizer = rowsNamed(host, strings, OPTIMIZER_STEP).filter((row, _i, all) => host.name[row] === host.name[all[0]]);
  if (optimizer.length > 0 && fromNs === fromNs) {
    const steps: StepInfo[] = [];
    let start = fromNs;
    for (const row of optimizer.slice(0, MAX_STEPS)) {
      const end = host.startNs[row] + (host.durationNs[row] || 0);
      if (end > start) {
        steps.push({ name: strings.get(host.name[row]), number: undefined, startNs: start, durationNs: end - start, source: 'optimizer' });
        start = end;
      }
    }
    return { steps, dropped: Math.max(0, optimizer.length - MAX_STEPS) };
  }
  return { steps: [{ name: 'recording', number: undefined, startNs: fromNs, durationNs: toNs - fromNs, source: 'window' }], dropped: 0 };
}

function rowsNamed(host: HostEvents, strings: StringTableLike, pattern: RegExp): number[] {
  const matches = new Int8Array(strings.size).fill(-1);
  const rows: number[] = [];
  for (let row = 0; row < host.count; row++) {
    const kind = host.kind[row];
    if ((kind !== HostKind.Annotation && kind !== HostKind.Operator) || host.startNs[row] !== host.startNs[row]) {
      continue;
    }
    const name = host.name[row];
    if (matches[name] < 0) {
      matches[name] = pattern.test(strings.get(name)) ? 1 : 0;
    }
    if (matches[name] === 1) {
      rows.push(row);
    }
  }
  return rows;
}

/**
 * Fills `device.step`: the step a kernel was LAUNCHED in, on any thread (its tail may run into the next step,
 * pytorch#162481). Kernels without a launch belong to no step, unless nothing in the recording has a launch or the only
 * step is the whole recording.
 */
export function assignSteps(device: DeviceEvents, host: HostEvents, steps: readonly StepInfo[], hasLaunches: boolean): void {
  if (steps.length === 1 && steps[0].source === 'window') {
    device.step.fill(0);
    return;
  }
  const starts = Float64Array.from(steps, step => step.startNs);
  const ends = Float64Array.from(steps, step => step.startNs + step.durationNs);
  for (let i = 0; i < device.count; i++) {
    const launch = device.launch[i];
    const time = launch >= 0 ? host.startNs[launch] : hasLaunches ? NaN : device.startNs[i];
    device.step[i] = stepAt(starts, ends, time);
  }
}

/** Index of the range that holds `time`, -1 when none does (or time is NaN); `starts` ascend. */
export function stepAt(starts: Float64Array, ends: Float64Array, time: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle] <= time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  // Ranges of several threads can overlap a little; the latest that holds the moment wins.
  for (let i = low - 1; i >= 0 && i >= low - 8; i--) {
    if (time < ends[i]) {
      return i;
    }
  }
  return -1;
}
