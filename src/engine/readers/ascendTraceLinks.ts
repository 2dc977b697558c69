/**
 * Device event ↔ launching call ↔ framework operator, from the flows of an Ascend trace:
 * `async_npu` (operator → kernel, both ends at the exact start of a slice), `HostToDevice` (from inside a CANN call → kernel,
 * several ends may share an id). Where `async_npu` lacks a kernel ("Failed to get acl to npu flow events"), the launch's moment leads
 * through the task queue to the operator: dequeue → enqueue by correlation → innermost operator round the enqueue.
 */
import { HostKind } from '../profile/columns';
import { Nesting } from '../links/nesting';
import type { StringTable } from '../profile/strings';
import type { LaneRegistry } from './ascendLanes';
import { StartIndex } from './ascendStarts';
import type { FlatFlows } from './ascendTraceEvents';
import type { TraceDevice } from './ascendTraceDevice';
import type { TraceHost } from './ascendTraceHost';

export interface LinkCounts {
  /** Device events that reach an operator through the task queue only. */
  readonly indirect: number;
}

export function linkTrace(device: TraceDevice, host: TraceHost, lanes: LaneRegistry, strings: StringTable, flows: { readonly torchToNpu: FlatFlows; readonly hostToDevice: FlatFlows }): LinkCounts {
  const { events } = device;
  const deviceStarts = new StartIndex(events.startNs, device.lane, range(events.count));
  const operators = startsOf(host, (kind) => kind === HostKind.Operator || kind === HostKind.Annotation);
  followFlows(flows.torchToNpu, (start, end) => {
    const kernel = deviceStarts.find(flows.torchToNpu.lane[end], flows.torchToNpu.timeNs[end]);
    if (kernel >= 0 && events.op[kernel] < 0) {
      events.op[kernel] = operators.find(host.threadOfLane[flows.torchToNpu.lane[start]], flows.torchToNpu.timeNs[start]);
    }
  });

  const calls = Nesting.build(host.events, host.threads.length, (kind) => kind === HostKind.Runtime);
  const isRuntimeCall = runtimeCalls(host, strings);
  const queue = new QueuePath(host, lanes);
  let indirect = 0;
  followFlows(flows.hostToDevice, (start, end) => {
    const kernel = deviceStarts.find(flows.hostToDevice.lane[end], flows.hostToDevice.timeNs[end]);
    if (kernel < 0 || events.launch[kernel] >= 0) {
      return;
    }
    const lane = flows.hostToDevice.lane[start];
    const time = flows.hostToDevice.timeNs[start];
    const thread = queue.threadOf(lane);
    const call = launchingCall(calls, host.threadOfLane[lane], time, isRuntimeCall);
    // Level0 drops the calls but keeps their flows: the queue event round that moment stands for the launch.
    events.launch[kernel] = call >= 0 ? call : queue.carrier(thread, time);
    if (events.op[kernel] < 0) {
      events.op[kernel] = queue.operator(thread, time);
      indirect += events.op[kernel] >= 0 ? 1 : 0;
    }
  });
  return { indirect };
}

/** Calls `visit` for every end of a flow with the start of the same id that was met last before it in the file, or at all. */
function followFlows(flows: FlatFlows, visit: (start: number, end: number) => void): void {
  const starts = new Map<number, number>();
  for (let i = 0; i < flows.count; i++) {
    if (flows.isStart[i] === 1 && !starts.has(flows.id[i])) {
      starts.set(flows.id[i], i);
    }
  }
  for (let i = 0; i < flows.count; i++) {
    const start = flows.isStart[i] === 1 ? undefined : starts.get(flows.id[i]);
    if (start !== undefined) {
      visit(start, i);
    }
  }
}

/**
 * The call round the flow's start: `Node@launch`, `Hccl@…` or a copy call, which the database names too, rather than the
 * `Runtime@…` call that Level2 shows inside it.
 */
function launchingCall(calls: Nesting, thread: number, timeNs: number, isRuntimeCall: (row: number) => boolean): number {
  const call = calls.findEnclosing(thread, timeNs, (row) => !isRuntimeCall(row));
  return call >= 0 ? call : calls.innermost(thread, timeNs);
}

function runtimeCalls(host: TraceHost, strings: StringTable): (row: number) => boolean {
  const known = new Map<number, boolean>();
  return (row) => {
    const name = host.events.name[row];
    let is = known.get(name);
    if (is === undefined) {
      is = strings.get(name).startsWith('Runtime@');
      known.set(name, is);
    }
    return is;
  };
}

function startsOf(host: TraceHost, wanted: (kind: number) => boolean): StartIndex {
  const { kind, startNs, thread, count } = host.events;
  const rows: number[] = [];
  for (let i = 0; i < count; i++) {
    if (wanted(kind[i])) {
      rows.push(i);
    }
  }
  return new StartIndex(startNs, thread, rows);
}

/** The way from a moment on an operating-system thread to the operator that put the work into the task queue. */
class QueuePath {
  private readonly operators: Nesting;
  private readonly carriers: Nesting;
  private readonly enqueued = new Map<number, number>();
  /** CANN and Python lanes of one thread are different lanes; the thread's number joins them. */
  private readonly pythonThread = new Map<number, number>();

  constructor(private readonly host: TraceHost, private readonly lanes: LaneRegistry) {
    const { events, threads, queueId, threadOfLane } = host;
    this.operators = Nesting.build(events, threads.length, (kind) => kind === HostKind.Operator);
    this.carriers = Nesting.build(events, threads.length, (kind) => kind === HostKind.Dequeue);
    for (let i = 0; i < events.count; i++) {
      if (events.kind[i] === HostKind.Enqueue && queueId[i] >= 0) {
        this.enqueued.set(queueId[i], i);
      }
    }
    lanes.list.forEach(({ threadKey }, lane) => {
      if (threadOfLane[lane] >= 0 && lanes.kind(lane) !== 'cann') {
        this.pythonThread.set(threadKey, threadOfLane[lane]);
      }
    });
  }

  threadOf(lane: number): number {
    return this.pythonThread.get(this.lanes.list[lane].threadKey) ?? -1;
  }

  /** The dequeue, or without a task queue the operator, that was running at that moment. */
  carrier(thread: number, timeNs: number): number {
    const carrier = this.carriers.innermost(thread, timeNs);
    return carrier >= 0 ? carrier : this.operators.innermost(thread, timeNs);
  }

  operator(thread: number, timeNs: number): number {
    const { events, queueId } = this.host;
    const carrier = this.carriers.innermost(thread, timeNs);
    if (carrier < 0) {
      return this.operators.innermost(thread, timeNs);
    }
    const source = this.enqueued.get(queueId[carrier]);
    return source === undefined ? -1 : this.operators.innermost(events.thread[source], events.startNs[source]);
  }
}

function* range(count: number): Iterable<number> {
  for (let i = 0; i < count; i++) {
    yield i;
  }
}
