/**
 * `trace_view.json` / `msprof_*.json` of one rank, joined with its kernel table where there is one. See `ascendTraceEvents`
 * for the format, `ascendTraceLinks` for the links, `ascendJoin` for the join.
 */
import type { TableBuilder } from '../profile/builders';
import type { CommunicationTasks, CounterSeries, HostEvents, StreamInfo, ThreadInfo } from '../profile/columns';
import { positionsOf, startOrder } from '../profile/eventOrder';
import { StringTable } from '../profile/strings';
import { joinTrace } from './ascendJoin';
import { inOrder, kernelDevice, type DeviceSide, type KernelTable } from './ascendKernels';
import { buildTasks } from './ascendTasks';
import { buildDevice, type TraceDevice } from './ascendTraceDevice';
import { AscendTraceEvents, type FlatFlows } from './ascendTraceEvents';
import { buildHost } from './ascendTraceHost';
import { linkTrace } from './ascendTraceLinks';
import { StreamRegistry } from './ascendStreams';
import type { ReaderContext } from './reader';
import { TraceClock } from './traceClock';
import { DecimalTime } from './traceNumbers';
import { reportNotShown } from './traceNotShown';
import { scanTrace, type ScanOutcome } from './traceScanner';

export interface TraceRank {
  readonly host: HostEvents;
  readonly threads: readonly ThreadInfo[];
  readonly device: DeviceSide;
  readonly tasks: CommunicationTasks | undefined;
  readonly counters: readonly CounterSeries[] | undefined;
  /** Ends of `fwdbwd` flows, on host threads. */
  readonly forward: { readonly flows: FlatFlows; readonly threadOfLane: Int32Array };
}

/** Undefined, with a problem, when the file holds no trace; `table` then stands alone. */
export async function readAscendTrace(context: ReaderContext, path: string, strings: StringTable, table: KernelTable | undefined): Promise<TraceRank | undefined> {
  let pass = await scan(context, path, strings, baseOf(table?.baseNs));
  const betterBase = table?.baseNs === undefined ? pass.events.clock.betterBase() : undefined;
  if (betterBase !== undefined) {
    pass = await scan(context, path, strings, betterBase);
  }
  const { events, outcome } = pass;
  const file = context.port.basename(path);
  if (!reportScan(context, file, pass)) {
    return undefined;
  }
  const slices = flat(events.slices);
  const flows = { torchToNpu: flat(events.flows.torchToNpu), hostToDevice: flat(events.flows.hostToDevice) };
  const host = buildHost(slices, events.lanes, strings);
  const device = buildDevice(slices, events.lanes, strings);
  const { indirect } = linkTrace(device, host, events.lanes, strings, flows);
  if (indirect > 0) {
    context.problems.add('ascend-links-by-queue', file, { severity: 'info', count: indirect, args: { file } });
  }
  if (events.negativeDurations > 0) {
    context.problems.add('ascend-negative-duration', file, { count: events.negativeDurations, args: { file } });
  }
  reportNotShown(context.problems, file, events.skipped);
  const counters = events.counters.finish(context.problems, file, (timeNs) => (Number.isFinite(timeNs) ? timeNs : NaN));
  if (outcome.openAt === 'events') {
    context.problems.add('truncated', `${file} byte ${outcome.lastWholeAt}`, { args: { offset: outcome.lastWholeAt } });
  }
  const baseNs = events.clock.baseNs();
  const tasks = buildTasks(flat(events.tasks), slices, events.lanes, strings, device);
  const side = table === undefined ? traceOnly(device, baseNs) : joined(context, file, table, device, baseNs, tasks);
  return { host: host.events, threads: host.threads, device: side, tasks, counters, forward: { flows: flat(events.flows.forward), threadOfLane: host.threadOfLane } };
}

interface TracePass {
  readonly events: AscendTraceEvents;
  readonly outcome: ScanOutcome;
}

async function scan(context: ReaderContext, path: string, strings: StringTable, base: DecimalTime | undefined): Promise<TracePass> {
  const { port, signal, progress } = context;
  const totalBytes = (await port.stat(path))?.size ?? 0;
  const events = new AscendTraceEvents(strings, new TraceClock(base), new StringTable());
  const file = port.basename(path);
  const onChunk = (offset: number, chunk: Uint8Array): void => progress?.({ bytes: offset + chunk.length, totalBytes, file });
  const outcome = await scanTrace(port.stream(path, { chunkSize: context.chunkSize ?? 1024 * 1024 }), events, { signal, onChunk });
  return { events, outcome };
}

function baseOf(baseNs: bigint | undefined): DecimalTime | undefined {
  if (baseNs === undefined) {
    return undefined;
  }
  const base = new DecimalTime();
  base.microseconds = Number(baseNs / 1000n);
  base.nanoseconds = Number(baseNs % 1000n);
  return base;
}

