import type { SqlValue } from '../port';
import { deviceBuilder, type TableBuilder } from '../profile/builders';
import { DeviceFlag, EventKind, type DeviceEvents } from '../profile/columns';
import type { StringTable } from '../profile/strings';
import { ProcessKeys, SQL_PROCESS } from './nsysKeys';
import { StreamRegistry } from './ascendStreams';
import { idOf, numberOf, textOf, type DatabaseStrings, type SqliteTables } from './sqliteTables';

export interface NsysDevice {
  readonly events: TableBuilder<DeviceEvents>;
  /** Correlation key of each row (`ProcessKeys`), -1 none. */
  readonly correlations: number[];
  readonly streams: StreamRegistry;
  readonly devices: ReadonlySet<number>;
  /** Graphs recorded as a whole, without their kernels. */
  readonly graphs: number;
}

const KERNELS = 'CUPTI_ACTIVITY_KIND_KERNEL';
const COPIES = 'CUPTI_ACTIVITY_KIND_MEMCPY';
const SETS = 'CUPTI_ACTIVITY_KIND_MEMSET';
const GRAPHS = 'CUPTI_ACTIVITY_KIND_GRAPH_TRACE';

/** NCCL and RCCL kernels are communication, as in `TRUTH.md`; every other kernel is compute. */
const COMMUNICATION = /nccl|rccl/i;
/** CUPTI's copy kinds; newer exports bring them in a table, the numbers are the same. */
const COPY_NAMES: Readonly<Record<number, string>> = {
  1: 'Memcpy HtoD', 2: 'Memcpy DtoH', 3: 'Memcpy HtoA', 4: 'Memcpy AtoH', 5: 'Memcpy AtoA', 6: 'Memcpy AtoD', 7: 'Memcpy DtoA', 8: 'Memcpy DtoD', 9: 'Memcpy HtoH', 10: 'Memcpy PtoP',
};

export function readNsysDevice(tables: SqliteTables, names: DatabaseStrings, strings: StringTable): NsysDevice {
  const events = deviceBuilder(1024);
  const correlations: number[] = [];
  const streams = new StreamRegistry();
  const devices = new Set<number>();
  const keys = new ProcessKeys();
  let graphs = 0;

  const read = (table: string, extra: readonly (string | readonly string[])[], describe: (row: number, values: readonly SqlValue[]) => void): void => {
    if (!tables.has(table, 'start', 'end')) {
      return;
    }
    const process = tables.has(table, 'globalPid') ? SQL_PROCESS.replace('$', 'k."globalPid"') : '0';
    const sql = `SELECT k.start, k."end" - k.start, ${process} AS process, ${tables.select(table, ['deviceId', 'streamId', 'correlationId', ...extra], 'k')} FROM "${table}" k`;
    for (const [start, duration, pid, deviceId, stream, correlation, ...rest] of tables.rows(table, sql)) {
      const row = events.add();
      const durationNs = numberOf(duration);
      events.columns.startNs[row] = numberOf(start);
      events.columns.durationNs[row] = durationNs >= 0 ? durationNs : NaN;
      const device = idOf(deviceId);
      if (device >= 0) {
        devices.add(device);
      }
      const streamId = idOf(stream);
      events.columns.stream[row] = streams.index(device < 0 ? undefined : device, streamId < 0 ? undefined : String(streamId));
      correlations.push(keys.key(numberOf(pid), idOf(correlation)));
      describe(row, rest);
    }
  };

  read(KERNELS, [['demangledName', 'shortName', 'mangledName']], (row, [name]) => {
    const id = names.intern(name);
    events.columns.name[row] = id;
    events.columns.kind[row] = COMMUNICATION.test(strings.get(id)) ? EventKind.Communication : EventKind.Compute;
  });
  read(COPIES, ['copyKind'], (row, [kind]) => {
    events.columns.name[row] = strings.intern(COPY_NAMES[numberOf(kind)] ?? 'Memcpy');
    events.columns.kind[row] = EventKind.Copy;
  });
  read(SETS, [], (row) => {
    events.columns.name[row] = strings.intern('Memset');
    events.columns.kind[row] = EventKind.Set;
  });
  read(GRAPHS, ['graphId'], (row, [graph]) => {
    graphs++;
    events.columns.name[row] = strings.intern(`CUDA graph ${textOf(graph)}`);
    events.columns.flags[row] = DeviceFlag.GraphReplay;
  });
  return { events, correlations, streams, devices, graphs };
}
