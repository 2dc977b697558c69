import type { CounterSeries } from '../profile/columns';
import type { ProblemList } from '../profile/problems';
import { CounterBuilder } from './counterBuilder';
import { asDouble, type DatabaseStrings, numberOf, type SqliteTables } from './sqliteTables';

/** One sampled table. Columns it does not name (`deviceId` and ids apart) are counters under their own names, of no known unit. */
interface Sampled {
  readonly table: string;
  readonly group: string;
  /** Columns that tell series apart, by number or as id of a text. */
  readonly ids?: readonly string[];
  readonly texts?: readonly string[];
  /** Column → name as the text export has it, with `{column}` for what tells apart, and unit: sizes and rates are in bytes here. */
  readonly values: Readonly<Record<string, readonly [string, string]>>;
}

const TABLES: readonly Sampled[] = [
  { table: 'AICORE_FREQ', group: 'AI Core Freq', values: { freq: ['AI Core Freq', 'MHz'] } },
  { table: 'NPU_MEM', group: 'NPU MEM', texts: ['type'], values: { ddr: ['{type}/DDR', 'B'], hbm: ['{type}/HBM', 'B'] } },
  { table: 'HBM', group: 'HBM', ids: ['hbmId'], texts: ['type'], values: { bandwidth: ['HBM {hbmId}/{type}', 'B/s'] } },
  { table: 'LLC', group: 'LLC', ids: ['llcId'], texts: ['mode'], values: { throughput: ['LLC {llcId} {mode}/Throughput', 'B/s'], hitRate: ['LLC {llcId} {mode}/Hit Rate', '%'] } },
  { table: 'DDR', group: 'DDR', values: { read: ['DDR/Read', 'B/s'], write: ['DDR/Write', 'B/s'] } },
  { table: 'QOS', group: 'QoS', texts: ['eventName'], values: { bandwidth: ['QoS {eventName}', ''] } },
  { table: 'SOC_BANDWIDTH_LEVEL', group: 'Stars Soc Info', values: { mataBwLevel: ['Mata Bw Level', ''], l2BufferBwLevel: ['L2 Buffer Bw Level', ''] } },
  { table: 'PCIE', group: 'PCIe', values: {} },
  { table: 'HCCS', group: 'HCCS', values: { txThroughput: ['HCCS/txThroughput', 'B/s'], rxThroughput: ['HCCS/rxThroughput', 'B/s'] } },
  { table: 'NIC', group: 'NIC', ids: ['funcId'], values: {} },
  { table: 'ROCE', group: 'RoCE', ids: ['funcId'], values: {} },
  {
    table: 'ACC_PMU', group: 'Acc PMU', ids: ['accId'],
    values: { readBwLevel: ['read_bandwidth · acc_id {accId}', ''], writeBwLevel: ['write_band_width · acc_id {accId}', ''], readOstLevel: ['read_ost · acc_id {accId}', ''], writeOstLevel: ['write_ost · acc_id {accId}', ''] },
  },
];
const TIME = 'timestampNs';
const MOST_SERIES = 1000;

/** Sampled counters of the database, as the text export's trace has them; times relative to `baseNs`. Undefined when there are none. */
export function readCounters(tables: SqliteTables, names: DatabaseStrings, baseNs: bigint, problems: ProblemList, file: string): readonly CounterSeries[] | undefined {
  const found = new Map<string, { readonly group: string; readonly name: string; readonly unit: string; readonly values: CounterBuilder }>();
  let beyond = 0;
  for (const sampled of TABLES) {
    if (!tables.has(sampled.table, TIME)) {
      continue;
    }
    const { texts = [] } = sampled;
    const present = tables.database.columns(sampled.table);
    const ids = ['deviceId', ...(sampled.ids ?? [])].filter((column) => present.includes(column));
    const apart = [...ids, ...texts.filter((column) => present.includes(column))];
    const values = present.filter((column) => column !== TIME && !apart.includes(column) && !/Id$/.test(column));
    const severalDevices = numberOf(ids.includes('deviceId') ? tables.value(sampled.table, `SELECT count(DISTINCT deviceId) FROM ${sampled.table}`) : 1) > 1;
    const list = tables.select(sampled.table, [...apart, ...values].map(asDouble), 't');
    for (const [time, ...cells] of tables.rows(sampled.table, `SELECT CAST(t.${TIME} - ? AS REAL), ${list} FROM ${sampled.table} t ORDER BY t.${TIME}`, [baseNs])) {
      const told = apart.map((column, i) => (texts.includes(column) ? titled(names.text(cells[i])) : String(numberOf(cells[i]))));
      values.forEach((column, i) => {
        const key = [sampled.table, column, ...told].join('\0');
        let series = found.get(key);
        if (series === undefined && found.size >= MOST_SERIES) {
          beyond++;
          return;
        }
        if (series === undefined) {
          const [template, unit] = sampled.values[column] ?? [[sampled.group, column].join('/') + (sampled.ids ?? []).map((id) => ` · ${id} {${id}}`).join(''), ''];
          const name = apart.reduce((text, id, at) => text.replaceAll(`{${id}}`, told[at]), template);
          series = { group: sampled.group, name: severalDevices ? `${name} · deviceId ${told[0]}` : name, unit, values: new CounterBuilder() };
          found.set(key, series);
        }
        series.values.add(numberOf(time), numberOf(cells[apart.length + i]));
      });
    }
  }
  return finished([...found.values()], beyond, problems, file);
}

function finished(series: readonly { readonly group: string; readonly name: string; readonly unit: string; readonly values: CounterBuilder }[], beyond: number, problems: ProblemList, file: string): readonly CounterSeries[] | undefined {
  let [unplaced, thinned, notNumbers] = [0, 0, 0];
  const list = series.map(({ group, name, unit, values }): CounterSeries => {
    const { unplaced: lost, ...columns } = values.finish((time) => time);
    unplaced += lost;
    thinned += values.count < values.recorded ? 1 : 0;
    notNumbers += values.recorded === values.count ? columns.value.filter((value) => Number.isNaN(value)).length : 0;
    return { group, name, unit, ...columns };
  }).filter(({ timeNs }) => timeNs.length > 0);
  for (const [kind, count] of [['counters-without-time', unplaced], ['counters-not-numbers', notNumbers], ['counters-thinned', thinned], ['counters-beyond', beyond]] as const) {
    if (count > 0) {
      problems.add(kind, file, { severity: 'info', count });
    }
  }
  return list.length === 0 ? undefined : list;
}

/** `read` → `Read`, `app` → `APP`, as the text export writes them. */
function titled(text: string): string {
  return text === 'app' ? 'APP' : text.charAt(0).toUpperCase() + text.slice(1);
}
