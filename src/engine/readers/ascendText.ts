/**
 * One rank of an Ascend text export: kernels from `kernel_details.csv` (or `op_summary_*.csv`), the host side and the links
 * from `trace_view.json`, side tables, memory, communication. Any of these files may be missing; without a kernel table the
 * trace gives the kernels.
 */
import { noHostEvents } from '../profile/builders';
import type { CommunicationLink, CommunicationSummary, Coverage, DeviceEvents, HostEvents, MemorySeries, RankData, SideTable, StepInfo } from '../profile/columns';
import { DeviceFlag, EventKind, HostKind } from '../profile/columns';
import { FlowList, linkForward } from '../links/forward';
import { operatorsOf } from '../links/frames';
import { UnreadableInput } from '../profile/problems';
import { StringTable } from '../profile/strings';
import { readCommunication, readCommunicationMatrix } from './ascendCommunication';
import { rankFromName, type RankInfo } from './ascendInfo';
import { kernelDevice, readKernelTables } from './ascendKernels';
import { readMemory } from './ascendMemory';
import { reportShortSteps, stepsOf } from './ascendSteps';
import { readAscendTrace, type TraceRank } from './ascendTrace';
import { TimeBase } from './csvTime';
import { readSideTable } from './csvTables';
import { checkCancelled, type ReaderContext } from './reader';

export interface AscendTextFolder {
  /** What the user opened: the rank's folder, or a single file. */
  readonly folder: string;
  /** Where the files lie. */
  readonly output: string;
  /** Kernel tables in reading order (msprof splits large ones). */
  readonly kernels: readonly string[];
  readonly trace: string | undefined;
  /** All other CSV and JSON files of the output folder. */
  readonly sideFiles: readonly string[];
  readonly info: RankInfo;
}

/** Tables worth keeping as they are; `operator_memory` and `operator_details` are the only ones that can be large. */
const TABLES = /^(step_trace_time|op_statistic|api_statistic|operator_memory|operator_details|l2_cache|data_preprocess|aicpu|static_op_mem|soc_pmu|communication_statistic|nic|roce|pcie|hccs)(_\d+)*\.csv$/;
/** Of these two a real run writes up to hundreds of MB; the first rows show what is in them. */
const LARGE_TABLES = /^operator_(memory|details)/;
const LARGE_TABLE_BYTES = 8 * 1024 * 1024;

/** Reads one rank. Throws `UnreadableInput` only when neither kernels nor a trace can be read. */
export async function readAscendText(context: ReaderContext, input: AscendTextFolder): Promise<RankData> {
  const { port } = context;
  const strings = new StringTable();
  const found = await readKernelTables(context, input.kernels, strings);
  // A table with nothing but a header says less than the trace.
  const table = found?.events.count === 0 && input.trace !== undefined ? undefined : found;
  checkCancelled(context);
  const trace = input.trace === undefined ? undefined : await readAscendTrace(context, input.trace, strings, table);
  const device = trace?.device ?? (table === undefined ? undefined : kernelDevice(table));
  if (device === undefined) {
    throw nothingRead(context, input.folder);
  }
  const { events, streams, devices } = device;
  const threads = trace?.threads ?? [];
  const host = trace === undefined ? noHostEvents() : withForward(trace, strings);
  const baseNs = rebase(events, host, trace, device.baseNs);
  markBackward(events, host, threads.length);
  const steps = stepsOf(events, device.stepNumbers, host, strings, extent(events, host));
  reportDevice(context, input, events, { table: table !== undefined, trace: trace !== undefined }, steps);
  checkCancelled(context);
  const side = await readSideFiles(context, input.sideFiles, baseNs);
  return {
    backend: 'ascend', rank: input.info.rank, device: devices.length === 1 ? String(devices[0]) : undefined, host: hostOf(port.basename(input.folder)), baseNs: baseNs ?? 0n, strings,
    deviceEvents: events, hostEvents: host, streams, threads, steps,
    coverage: coverageOf(events, host, device.hasStreams, steps),
    detailSource: trace === undefined || input.trace === undefined ? { kind: 'none' } : { kind: 'file', path: input.trace, format: 'json' },
    deviceDetailSource: deviceDetails(input, table?.header),
    ...side, ...(trace?.tasks === undefined ? {} : { communicationTasks: trace.tasks }), ...(trace?.counters === undefined ? {} : { counters: trace.counters }), facts: input.info.facts,
  };
}

