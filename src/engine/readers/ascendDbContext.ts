/** What an Ascend database says besides events: memory, who and where the rank is, versions. */
import type { MemorySeries } from '../profile/columns';
import type { ReaderContext } from './reader';
import { idOf, numberOf, textOf, type DatabaseStrings, type SqliteTables } from './sqliteTables';

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
  return [...series.values()].map(({ component, device, rows }) => ({
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
export async function readFacts(context: ReaderContext, path: string, tables: SqliteTables): Promise<Readonly<Record<string, string>>> {
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
  return { ...facts, ...(await profilerInfo(context, path)) };
}

/** `profiler_info[_<rank>].json` in the folder above `ASCEND_PROFILER_OUTPUT`. */
async function profilerInfo({ port }: ReaderContext, path: string): Promise<Readonly<Record<string, string>>> {
  const folder = port.dirname(port.dirname(path));
  const entry = (await port.list(folder)).find(({ name }) => /^profiler_info(_\d+)?\.json$/.test(name));
  if (entry === undefined) {
    return {};
  }
  try {
    const info = JSON.parse(new TextDecoder().decode(await port.read(port.join(folder, entry.name), 0, 1024 * 1024))) as Readonly<Record<string, unknown>>;
    const config = (info['config'] ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
    const level = config['experimental_config']?.['_profiler_level'];
    const facts = { level, torch_npu: info['torch_npu_version'], cann: info['cann_version'], record_shapes: config['common_config']?.['record_shapes'], with_stack: config['common_config']?.['with_stack'] };
    return Object.fromEntries(Object.entries(facts).flatMap(([key, value]) => (typeof value === 'string' || typeof value === 'boolean' ? [[key, String(value)]] : [])));
  } catch {
    // A file of metadata never decides whether a profile opens.
    return {};
  }
}
