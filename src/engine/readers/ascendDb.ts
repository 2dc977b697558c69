/**
 * Ascend database exports: `ascend_pytorch_profiler[_<rank>].db` (torch_npu, `export_type=Db`) and `msprof_*.db`, with the
 * `analysis.db` beside them. Gives the same columns as the text export of the same run. Tables and columns are taken by
 * name; what a schema lacks is left unknown. Times are integer ns in the file, except in PYTORCH_API, where they are text.
 */
import { HostKind, type Coverage, type RankData, type StepInfo } from '../profile/columns';
import { StringTable } from '../profile/strings';
import { readAnalysis, type AnalysisTables } from './ascendDbAnalysis';
import { readCounters } from './ascendDbCounters';
import { readFacts, readMemory, readRankIdentity } from './ascendDbContext';
import { readDeviceTables, type DatabaseDevice } from './ascendDbDevice';
import { readHostTables, type DatabaseHost } from './ascendDbHost';
import { linkEvents, stepsOf, type LinkedEvents } from './ascendDbLinks';
import { readCommunicationTasks } from './ascendDbTasks';
import { reportShortSteps } from './ascendSteps';
import type { ReaderContext } from './reader';
import { bigintOf, DatabaseStrings, openDatabase, SqliteTables } from './sqliteTables';

export interface DatabaseInput {
  /** The `.db` file. */
  readonly path: string;
  /** Rank as far as the names tell; the database knows better. */
  readonly rank?: number | undefined;
}

/** Reads one rank. Throws `UnreadableInput` when the file is no database; damaged tables give what they hold and a problem. */
export async function readAscendDb(context: ReaderContext, input: DatabaseInput): Promise<RankData> {
  const { port, problems } = context;
  const file = port.basename(input.path);
  const database = await openDatabase(context, input.path);
  try {
    const tables = new SqliteTables(database, context, problems, file);
    tables.expect(['STRING_IDS', 'TASK', 'COMMUNICATION_OP', 'PYTORCH_API', 'CANN_API', 'CONNECTION_IDS', 'PYTORCH_CALLCHAINS', 'MEMORY_RECORD'], (await port.stat(input.path))?.size ?? 0);
    const strings = new StringTable();
    const names = new DatabaseStrings(tables, 'STRING_IDS', strings);
    const baseNs = earliest(tables);
    const device = readDeviceTables(tables, names, strings, baseNs);
    const host = readHostTables(tables, names, strings, baseNs);
    const linked = linkEvents(device, host, strings);
    const steps = stepsOf(tables, linked, strings, baseNs);
    reportShortSteps(problems, file, linked.deviceEvents, steps);
    const tasks = readCommunicationTasks(tables, names, strings, linked.deviceEvents, baseNs);
    const identity = readRankIdentity(tables);
    const memory = readMemory(tables, names, baseNs);
    const counters = readCounters(tables, names, baseNs, problems, file);
    const facts = await readFacts(context, input.path, tables);
    const analysis = await readAnalysisBeside(context, input.path);
    report(context, file, device, host, steps);
    return {
      backend: 'ascend', rank: identity.rank ?? input.rank, device: identity.device ?? onlyDevice(device), host: identity.host, baseNs, strings,
      ...linked, streams: device.streams.list, threads: host.threads, steps, coverage: coverageOf(linked, device, steps),
      detailSource: { kind: 'none' }, deviceDetailSource: { kind: 'none' }, memory, ...(counters === undefined ? {} : { counters }), facts, ...analysis,
      ...(tasks === undefined ? {} : { communicationTasks: tasks }),
    };
  } finally {
    database.close();
  }
}

const START_COLUMNS = [['TASK', 'startNs'], ['COMMUNICATION_OP', 'startNs'], ['CANN_API', 'startNs'], ['PYTORCH_API', 'CAST(startNs AS INTEGER)'], ['STEP_TIME', 'startNs'], ['MSTX_EVENTS', 'startNs']] as const;

/** Earliest start of anything, the zero of all relative times; starts of 0 and below are marks of "unknown". */
function earliest(tables: SqliteTables): bigint {
  let base: bigint | undefined;
  for (const [table, start] of START_COLUMNS) {
    if (!tables.has(table, 'startNs')) {
      continue;
    }
    const first = bigintOf(tables.value(table, `SELECT min(${start}) FROM ${table} WHERE ${start} > 0`));
    if (first !== undefined && (base === undefined || first < base)) {
      base = first;
    }
  }
  return base ?? 0n;
}

async function readAnalysisBeside(context: ReaderContext, path: string): Promise<AnalysisTables> {
  const { port } = context;
  const beside = port.join(port.dirname(path), 'analysis.db');
  return (await port.stat(beside)) === undefined ? { tables: [], communication: [], links: [] } : readAnalysis(context, beside);
}

function report({ problems }: ReaderContext, file: string, device: DatabaseDevice, host: DatabaseHost, steps: readonly StepInfo[]): void {
  if (device.events.count === 0) {
    problems.add('database-no-kernels', file, { severity: 'error' });
  }
  if (device.unexplainedTasks > 0) {
    problems.add('database-tasks-without-kernel', file, { severity: 'info', count: device.unexplainedTasks });
  }
  if (device.badTimes.start > 0) {
    problems.add('database-unknown-start', file, { count: device.badTimes.start });
  }
  if (device.badTimes.duration > 0) {
    problems.add('database-unknown-duration', file, { count: device.badTimes.duration });
  }
  if (host.events.count === 0) {
    problems.add('database-no-host', file, { severity: 'info' });
  }
  if (steps.every((step) => step.source !== 'profiler')) {
    problems.add('database-no-steps', file, { severity: 'info' });
  }
}

function coverageOf({ deviceEvents, hostEvents }: LinkedEvents, device: DatabaseDevice, steps: readonly StepInfo[]): Coverage {
  return {
    kernels: true,
    stepIds: steps.some((step) => step.source === 'profiler'),
    streams: device.streams.list.some((stream) => stream.stream !== undefined),
    shapes: deviceEvents.shapes.some((id) => id !== 0),
    types: deviceEvents.type.some((id) => id !== 0),
    hostOperators: hostEvents.kind.includes(HostKind.Operator),
    launches: deviceEvents.launch.some((row) => row >= 0),
    pythonFrames: hostEvents.kind.includes(HostKind.Python),
    callStacks: hostEvents.stack.some((id) => id !== 0),
  };
}

function onlyDevice(device: DatabaseDevice): string | undefined {
  const [first] = device.devices;
  return device.devices.size === 1 ? String(first) : undefined;
}