/** The first thing that was wrong says most: nobody sees the list of problems of a rank that does not open. */
function nothingRead({ problems }: ReaderContext, folder: string): UnreadableInput {
  const [first] = [...problems.toArray()].sort((a, b) => Number(b.severity !== 'info') - Number(a.severity !== 'info'));
  return new UnreadableInput(first === undefined
    ? { code: 'error.ascend-nothing', args: { folder } }
    : { code: 'error.ascend-nothing-because', args: { ...first.args, where: first.where, count: first.count, folder, reason: `problem.${first.kind}` } });
}

/** `<host>_<pid>_<time>_ascend_pt`, the name torch_npu gives by itself; a worker name of the user's is no host. */
function hostOf(folder: string): string | undefined {
  const host = /^(.+)_\d+_\d{14,17}_ascend_(?:pt|ms)$/.exec(folder)?.[1];
  return host === undefined || rankFromName(host) !== undefined ? undefined : host;
}

function withForward({ host, threads, forward }: TraceRank, strings: StringTable): HostEvents {
  const flows = new FlowList();
  const { id, timeNs, lane, isStart, count } = forward.flows;
  for (let i = 0; i < count; i++) {
    flows.add(id[i], timeNs[i], forward.threadOfLane[lane[i]], isStart[i] === 1);
  }
  const found = linkForward(host, strings, operatorsOf({ hostEvents: host, threads }), flows);
  host.forward.set(found ?? []);
  return host;
}

/** Makes the earliest event the zero of all times; returns its absolute time. */
function rebase(events: DeviceEvents, host: HostEvents, trace: Pick<TraceRank, 'tasks' | 'counters'> | undefined, baseNs: bigint | undefined): bigint | undefined {
  // Rows are in order of start, unknown ones last.
  const first = Math.min(...[events, host].map(({ count, startNs }) => (count > 0 && !Number.isNaN(startNs[0]) ? startNs[0] : Infinity)));
  if (baseNs === undefined || !Number.isFinite(first)) {
    return baseNs;
  }
  const columns = [events, host, ...(trace?.tasks === undefined ? [] : [trace.tasks])].map(({ count, startNs }) => startNs.subarray(0, count));
  for (const column of [...columns, ...(trace?.counters ?? []).map(({ timeNs }) => timeNs)]) {
    for (let row = 0; row < column.length; row++) {
      column[row] -= first;
    }
  }
  return baseNs + BigInt(first);
}

/** A kernel is of the backward pass when an operator round its launch has a forward operator. */
function markBackward(events: DeviceEvents, host: HostEvents, threads: number): void {
  if (!host.forward.some((row) => row >= 0)) {
    return;
  }
  const operators = operatorsOf({ hostEvents: host, threads: { length: threads } });
  for (let row = 0; row < events.count; row++) {
    const op = events.op[row];
    if (op >= 0 && operators.findEnclosing(host.thread[op], host.startNs[op], (at) => host.forward[at] >= 0) >= 0) {
      events.flags[row] |= DeviceFlag.Backward;
    }
  }
}

