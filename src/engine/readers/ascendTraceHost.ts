/** Host side of an Ascend trace: framework operators, Python frames, task queue, CANN calls, sorted as the store wants them. */
import { hostBuilder } from '../profile/builders';
import { HostKind, type HostEvents, type ThreadInfo } from '../profile/columns';
import { startOrder } from '../profile/eventOrder';
import type { StringTable } from '../profile/strings';
import type { LaneRegistry } from './ascendLanes';
import { Category, type FlatSlices } from './ascendTraceEvents';

export interface TraceHost {
  readonly events: HostEvents;
  readonly threads: readonly ThreadInfo[];
  /** Lane → thread; -1 for lanes that are no host threads. */
  readonly threadOfLane: Int32Array;
  /** Correlation of each task-queue event, -1 for all others. */
  readonly queueId: Int32Array;
}

/** Ranges of the training loop, which torch_npu writes among the operators. */
const ANNOTATION = /^(ProfilerStep|Optimizer\.|enumerate\(DataLoader\))/;

/** A host event's kind; undefined for what is no host event. */
function hostKind(category: Category, lane: ReturnType<LaneRegistry['kind']>, isAnnotation: boolean): HostKind | undefined {
  if (lane === 'hardware' || lane === 'communication') {
    return undefined;
  }
  switch (category) {
    case Category.Operator:
      return isAnnotation ? HostKind.Annotation : HostKind.Operator;
    case Category.PythonFrame:
      return HostKind.Python;
    case Category.Enqueue:
      return HostKind.Enqueue;
    case Category.Dequeue:
      return HostKind.Dequeue;
    default:
      switch (lane) {
        case 'python':
          return isAnnotation ? HostKind.Annotation : HostKind.Operator;
        case 'cann':
          return HostKind.Runtime;
        case 'marks':
          return HostKind.Annotation;
        case 'gc':
          return HostKind.Other;
        default:
          return undefined;
      }
  }
}

export function buildHost(slices: FlatSlices, lanes: LaneRegistry, strings: StringTable): TraceHost {
  const builder = hostBuilder(slices.count);
  const { columns } = builder;
  const annotation = new Map<number, boolean>();
  const threads: ThreadInfo[] = [];
  const threadOfLane = new Int32Array(lanes.list.length).fill(-1);
  const queueIds = new Int32Array(slices.count).fill(-1);
  for (let i = 0; i < slices.count; i++) {
    const name = slices.name[i];
    let isAnnotation = annotation.get(name);
    if (isAnnotation === undefined) {
      isAnnotation = ANNOTATION.test(strings.get(name));
      annotation.set(name, isAnnotation);
    }
    const lane = slices.lane[i];
    const category = slices.category[i] as Category;
    const kind = hostKind(category, lanes.kind(lane), isAnnotation);
    if (kind === undefined) {
      continue;
    }
    if (threadOfLane[lane] < 0) {
      threadOfLane[lane] = addThread(threads, lanes, lane);
    }
    const row = builder.add();
    columns.startNs[row] = slices.startNs[i];
    columns.durationNs[row] = slices.durationNs[i];
    columns.name[row] = name;
    columns.kind[row] = kind;
    columns.thread[row] = threadOfLane[lane];
    columns.detailAt[row] = slices.detailAt[i];
    columns.detailLength[row] = slices.detailLength[i];
    if (category === Category.Operator) {
      columns.sequence[row] = slices.first[i];
      columns.forwardThread[row] = slices.second[i];
      columns.stack[row] = slices.stack[i];
    } else if (category === Category.PythonFrame) {
      columns.pythonId[row] = slices.first[i];
      columns.pythonParent[row] = slices.second[i];
    } else if (category === Category.Enqueue || category === Category.Dequeue) {
      queueIds[row] = slices.first[i];
    }
  }
  const order = startOrder(columns.startNs, builder.count, columns.durationNs);
  return { events: builder.finish(order), threads, threadOfLane, queueId: Int32Array.from(order, (row) => queueIds[row]) };
}

function addThread(threads: ThreadInfo[], lanes: LaneRegistry, lane: number): number {
  // Thread indexes are 16 bits wide; a run with more threads shows the rest on the last one.
  if (threads.length === 0xffff) {
    return 0xfffe;
  }
  const process = lanes.processName(lane) ?? lanes.list[lane].process;
  threads.push({ process, thread: lanes.list[lane].thread, label: `${process} · ${lanes.threadName(lane) ?? lanes.list[lane].thread}` });
  return threads.length - 1;
}
