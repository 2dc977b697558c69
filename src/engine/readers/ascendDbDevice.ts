import type { SqlValue } from '../port';
import { deviceBuilder, type TableBuilder } from '../profile/builders';
import type { DeviceEvents } from '../profile/columns';
import type { StringTable } from '../profile/strings';
import { internCores, MAX_CORE_ID } from './ascendKernels';
import { classifyKernel, groupFromName, typeFromName } from './ascendNames';
import { StreamRegistry } from './ascendStreams';
import { asDouble, idOf, numberOf, type DatabaseStrings, type SqliteTables } from './sqliteTables';

export interface DatabaseDevice {
  readonly events: TableBuilder<DeviceEvents>;
  /** Connection id of each row, -1 none: the key to launches and operators. */
  readonly connections: number[];
  readonly streams: StreamRegistry;
  readonly devices: ReadonlySet<number>;
  /** Device tasks that look like kernels but have no kernel record; they are not in the table. */
  readonly unexplainedTasks: number;
  readonly badTimes: { readonly start: number; readonly duration: number };
}

/** Task types of copies and sets between memories; SDMA tasks are the inside of collectives. */
const COPY_TASKS = ['MEMCPY_ASYNC', 'MEMSET_ASYNC', 'PCIE_DMA_SQE', 'SDMA_SQE'];
/** Task types that run on a core. */
const CORE_TASK = /^(KERNEL_|AI_CORE|AI_VECTOR_CORE|AI_CPU|MIX_|STARS_COMMON|DSA)/;

/**
 * Kernels, collectives and copies of an Ascend database: `TASK` with `COMPUTE_TASK_INFO`, `COMMUNICATION_OP`, and the
 * copies of `TASK`. Rows are in no order yet. Times are relative to `baseNs`.
 */
export function readDeviceTables(tables: SqliteTables, names: DatabaseStrings, strings: StringTable, baseNs: bigint): DatabaseDevice {
  internCores(strings);
  const reader = new DeviceReader(tables, names, strings, baseNs);
  reader.readKernels();
  reader.readCollectives();
  reader.readCopies();
  return reader.finish();
}

class DeviceReader {
  private readonly events: TableBuilder<DeviceEvents>;
  private readonly connections: number[] = [];
  private readonly streams = new StreamRegistry();
  private readonly devices = new Set<number>();
  private readonly bad = { start: 0, duration: 0 };

  constructor(
    private readonly tables: SqliteTables,
    private readonly names: DatabaseStrings,
    private readonly strings: StringTable,
    private readonly baseNs: bigint,
  ) {
    this.events = deviceBuilder(tables.count('COMPUTE_TASK_INFO') + tables.count('COMMUNICATION_OP') + 1024);
  }

  readKernels(): void {
    const { tables } = this;
    if (!tables.has('TASK', 'startNs', 'endNs', 'globalTaskId') || !tables.has('COMPUTE_TASK_INFO', 'globalTaskId')) {
      return;
    }
    const task = tables.select('TASK', ['deviceId', 'streamId', 'connectionId'].map(asDouble), 't');
    const info = tables.select('COMPUTE_TASK_INFO', ['name', 'opType', 'taskType', 'inputShapes', 'inputDataTypes'].map(asDouble), 'i');
    const sql = `SELECT CAST(t.startNs - ? AS REAL) AS start, CAST(t.endNs - t.startNs AS REAL) AS duration, ${task}, ${info} FROM TASK t JOIN COMPUTE_TASK_INFO i ON i.globalTaskId = t.globalTaskId`;
    for (const [start, duration, device, stream, connection, name, type, core, shapes, dtypes] of tables.rows('COMPUTE_TASK_INFO', sql, [this.baseNs])) {
      const row = this.add(start, duration, connection);
      this.describe(row, this.names.intern(name), this.names.intern(type), this.names.intern(core), this.device(device), streamName(stream));
      this.events.columns.shapes[row] = this.names.intern(shapes);
      this.events.columns.dtypes[row] = this.names.intern(dtypes);
    }
  }

  readCollectives(): void {
    const { tables } = this;
    if (!tables.has('COMMUNICATION_OP', 'startNs', 'endNs', 'opName')) {
      return;
    }
    // The cores of collectives got their new name with the schema that also got this column.
    const core = this.strings.intern(tables.has('COMMUNICATION_OP', 'deviceId') ? 'COMMUNICATION' : 'HCCL');
    // Older schemas know the device only through the collective's tasks.
    const [only] = this.devices;
    const sql = `SELECT o.startNs - ?, o.endNs - o.startNs, ${tables.select('COMMUNICATION_OP', ['connectionId', 'opName', 'opType', 'deviceId'], 'o')} FROM COMMUNICATION_OP o`;
    for (const [start, duration, connection, name, type, device] of tables.rows('COMMUNICATION_OP', sql, [this.baseNs])) {
      const row = this.add(start, duration, connection);
      this.describe(row, this.names.intern(name), this.names.intern(type), core, this.device(device) ?? (this.devices.size === 1 ? only : undefined), undefined);
    }
  }

