/** How kernels, launches, operators and steps of an Ascend database belong together, as in the text export. */
import { linkForward } from '../links/forward';
import { Nesting } from '../links/nesting';
import { findSteps, assignSteps as assignByLaunch } from '../links/steps';
import { DeviceFlag, EventKind, HostKind, type DeviceEvents, type HostEvents, type StepInfo } from '../profile/columns';
import { positionsOf, startOrder } from '../profile/eventOrder';
import type { StringTable } from '../profile/strings';
import type { DatabaseDevice } from './ascendDbDevice';
import type { DatabaseHost } from './ascendDbHost';
import { numberOf, textOf, type SqliteTables } from './sqliteTables';

export interface LinkedEvents {
  readonly deviceEvents: DeviceEvents;
  readonly hostEvents: HostEvents;
}

/**
 * Sorts both tables and links them: launch by connection id; operator by the connections that `CONNECTION_IDS` gives it, else
 * from the launch through the task queue (dequeue → enqueue → innermost operator round it).
 */
export function linkEvents(device: DatabaseDevice, host: DatabaseHost, strings: StringTable): LinkedEvents {
  const hostOrder = startOrder(host.events.columns.startNs, host.events.count, host.events.columns.durationNs);
  const hostAt = positionsOf(hostOrder);
  const hostEvents = host.events.finish(hostOrder);
  const threads = host.threads.length;
  const operators = Nesting.build(hostEvents, threads, (kind) => kind === HostKind.Operator);
  const carriers = Nesting.build(hostEvents, threads, (kind) => kind === HostKind.Dequeue);
  hostEvents.forward.set(linkForward(hostEvents, strings, operators) ?? []);
  const queueId = Float64Array.from(hostOrder, (row) => host.queueIds.get(row) ?? -1);
  const enqueued = new Map<number, number>();
  for (let row = 0; row < hostEvents.count; row++) {
    if (hostEvents.kind[row] === HostKind.Enqueue && queueId[row] >= 0) {
      enqueued.set(queueId[row], row);
    }
  }
  const operatorOfLaunch = (launch: number): number => {
    if (launch < 0) {
      return -1;
    }
    const [thread, timeNs] = [hostEvents.thread[launch], hostEvents.startNs[launch]];
    const carrier = carriers.innermost(thread, timeNs);
    const source = carrier < 0 ? launch : (enqueued.get(queueId[carrier]) ?? -1);
    return source < 0 ? -1 : operators.innermost(hostEvents.thread[source], hostEvents.startNs[source]);
  };

  const { columns } = device.events;
  for (let row = 0; row < device.events.count; row++) {
    const launch = host.launches.get(device.connections[row]);
    const operator = host.operators.get(device.connections[row]);
    columns.launch[row] = launch === undefined ? -1 : hostAt[launch];
    columns.op[row] = operator === undefined ? operatorOfLaunch(columns.launch[row]) : hostAt[operator];
    const op = columns.op[row];
    if (op >= 0 && operators.findEnclosing(hostEvents.thread[op], hostEvents.startNs[op], (at) => hostEvents.forward[at] >= 0) >= 0) {
      columns.flags[row] |= DeviceFlag.Backward;
    }
  }
  return { deviceEvents: device.events.finish(startOrder(columns.startNs, device.events.count)), hostEvents };
}

/** Steps of `STEP_TIME`, host ranges of `ProfilerStep#<id>`; else what the host ranges tell. Fills `device.step`. */
export function stepsOf(tables: SqliteTables, { deviceEvents, hostEvents }: LinkedEvents, strings: StringTable, baseNs: bigint): readonly StepInfo[] {
  const steps: StepInfo[] = [];
  if (tables.has('STEP_TIME', 'id', 'startNs', 'endNs')) {
    for (const [id, start, duration] of tables.rows('STEP_TIME', 'SELECT id, startNs - ?, endNs - startNs FROM STEP_TIME ORDER BY startNs', [baseNs])) {
      const number = numberOf(id);
      steps.push({ name: `ProfilerStep#${textOf(id)}`, number: Number.isNaN(number) ? undefined : number, startNs: numberOf(start), durationNs: numberOf(duration), source: 'profiler' });
    }
  }
  if (steps.length > 0) {
    assignSteps(deviceEvents, hostEvents, steps);
    return steps;
  }
  const found = findSteps(hostEvents, strings, ...extent(deviceEvents)).steps;
  assignByLaunch(deviceEvents, hostEvents, found, deviceEvents.launch.some((row) => row >= 0));
  return found;
}

/** First start to last end of the kernels, NaN when there are none. */
export function extent({ count, kind, startNs, durationNs }: DeviceEvents): [number, number] {
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < count; row++) {
    if (kind[row] <= EventKind.Communication && !Number.isNaN(startNs[row])) {
      from = Math.min(from, startNs[row]);
      to = Math.max(to, startNs[row] + (durationNs[row] || 0));
    }
  }
  return from <= to ? [from, to] : [NaN, NaN];
}

/**
 * Gives device events their step as the text export does: a step reaches on the device from its first kernel to its last
 * kernel's or its host range's end, whichever is later; a kernel is a step's when its operator or launch started inside it.
 */
function assignSteps(device: DeviceEvents, host: HostEvents, steps: readonly StepInfo[]): void {
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
