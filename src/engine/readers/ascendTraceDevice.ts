/** Device side of an Ascend trace: kernels, collectives and copies, in order of start. */
import { deviceBuilder } from '../profile/builders';
import { EventKind, type DeviceEvents } from '../profile/columns';
import { startOrder } from '../profile/eventOrder';
import type { StringTable } from '../profile/strings';
import { internCores, MAX_CORE_ID } from './ascendKernels';
import type { LaneRegistry } from './ascendLanes';
import { classifyKernel, groupFromName, isBookkeeping, typeFromName, type KernelClass } from './ascendNames';
import { StreamRegistry } from './ascendStreams';
import type { FlatSlices } from './ascendTraceEvents';

export interface TraceDevice {
  readonly events: DeviceEvents;
  readonly streams: StreamRegistry;
  /** Lane of each event, for flows. */
  readonly lane: Uint32Array;
  readonly devices: readonly number[];
}

/**
 * Task types as cores. The trace calls vector kernels AI_CORE too, so that name says nothing; the newer KERNEL_ names do.
 */
const CORE_OF_TASK: Readonly<Record<string, string>> = { AI_CORE: '', Other: '', KERNEL_AICORE: 'AI_CORE', KERNEL_AIVEC: 'AI_VECTOR_CORE', KERNEL_MIX_AIC: 'MIX_AIC', KERNEL_MIX_AIV: 'MIX_AIV' };

export function buildDevice(slices: FlatSlices, lanes: LaneRegistry, strings: StringTable): TraceDevice {
  internCores(strings);
  const builder = deviceBuilder(1024);
  const streams = new StreamRegistry();
  const classes = new ClassCache(strings);
  const devices = new Set<number>();
  const sources: number[] = [];
  for (let i = 0; i < slices.count; i++) {
    const lane = slices.lane[i];
    const where = lanes.kind(lane);
    if (where !== 'hardware' && where !== 'communication') {
      continue;
    }
    const known = classes.of(slices.name[i], slices.taskType[i]);
    // The tasks inside a collective lie on planes beside it; only the collective itself is an event of its own.
    if (known === undefined || (where === 'communication' && known.class.kind !== EventKind.Communication)) {
      continue;
    }
    const device = lanes.device(lane);
    if (device !== undefined) {
      devices.add(device);
    }
    const row = builder.add();
    const { columns } = builder;
    columns.startNs[row] = slices.startNs[i];
    columns.durationNs[row] = slices.durationNs[i];
    columns.name[row] = slices.name[i];
    columns.type[row] = known.type;
    columns.core[row] = known.core;
    columns.kind[row] = known.class.kind;
    columns.flags[row] = known.class.flags;
    const stream = where === 'communication' ? undefined : slices.stream[i] === 0 ? lanes.list[lane].thread : strings.get(slices.stream[i]);
    columns.stream[row] = streams.index(device, stream === '' ? undefined : stream, where === 'communication' ? known.group : undefined);
    columns.detailAt[row] = slices.detailAt[i];
    columns.detailLength[row] = slices.detailLength[i] <= 0xffff ? slices.detailLength[i] : 0;
    sources.push(i);
  }
  const order = startOrder(builder.columns.startNs, builder.count);
  return { events: builder.finish(order), streams, lane: Uint32Array.from(order, (row) => slices.lane[sources[row]]), devices: [...devices] };
}

interface TaskClass {
  readonly type: number;
  readonly core: number;
  readonly group: string;
  readonly class: KernelClass;
}

/** Classes by name and task type; undefined for tasks that are no work of their own. */
class ClassCache {
  private readonly known = new Map<number, TaskClass | undefined>();

  constructor(private readonly strings: StringTable) {}

  of(name: number, taskType: number): TaskClass | undefined {
    const key = taskType * 2 ** 26 + name;
    if (!this.known.has(key)) {
      this.known.set(key, this.classify(this.strings.get(name), this.strings.get(taskType)));
    }
    return this.known.get(key);
  }

  private classify(name: string, taskType: string): TaskClass | undefined {
    if (isBookkeeping(name, taskType)) {
      return undefined;
    }
    const type = typeFromName(name);
    const core = this.strings.intern(CORE_OF_TASK[taskType] ?? taskType);
    return { type: this.strings.intern(type), core: core <= MAX_CORE_ID ? core : 0, group: groupFromName(name) ?? '', class: classifyKernel(name, type, taskType) };
  }
}