  readCopies(): void {
    const { tables } = this;
    if (!tables.has('TASK', 'startNs', 'endNs', 'taskType')) {
      return;
    }
    const types = COPY_TASKS.map((type) => `'${type}'`).join(', ');
    const known = tables.has('COMPUTE_TASK_INFO', 'globalTaskId') ? 'AND t.globalTaskId NOT IN (SELECT globalTaskId FROM COMPUTE_TASK_INFO)' : '';
    const inside = tables.has('COMMUNICATION_TASK_INFO', 'globalTaskId') ? 'AND t.globalTaskId NOT IN (SELECT globalTaskId FROM COMMUNICATION_TASK_INFO)' : '';
    const sql = `SELECT t.startNs - ?, t.endNs - t.startNs, ${tables.select('TASK', ['deviceId', 'streamId', 'connectionId', 'taskType'], 't')}
      FROM TASK t WHERE t.taskType IN (SELECT id FROM STRING_IDS WHERE value IN (${types})) ${known} ${inside}`;
    for (const [start, duration, device, stream, connection, type] of tables.rows('TASK', sql, [this.baseNs])) {
      const row = this.add(start, duration, connection);
      const name = this.names.intern(type);
      this.describe(row, name, 0, name, this.device(device), streamName(stream));
    }
  }

  finish(): DatabaseDevice {
    return { events: this.events, connections: this.connections, streams: this.streams, devices: this.devices, unexplainedTasks: this.countUnexplained(), badTimes: this.bad };
  }

  private add(start: SqlValue, duration: SqlValue, connection: SqlValue): number {
    const row = this.events.add();
    const startNs = numberOf(start);
    const durationNs = numberOf(duration);
    // A start before the base is one of the zeros that the base was chosen without.
    const usable = startNs >= 0;
    this.bad.start += usable ? 0 : 1;
    this.bad.duration += durationNs >= 0 ? 0 : 1;
    this.events.columns.startNs[row] = usable ? startNs : NaN;
    this.events.columns.durationNs[row] = durationNs >= 0 ? durationNs : NaN;
    this.connections.push(idOf(connection));
    return row;
  }

  private describe(row: number, name: number, writtenType: number, core: number, device: number | undefined, stream: string | undefined): void {
    const { columns } = this.events;
    const nameText = this.strings.get(name);
    const typeText = writtenType === 0 ? typeFromName(nameText) : this.strings.get(writtenType);
    const { kind, flags } = classifyKernel(nameText, typeText, this.strings.get(core));
    columns.name[row] = name;
    columns.type[row] = this.strings.intern(typeText);
    columns.core[row] = core <= MAX_CORE_ID ? core : 0;
    columns.kind[row] = kind;
    columns.flags[row] = flags;
    columns.stream[row] = this.streams.index(device, stream, stream === undefined ? (groupFromName(nameText) ?? '') : undefined);
  }

  private device(value: SqlValue): number | undefined {
    const device = idOf(value);
    if (device < 0) {
      return undefined;
    }
    this.devices.add(device);
    return device;
  }

  /** Core tasks that neither a kernel nor a collective explains (a launch whose record was lost). */
  private countUnexplained(): number {
    const { tables } = this;
    if (!tables.has('TASK', 'taskType', 'globalTaskId', 'connectionId') || !tables.has('COMPUTE_TASK_INFO', 'globalTaskId')) {
      return 0;
    }
    const collective = tables.has('COMMUNICATION_OP', 'connectionId') ? 'AND t.connectionId NOT IN (SELECT connectionId FROM COMMUNICATION_OP WHERE connectionId IS NOT NULL)' : '';
    const inside = tables.has('COMMUNICATION_TASK_INFO', 'globalTaskId') ? 'AND t.globalTaskId NOT IN (SELECT globalTaskId FROM COMMUNICATION_TASK_INFO WHERE globalTaskId IS NOT NULL)' : '';
    const sql = `SELECT t.taskType, count(*) FROM TASK t WHERE t.globalTaskId NOT IN (SELECT globalTaskId FROM COMPUTE_TASK_INFO WHERE globalTaskId IS NOT NULL) ${collective} ${inside} GROUP BY t.taskType`;
    let count = 0;
    for (const [type, tasks] of tables.rows('TASK', sql)) {
      count += CORE_TASK.test(this.names.text(type)) ? numberOf(tasks) : 0;
    }
    return count;
  }
}

function streamName(value: SqlValue): string | undefined {
  const stream = idOf(value);
  return stream < 0 ? undefined : String(stream);
}
