/**
 * The inside of collectives: tasks on the planes of an Ascend trace. A group's lane comes first, its planes follow it by
 * thread number; a task belongs to the collective of its group that runs at its start.
 */
import type { CommunicationTasks } from '../profile/columns';
import { startOrder } from '../profile/eventOrder';
import type { StringTable } from '../profile/strings';
import type { LaneRegistry } from './ascendLanes';
import type { TraceDevice } from './ascendTraceDevice';
import type { FlatSlices, FlatTasks } from './ascendTraceEvents';

/** Undefined when the trace has none (Level0). `collective` points into `device.events`. */
export function buildTasks(tasks: FlatTasks, slices: FlatSlices, lanes: LaneRegistry, strings: StringTable, device: TraceDevice): CommunicationTasks | undefined {
  if (tasks.count === 0) {
    return undefined;
  }
  const starts = Float64Array.from({ length: tasks.count }, (_, i) => slices.startNs[tasks.slice[i]]);
  const order = startOrder(starts, tasks.count);
  const planes = new Map<number, number>();
  const collectives = new CollectiveIndex(lanes, device);
  const result = {
    count: tasks.count, startNs: new Float64Array(tasks.count), durationNs: new Float64Array(tasks.count), name: new Uint32Array(tasks.count), plane: new Uint32Array(tasks.count),
    transport: new Uint32Array(tasks.count), link: new Uint32Array(tasks.count), source: new Int32Array(tasks.count), destination: new Int32Array(tasks.count), bytes: new Float64Array(tasks.count),
    collective: new Int32Array(tasks.count),
  };
  order.forEach((from, to) => {
    const slice = tasks.slice[from];
    const lane = slices.lane[slice];
    let plane = planes.get(lane);
    if (plane === undefined) {
      plane = strings.intern(lanes.threadName(lane) ?? lanes.list[lane].thread);
      planes.set(lane, plane);
    }
    result.startNs[to] = slices.startNs[slice];
    result.durationNs[to] = slices.durationNs[slice];
    result.name[to] = slices.name[slice];
    result.plane[to] = plane;
    for (const column of ['transport', 'link', 'source', 'destination', 'bytes'] as const) {
      result[column][to] = tasks[column][from];
    }
    result.collective[to] = collectives.at(lane, slices.startNs[slice]);
  });
  return result;
}

/** Collectives by the lane of their group, in order of start. */
class CollectiveIndex {
  private readonly rows = new Map<number, number[]>();
  private readonly groupOf = new Map<number, number>();

  constructor(private readonly lanes: LaneRegistry, private readonly device: TraceDevice) {
    device.lane.forEach((lane, row) => {
      if (lanes.kind(lane) === 'communication') {
        const rows = this.rows.get(lane);
        if (rows === undefined) {
          this.rows.set(lane, [row]);
        } else {
          rows.push(row);
        }
      }
    });
  }

  at(plane: number, timeNs: number): number {
    const rows = this.rows.get(this.groupLane(plane)) ?? [];
    const { startNs, durationNs } = this.device.events;
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (startNs[rows[middle]] <= timeNs) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const row = rows[low - 1];
    return row !== undefined && timeNs <= startNs[row] + durationNs[row] ? row : -1;
  }

  /** The lane with collectives whose thread number comes last before the plane's. */
  private groupLane(plane: number): number {
    let group = this.groupOf.get(plane);
    if (group === undefined) {
      const { processKey, threadKey } = this.lanes.list[plane];
      group = -1;
      for (const lane of this.rows.keys()) {
        const candidate = this.lanes.list[lane];
        if (candidate.processKey === processKey && candidate.threadKey < threadKey && (group < 0 || candidate.threadKey > this.lanes.list[group].threadKey)) {
          group = lane;
        }
      }
      this.groupOf.set(plane, group);
    }
    return group;
  }
}
