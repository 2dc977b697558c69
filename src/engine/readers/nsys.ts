/**
 * Nsight Systems exports (`nsys export --type sqlite`): kernels, copies, sets, CUDA calls and NVTX ranges. Times are integer
 * ns since the start of the session; relative time 0 is that start. Schemas differ by version, so tables and columns are
 * taken by name. A kernel's launch is the CUDA call with the same correlation id in the same process.
 */
import { linkForward } from '../links/forward';
import { Nesting } from '../links/nesting';
import { HostKind, type Coverage, type RankData } from '../profile/columns';
import { positionsOf, startOrder } from '../profile/eventOrder';
import { StringTable } from '../profile/strings';
import { readNsysDevice } from './nsysDevice';
import { readNsysHost } from './nsysHost';
import { extent } from './ascendDbLinks';
import { stepsOfRanges } from './nsysRanges';
import type { ReaderContext } from './reader';
import { bigintOf, DatabaseStrings, openDatabase, SqliteTables, textOf } from './sqliteTables';

export interface NsysInput {
  readonly path: string;
  readonly rank?: number | undefined;
}

/** Reads one report. Throws `UnreadableInput` when the file is no database; damaged tables give what they hold and a problem. */
export async function readNsys(context: ReaderContext, input: NsysInput): Promise<RankData> {
  const { port, problems } = context;
  const file = port.basename(input.path);
  const database = await openDatabase(context, input.path);
  try {
    const tables = new SqliteTables(database, context, problems, file);
    tables.expect(['StringIds', 'CUPTI_ACTIVITY_KIND_KERNEL', 'CUPTI_ACTIVITY_KIND_MEMCPY', 'CUPTI_ACTIVITY_KIND_RUNTIME', 'NVTX_EVENTS', 'CUDA_CALLCHAINS'], (await port.stat(input.path))?.size ?? 0);
    const strings = new StringTable();
    const names = new DatabaseStrings(tables, 'StringIds', strings);
    const device = readNsysDevice(tables, names, strings);
    const host = readNsysHost(tables, names, strings);
    if (device.events.count === 0) {
      problems.add('database-no-kernels', file, { severity: 'error' });
    }
    if (device.graphs > 0) {
      problems.add('nsys-whole-graphs', file, { severity: 'info', count: device.graphs });
    }

    const hostOrder = startOrder(host.events.columns.startNs, host.events.count, host.events.columns.durationNs);
    const hostAt = positionsOf(hostOrder);
    const hostEvents = host.events.finish(hostOrder);
    const ranges = Nesting.build(hostEvents, host.threads.length, (kind) => kind === HostKind.Operator || kind === HostKind.Annotation);
    hostEvents.forward.set(linkForward(hostEvents, strings, ranges) ?? []);
    const { columns } = device.events;
    for (let row = 0; row < device.events.count; row++) {
      const launch = host.launches.get(device.correlations[row]);
      columns.launch[row] = launch === undefined ? -1 : hostAt[launch];
      columns.op[row] = launch === undefined ? -1 : ranges.innermost(hostEvents.thread[hostAt[launch]], hostEvents.startNs[hostAt[launch]]);
    }
    const deviceEvents = device.events.finish(startOrder(columns.startNs, device.events.count));
    const steps = stepsOfRanges(hostEvents, deviceEvents, strings, extent(deviceEvents));
    const { start, ...facts } = readFacts(tables);
    const coverage: Coverage = {
      stepIds: steps.some((step) => step.source === 'profiler'), streams: true, shapes: false, types: false, hostOperators: hostEvents.kind.includes(HostKind.Operator),
      kernels: true, launches: deviceEvents.launch.some((row) => row >= 0), pythonFrames: false, callStacks: hostEvents.stack.some((id) => id !== 0),
    };
    return {
      backend: 'cuda', rank: host.rank ?? input.rank, device: device.devices.size === 1 ? String([...device.devices][0]) : undefined, host: facts['host'],
      baseNs: BigInt(start ?? '0'), strings, deviceEvents, hostEvents, streams: device.streams.list, threads: host.threads, steps, coverage,
      detailSource: { kind: 'none' }, deviceDetailSource: { kind: 'none' }, tables: [], memory: [], communication: [], links: [], facts,
    };
  } finally {
    database.close();
  }
}

/** Versions, GPU and host. `start` is the session's start in ns since the epoch, where the schema has it. */
function readFacts(tables: SqliteTables): { readonly start?: string } & Readonly<Record<string, string>> {
  const facts: Record<string, string> = {};
  const take = (key: string, table: string, column: string, where = ''): void => {
    const value = tables.has(table, column) ? textOf(tables.value(table, `SELECT "${column}" FROM "${table}" ${where}`)) : '';
    if (value !== '') {
      facts[key] = value;
    }
  };
  take('chip', 'TARGET_INFO_GPU', 'name');
  take('host', 'TARGET_INFO_SYSTEM_ENV', 'value', "WHERE name = 'Hostname'");
  take('nsys', 'EXPORT_META_DATA', 'value', "WHERE name = 'EXPORT_PRODUCT_VERSION'");
  take('nsys', 'META_DATA_EXPORT', 'value', "WHERE name = 'EXPORT_PRODUCT_VERSION'");
  take('nsys schema', 'EXPORT_META_DATA', 'value', "WHERE name = 'EXPORT_SCHEMA_VERSION'");
  take('nsys schema', 'META_DATA_EXPORT', 'value', "WHERE name = 'EXPORT_SCHEMA_VERSION'");
  const start = tables.has('TARGET_INFO_SESSION_START_TIME', 'utcEpochNs') ? bigintOf(tables.value('TARGET_INFO_SESSION_START_TIME', 'SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME')) : undefined;
  return start === undefined ? facts : { ...facts, start: start.toString() };
}