function extent(events: DeviceEvents, host: HostEvents): readonly [number, number] {
  const { kind, startNs, durationNs, count } = events.count > 0 ? events : { ...host, kind: undefined };
  let from = Infinity;
  let to = -Infinity;
  for (let row = 0; row < count; row++) {
    if (!Number.isNaN(startNs[row]) && (kind === undefined || kind[row] <= EventKind.Communication)) {
      from = Math.min(from, startNs[row]);
      to = Math.max(to, startNs[row] + (durationNs[row] || 0));
    }
  }
  return from <= to ? [from, to] : [NaN, NaN];
}

function reportDevice({ port, problems }: ReaderContext, input: AscendTextFolder, events: DeviceEvents, has: { readonly table: boolean; readonly trace: boolean }, steps: readonly StepInfo[]): void {
  const where = port.basename(input.folder);
  if (!has.table && input.trace !== undefined) {
    problems.add('ascend-kernels-from-trace', port.basename(input.trace), { severity: 'info', args: { file: port.basename(input.trace) } });
  }
  if (events.count === 0) {
    problems.add('ascend-no-kernels', where, { severity: 'error', args: { folder: where } });
  }
  if (!has.trace) {
    problems.add('ascend-no-trace', where, { severity: 'info', args: { folder: where } });
  }
  if (steps.every((step) => step.source === 'window')) {
    problems.add('ascend-no-steps', where, { severity: 'info', args: { folder: where } });
  }
  reportShortSteps(problems, where, events, steps);
}

function deviceDetails({ kernels, trace }: AscendTextFolder, header: readonly string[] | undefined): RankData['deviceDetailSource'] {
  if (header !== undefined) {
    return { kind: 'file', path: kernels[0], format: 'csv', header };
  }
  return trace === undefined ? { kind: 'none' } : { kind: 'file', path: trace, format: 'json' };
}

function coverageOf(events: DeviceEvents, host: HostEvents, hasStreams: boolean, steps: readonly StepInfo[]): Coverage {
  return {
    kernels: true,
    stepIds: steps.some((step) => step.source === 'profiler'),
    streams: hasStreams,
    shapes: events.shapes.some((id) => id !== 0),
    types: events.type.some((id) => id !== 0),
    hostOperators: host.kind.includes(HostKind.Operator),
    launches: events.launch.some((row) => row >= 0),
    pythonFrames: host.kind.includes(HostKind.Python),
    callStacks: host.stack.some((id) => id !== 0),
  };
}

interface SideData {
  readonly tables: readonly SideTable[];
  readonly memory: readonly MemorySeries[];
  readonly communication: readonly CommunicationSummary[];
  readonly links: readonly CommunicationLink[];
}

/** Every other file of the output folder; times of memory are relative to `baseNs`, or to their first where it is unknown. */
export async function readSideFiles(context: ReaderContext, files: readonly string[], baseNs: bigint | undefined): Promise<SideData> {
  const tables: SideTable[] = [];
  const memory: MemorySeries[] = [];
  const communication: CommunicationSummary[] = [];
  const links: CommunicationLink[] = [];
  const base = new TimeBase(baseNs);
  for (const path of files) {
    const name = context.port.basename(path);
    if (TABLES.test(name)) {
      const table = await readSideTable(context, path, LARGE_TABLES.test(name) ? LARGE_TABLE_BYTES : undefined);
      if (table !== undefined) {
        tables.push(table);
        if (/^step_trace_time/.test(name) && table.rows.length === 0) {
          context.problems.add('ascend-no-step-rows', name, { severity: 'info', args: { file: name } });
        }
      }
    } else if (/^memory_record(_\d+)*\.csv$/.test(name)) {
      memory.push(...(await readMemory(context, path, base)));
    } else if (/^npu_module_mem(_\d+)*\.csv$/.test(name)) {
      memory.push(...(await readMemory(context, path, base, 'module: ')));
    } else if (name === 'communication.json') {
      communication.push(...(await readCommunication(context, path)));
    } else if (name === 'communication_matrix.json') {
      links.push(...(await readCommunicationMatrix(context, path)));
    }
  }
  return { tables, memory, communication, links };
}
