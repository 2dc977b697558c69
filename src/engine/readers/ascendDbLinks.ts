import { HostKind, type DeviceEvents, type HostEvents, type StepInfo } from '../profile/columns';
import { numberOf, textOf, type SqliteTables } from './sqliteTables';

/** Steps of `STEP_TIME`: host ranges of `ProfilerStep#<id>`. */
export function readSteps(tables: SqliteTables, baseNs: bigint): readonly StepInfo[] {
  const steps: StepInfo[] = [];
  if (tables.has('STEP_TIME', 'id', 'startNs', 'endNs')) {
    for (const [id, start, duration] of tables.rows('STEP_TIME', 'SELECT id, startNs - ?, endNs - startNs FROM STEP_TIME ORDER BY startNs', [baseNs])) {
      const number = numberOf(id);
      steps.push({ name: `ProfilerStep#${textOf(id)}`, number: Number.isNaN(number) ? undefined : number, startNs: numberOf(start), durationNs: numberOf(duration), source: 'profiler' });
    }
  }
  return steps;
}

/**
 * Points every backward operator to its forward one: same sequence number, on the forward side, the latest that starts
 * before. (The database also pairs them by a connection of its own, but with the outermost forward operator, which is
 * further from the kernel.)
 */
export function linkForward(host: HostEvents): void {
  const forward = new Map<number, number>();
  // Rows are sorted by start, so the last one entered is the latest so far.
  for (let row = 0; row < host.count; row++) {
    const sequence = host.sequence[row];
    if (sequence < 0 || host.kind[row] !== HostKind.Operator) {
      continue;
    }
    if (host.forwardThread[row] > 0) {
      host.forward[row] = forward.get(sequence) ?? -1;
    } else {
      forward.set(sequence, row);
    }
  }
}

/** The operator that encloses each operator on its thread, -1 none. Rows are sorted by start, outer first. */
export function operatorParents(host: HostEvents): Int32Array {
  const parents = new Int32Array(host.count).fill(-1);
  const open = new Map<number, number>();
  for (let row = 0; row < host.count; row++) {
    if (host.kind[row] !== HostKind.Operator) {
      continue;
    }
    const thread = host.thread[row];
    let parent = open.get(thread) ?? -1;
    // The open operators of a thread are a chain of parents: step out of those that ended.
    while (parent >= 0 && host.startNs[parent] + host.durationNs[parent] <= host.startNs[row]) {
      parent = parents[parent];
    }
    parents[row] = parent;
    open.set(thread, row);
  }
  return parents;
}

/**
 * Gives device events their step as the text export does: a step reaches on the device from its first kernel to its last
 * kernel's or its host range's end, whichever is later; a kernel is a step's when its operator or launch started inside it.
 */
export function assignSteps(device: DeviceEvents, host: HostEvents, steps: readonly StepInfo[]): void {
  if (steps.length === 0) {
    return;
  }
  const first = new Float64Array(steps.length).fill(Number.POSITIVE_INFINITY);
  const last = Float64Array.from(steps, (step) => step.startNs + step.durationNs);
  for (let row = 0; row < device.count; row++) {
    const cause = device.op[row] >= 0 ? device.op[row] : device.launch[row];
    const step = cause < 0 ? -1 : stepAt(steps, host.startNs[cause]);
    device.step[row] = step;
    if (step >= 0) {
      first[step] = Math.min(first[step], device.startNs[row]);
      last[step] = Math.max(last[step], device.startNs[row] + (device.durationNs[row] || 0));
    }
  }
  for (let row = 0; row < device.count; row++) {
    if (device.step[row] < 0 && device.op[row] < 0 && device.launch[row] < 0) {
      device.step[row] = first.findIndex((start, step) => device.startNs[row] >= start && device.startNs[row] <= last[step]);
    }
  }
}

function stepAt(steps: readonly StepInfo[], timeNs: number): number {
  return steps.findIndex((step) => timeNs >= step.startNs && timeNs < step.startNs + step.durationNs);
}