/** False when nothing in the file can be used. */
function reportScan({ problems }: ReaderContext, file: string, { events, outcome }: TracePass): boolean {
  if (outcome.empty || outcome.form === 'none' || events.slices.count === 0) {
    problems.add(outcome.empty ? 'ascend-file-empty' : 'ascend-trace-no-events', file, { args: { file } });
    return false;
  }
  if (outcome.broken.count > 0) {
    problems.add('broken-records', `${file} byte ${outcome.broken.firstAt}`, { count: outcome.broken.count, args: { offset: outcome.broken.firstAt } });
  }
  if (outcome.oversized.count > 0) {
    problems.add('oversized-records', `${file} byte ${outcome.oversized.firstAt}`, { count: outcome.oversized.count });
  }
  if (outcome.literalBackslashes > 0) {
    problems.add('unescaped-backslashes', file, { severity: 'info', count: outcome.literalBackslashes });
  }
  return true;
}

function traceOnly({ events, streams, devices }: TraceDevice, baseNs: bigint): DeviceSide {
  return { events, streams: streams.list, stepNumbers: [], baseNs, devices, hasStreams: streams.list.some((stream) => stream.stream !== undefined) };
}

/** The table's rows with what the trace knows of them, and the trace's copies. `tasks.collective` is renumbered. */
function joined(context: ReaderContext, file: string, table: KernelTable, trace: TraceDevice, baseNs: bigint, tasks: CommunicationTasks | undefined): DeviceSide {
  if (table.baseNs === undefined) {
    // A table without one usable time: its kernels are known only by name and duration.
    tasks?.collective.fill(-1);
    return { ...kernelDevice(table), baseNs };
  }
  const { events: builder } = table;
  const join = joinTrace(builder, trace);
  if (join.matched < builder.count) {
    context.problems.add('ascend-kernels-not-in-trace', file, { severity: 'info', count: builder.count - join.matched, args: { file } });
  }
  if (join.onlyInTrace > 0) {
    context.problems.add('ascend-kernels-only-in-trace', file, { count: join.onlyInTrace, args: { file } });
  }
  const streams = new StreamRegistry();
  const streamOf = table.streams.list.map(({ device, stream }, i) => streams.index(device, stream, table.streams.groups[i]));
  const { columns } = builder;
  const tableRow = new Int32Array(trace.events.count).fill(-1);
  for (let row = 0; row < builder.count; row++) {
    const source = join.traceRow[row];
    columns.stream[row] = streamOf[columns.stream[row]];
    if (source < 0) {
      continue;
    }
    tableRow[source] = row;
    columns.launch[row] = trace.events.launch[source];
    columns.op[row] = trace.events.op[source];
    if (streams.list[columns.stream[row]].stream === undefined) {
      columns.stream[row] = mergedStream(streams, trace, source, streams.list[columns.stream[row]].device);
    }
  }
  const [onlyDevice] = table.devices;
  for (const source of join.copies) {
    const row = builder.add();
    const target = builder.columns;
    for (const column of ['startNs', 'durationNs', 'name', 'type', 'core', 'kind', 'flags', 'launch', 'op'] as const) {
      target[column][row] = trace.events[column][source];
    }
    target.stream[row] = mergedStream(streams, trace, source, table.devices.length === 1 ? onlyDevice : undefined);
  }
  const order = startOrder(builder.columns.startNs, builder.count);
  if (tasks !== undefined) {
    const positions = positionsOf(order);
    tasks.collective.forEach((source, task) => (tasks.collective[task] = source < 0 || tableRow[source] < 0 ? -1 : positions[tableRow[source]]));
  }
  const events = inOrder(builder, order);
  const used = usedStreams(events.stream, streams.list);
  return {
    events, streams: used, stepNumbers: table.steps, baseNs: table.baseNs, devices: table.devices.length > 0 ? table.devices : trace.devices,
    hasStreams: used.some((stream) => stream.stream !== undefined),
  };
}

/** The trace's stream of an event in the joined list; the table's device, if it has one, is the one that counts. */
function mergedStream(streams: StreamRegistry, trace: TraceDevice, row: number, device: number | undefined): number {
  const index = trace.events.stream[row];
  return streams.index(device, trace.streams.list[index].stream, trace.streams.groups[index]);
}

/** Drops streams that the join emptied; renumbers the column in place. */
function usedStreams(column: Uint16Array, streams: readonly StreamInfo[]): readonly StreamInfo[] {
  const isUsed = new Uint8Array(streams.length);
  for (const stream of column) {
    isUsed[stream] = 1;
  }
  const kept = streams.filter((_, i) => isUsed[i] === 1);
  if (kept.length < streams.length) {
    let next = 0;
    const numbers = Uint16Array.from(isUsed, (used) => (used === 1 ? next++ : 0));
    column.forEach((stream, row) => (column[row] = numbers[stream]));
  }
  return kept;
}

/** The table without a copy: its columns may be longer than `count`. */
const flat = <T extends { readonly count: number }>(table: TableBuilder<T>): T => ({ ...table.columns, count: table.count }) as unknown as T;
