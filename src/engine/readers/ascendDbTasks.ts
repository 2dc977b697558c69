import { EventKind, type CommunicationTasks, type DeviceEvents } from '../profile/columns';
import { startOrder } from '../profile/eventOrder';
import type { StringTable } from '../profile/strings';
import { asDouble, DatabaseStrings, idOf, numberOf, type SqliteTables } from './sqliteTables';

/**
 * The inside of collectives: `COMMUNICATION_TASK_INFO` with the times of `TASK`, as the planes of the text export's trace.
 * `device` is finished. Undefined when the database has none.
 */
export function readCommunicationTasks(tables: SqliteTables, names: DatabaseStrings, strings: StringTable, device: DeviceEvents, baseNs: bigint): CommunicationTasks | undefined {
  if (!tables.has('COMMUNICATION_TASK_INFO', 'globalTaskId', 'taskType') || !tables.has('TASK', 'startNs', 'endNs', 'globalTaskId')) {
    return undefined;
  }
  const count = tables.count('COMMUNICATION_TASK_INFO');
  const starts = new Float64Array(count);
  const rows: number[][] = [];
  const transports = new DatabaseStrings(tables, 'ENUM_HCCL_TRANSPORT_TYPE', strings, 'name');
  const links = new DatabaseStrings(tables, 'ENUM_HCCL_LINK_TYPE', strings, 'name');
  const collectives = collectiveRows(tables, names, device, baseNs);
  const info = tables.select('COMMUNICATION_TASK_INFO', ['taskType', 'planeId', 'transportType', 'linkType', 'srcRank', 'dstRank', 'size', 'opId'].map(asDouble), 'm');
  const sql = `SELECT CAST(t.startNs - ? AS REAL) AS start, CAST(t.endNs - t.startNs AS REAL) AS duration, ${info} FROM COMMUNICATION_TASK_INFO m JOIN TASK t ON t.globalTaskId = m.globalTaskId`;
  for (const [start, duration, name, plane, transport, link, source, destination, bytes, operation] of tables.rows('COMMUNICATION_TASK_INFO', sql, [baseNs])) {
    if (rows.length === count) {
      break;
    }
    const startNs = numberOf(start);
    const durationNs = numberOf(duration);
    starts[rows.length] = startNs >= 0 ? startNs : NaN;
    rows.push([
      durationNs >= 0 ? durationNs : NaN, names.intern(name), idOf(plane) < 0 ? 0 : strings.intern(`Plane ${idOf(plane)}`), transports.intern(transport), links.intern(link),
      idOf(source), idOf(destination), numberOf(bytes), collectives.get(idOf(operation)) ?? -1,
    ]);
  }
  if (rows.length === 0) {
    return undefined;
  }
  const order = startOrder(starts, rows.length);
  const column = (at: number): Iterable<number> => Array.from(order, (row) => rows[row][at]);
  return {
    count: rows.length, startNs: Float64Array.from(order, (row) => starts[row]), durationNs: Float64Array.from(column(0)), name: Uint32Array.from(column(1)), plane: Uint32Array.from(column(2)),
    transport: Uint32Array.from(column(3)), link: Uint32Array.from(column(4)), source: Int32Array.from(column(5)), destination: Int32Array.from(column(6)), bytes: Float64Array.from(column(7)),
    collective: Int32Array.from(column(8)),
  };
}

/** `opId` → row of the collective, found again by start and name among the finished events. */
function collectiveRows(tables: SqliteTables, names: DatabaseStrings, device: DeviceEvents, baseNs: bigint): ReadonlyMap<number, number> {
  const rows = new Map<string, number>();
  for (let row = 0; row < device.count; row++) {
    if (device.kind[row] === EventKind.Communication) {
      rows.set(`${device.startNs[row]} ${device.name[row]}`, row);
    }
  }
  const found = new Map<number, number>();
  if (tables.has('COMMUNICATION_OP', 'opId', 'startNs', 'opName')) {
    for (const [id, start, name] of tables.rows('COMMUNICATION_OP', 'SELECT CAST(opId AS REAL) AS id, CAST(startNs - ? AS REAL) AS start, opName FROM COMMUNICATION_OP', [baseNs])) {
      const row = rows.get(`${numberOf(start)} ${names.intern(name)}`);
      if (row !== undefined) {
        found.set(idOf(id), row);
      }
    }
  }
  return found;
}
