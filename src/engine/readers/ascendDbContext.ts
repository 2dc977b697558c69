/** What an Ascend database says besides events: memory, who and where the rank is, versions. */
import type { MemorySeries } from '../profile/columns';
import { StringTable } from '../profile/strings';
import { INFO_NAME, readRankInfo } from './ascendInfo';
import type { ReaderContext } from './reader';
import { DatabaseStrings, idOf, numberOf, textOf, type SqliteTables } from './sqliteTables';

/** Memory over time by component and device. `APP` (the whole process) is known only as reserved. */
export function readMemory(tables: SqliteTables, names: DatabaseStrings, baseNs: bigint): readonly MemorySeries[] {
  const series = new Map<string, { readonly component: string; readonly device: string; readonly rows: number[] }>();
  const add = (component: string, device: number, row: readonly number[]): void => {
    const key = `${component}\0${device}`;
    const found = series.get(key) ?? { component, device: device < 0 ? '' : `NPU:${device}`, rows: [] };
    series.set(key, found);
    row.forEach((value) => found.rows.push(value));
  };
  if (tables.has('MEMORY_RECORD', 'component', 'timestamp')) {
    const columns = tables.select('MEMORY_RECORD', ['totalAllocated', 'totalReserved', 'totalActive', 'component', 'deviceId'], 'm');
    for (const [time, allocated, reserved, active, component, device] of tables.rows('MEMORY_RECORD', `SELECT m.timestamp - ?, ${columns} FROM MEMORY_RECORD m ORDER BY m.timestamp`, [baseNs])) {
      add(names.text(component), idOf(device), [numberOf(time), numberOf(allocated), numberOf(reserved), numberOf(active)]);
    }
  }
  if (tables.has('NPU_MEM', 'type', 'hbm', 'timestampNs')) {
    const columns = tables.select('NPU_MEM', ['hbm', 'ddr', 'deviceId', 'type'], 'n');
    for (const [time, hbm, ddr, device, type] of tables.rows('NPU_MEM', `SELECT n.timestampNs - ?, ${columns} FROM NPU_MEM n ORDER BY n.timestampNs`, [baseNs])) {
      if (names.text(type) === 'app') {
        add('APP', idOf(device), [numberOf(time), NaN, numberOf(hbm) + (numberOf(ddr) || 0), NaN]);
      }
    }
  }
  if (tables.has('NPU_MODULE_MEM', 'moduleId', 'timestampNs', 'totalReserved')) {
    const modules = new DatabaseStrings(tables, 'ENUM_MODULE', new StringTable(), 'name');
    const columns = tables.select('NPU_MODULE_MEM', ['totalReserved', 'moduleId', 'deviceId'], 'm');
    for (const [time, reserved, module, device] of tables.rows('NPU_MODULE_MEM', `SELECT m.timestampNs - ?, ${columns} FROM NPU_MODULE_MEM m ORDER BY m.timestampNs`, [baseNs])) {
      add(`module: ${modules.text(module)}`, idOf(device), [numberOf(time), NaN, numberOf(reserved), NaN]);
    }
  }
  // Most modules never hold anything.
  const used = [...series.values()].filter(({ rows }) => rows.some((value, i) => i % 4 !== 0 && value > 0));
  return used.map(({ component, device, rows }) => ({
    component, device, timeNs: every4th(rows, 0), allocatedBytes: every4th(rows, 1), reservedBytes: every4th(rows, 2), activeBytes: every4th(rows, 3),
  }));
}

const every4th = (rows: readonly number[], first: number): Float64Array => Float64Array.from({ length: rows.length / 4 }, (_, i) => rows[i * 4 + first]);

export interface RankIdentity {
  readonly rank: number | undefined;
  readonly device: string | undefined;
  readonly host: string | undefined;
}

export function readRankIdentity(tables: SqliteTables): RankIdentity {
  const pairs = tables.has('RANK_DEVICE_MAP', 'rankId', 'deviceId') ? [...tables.rows('RANK_DEVICE_MAP', 'SELECT rankId, deviceId FROM RANK_DEVICE_MAP')] : [];
  const only = pairs.length === 1 ? pairs[0] : undefined;
  const rank = idOf(only?.[0]);
  const device = idOf(only?.[1]);
  const host = tables.has('HOST_INFO', 'hostName') ? textOf(tables.value('HOST_INFO', 'SELECT hostName FROM HOST_INFO')) : '';
  return { rank: rank < 0 ? undefined : rank, device: device < 0 ? undefined : String(device), host: host === '' ? undefined : host };
}

/** Short facts: chip, schema, and what `profiler_info*.json` says about level and versions. */
export async function readFacts({ port }: ReaderContext, path: string, tables: SqliteTables): Promise<Readonly<Record<string, string>>> {
  const facts: Record<string, string> = {};
  if (tables.has('NPU_INFO', 'name')) {
    facts['chip'] = [...new Set([...tables.rows('NPU_INFO', 'SELECT name FROM NPU_INFO')].map(([name]) => textOf(name)))].join(', ');
  }
  if (tables.has('META_DATA', 'name', 'value')) {
    for (const [name, value] of tables.rows('META_DATA', 'SELECT name, value FROM META_DATA')) {
      if (!/^SCHEMA_VERSION_(MAJOR|MINOR|MICRO)$/.test(textOf(name))) {
        facts[textOf(name)] = textOf(value);
      }
    }
  }
  // The rank's folder is the one above `ASCEND_PROFILER_OUTPUT`; a database that was moved may lie in it.
  for (const folder of [port.dirname(path), port.dirname(port.dirname(path))]) {
    const entries = await port.list(folder);
    if (entries.some(({ name }) => INFO_NAME.test(name))) {
      return { ...facts, ...(await readRankInfo(port, folder, entries)).facts };
    }
  }
  return facts;
}
