import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CounterSeries, RankData } from '../../../src/engine/profile/columns';
import { ProblemList, type Problem } from '../../../src/engine/profile/problems';
import { deserializeRank, serializeRank } from '../../../src/engine/profile/serialize';
import { CounterBuilder, MOST_POINTS } from '../../../src/engine/readers/counterBuilder';
import { readAscendDb } from '../../../src/engine/readers/ascendDb';
import { readKinetoTrace } from '../../../src/engine/readers/kineto';
import { parseDecimal } from '../../../src/engine/readers/traceNumbers';
import { openSqlite } from '../../../src/node/sqlite';
import { nodeFilePort } from '../../../src/node/filePort';
import { hasSharedData, sharedPath } from '../../sharedData';
import { nanoseconds, outputOf, readOnly } from './ascendSupport';
import { randomFrom } from '../timeline/generatedRank';

interface CounterEvent {
  readonly ph: string;
  readonly name: string;
  readonly pid: number;
  readonly ts: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Values of all series by JSON.parse: `process name [acc_id] key` → lines of time and value, in order of time. */
function oracle(file: string): ReadonlyMap<string, readonly string[]> {
  const events = JSON.parse(readFileSync(file, 'utf8')) as readonly CounterEvent[];
  const processes = new Map(events.filter(({ ph, name }) => ph === 'M' && name === 'process_name').map(({ pid, args }) => [pid, String(args['name'])]));
  const series = new Map<string, { readonly at: bigint; readonly value: number; readonly order: number }[]>();
  events.forEach(({ ph, name, pid, ts, args }, order) => {
    for (const [key, value] of ph === 'C' ? Object.entries(args) : []) {
      if (key !== 'acc_id') {
        const id = `${processes.get(pid) ?? ''}|${name}|${key}|${'acc_id' in args ? String(args['acc_id']) : ''}`;
        series.set(id, [...(series.get(id) ?? []), { at: nanoseconds(ts) ?? -1n, value: Number(value) * (key === 'KB' ? 1024 : 1), order }]);
      }
    }
  });
  return new Map([...series].map(([id, values]) => [id, values.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.order - b.order)).map(({ at, value }) => `${at} ${value}`)]));
}

const linesOf = ({ baseNs }: RankData, { timeNs, value }: CounterSeries): readonly string[] => Array.from(timeNs, (time, i) => `${baseNs + BigInt(time)} ${value[i]}`);

describe('Counters of Ascend traces', function () {
  this.timeout(60_000);
  before(function () {
    if (!hasSharedData()) {
      this.skip();
    }
  });

  it('are read value for value, with their exact times, as JSON.parse reads them', async () => {
    for (const [level, rank] of [[0, 0], [1, 1], [2, 0]]) {
      const folder = sharedPath('ascend', 'msinsight-alexnet', 'text', `level${level}`, `rank${rank}_ascend_pt`);
      const { data, problems } = await readOnly(folder);
      const expected = oracle(outputOf(folder, 'trace_view.json'));
      assert.ok(expected.size > 100);
      // Compared as sets: what a series is called is another test.
      assert.deepEqual((data.counters ?? []).map((series) => linesOf(data, series).join()).sort(), [...expected.values()].map((lines) => lines.join()).sort());
      assert.deepEqual(problems.filter(({ kind }) => kind.startsWith('counters') || kind.endsWith('not-shown')), []);
    }
  });

  it('have the names and units the file gives them; memory is in bytes', async () => {
    const folder = sharedPath('ascend', 'msinsight-alexnet', 'text', 'level0', 'rank0_ascend_pt');
    const { data } = await readOnly(folder);
    const named = new Map((data.counters ?? []).map((series) => [`${series.group}|${series.name}`, series]));
    const expected = oracle(outputOf(folder, 'trace_view.json'));
    const cases = [
      ['AI Core Freq|AI Core Freq', 'MHz', 'AI Core Freq|AI Core Freq|MHz|'], ['NPU MEM|APP/HBM', 'B', 'NPU MEM|APP/HBM|KB|'], ['HBM|HBM 0/Read', 'MB/s', 'HBM|HBM 0/Read|Read(MB/s)|'],
      ['LLC|LLC 0 Read/Hit Rate', '%', 'LLC|LLC 0 Read/Hit Rate|Hit Rate(%)|'], ['QoS|QoS OTHERS', '', 'QoS|QoS OTHERS|value|'], ['Acc PMU|read_ost · acc_id 27', '', 'Acc PMU|read_ost|value|27'],
      ['Stars Soc Info|Mata Bw Level', '', 'Stars Soc Info|Mata Bw Level|Mata Bw Level|'],
    ];
    for (const [name, unit, id] of cases) {
      const series = named.get(name);
      assert.ok(series !== undefined, name);
      assert.equal(series.unit, unit, name);
      assert.deepEqual(linesOf(data, series), expected.get(id), name);
    }
  });

  it('come back from the column cache, and cost nothing where there are none', async () => {
    const { data, problems } = await readOnly(sharedPath('ascend', 'msinsight-alexnet', 'text', 'level1', 'rank0_ascend_pt'));
    const bytes = (rank: RankData): Uint8Array => Uint8Array.from(Buffer.concat(serializeRank({ data: rank, problems })));
    assert.deepEqual(deserializeRank(bytes(data))?.data.counters, data.counters);
    const { counters: _counters, ...without } = data;
    assert.equal('counters' in (deserializeRank(bytes(without))?.data ?? {}), false);
    assert.equal('counters' in (await readOnly(sharedPath('ascend', 'msprof-analyze', 'trace_view_2024-01.json'))).data, false);
  });
});

describe('Counters of Kineto traces', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'fuselens-counters-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  async function read(lines: readonly string[]): Promise<{ readonly rank: RankData; readonly problems: readonly Problem[] }> {
    const file = path.join(folder, 'trace.json');
    writeFileSync(file, `{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"x","pid":1,"tid":1,"ts":1000,"dur":5},\n${lines.join(',\n')}]}`);
    const problems = new ProblemList();
    return { rank: await readKinetoTrace({ port: nodeFilePort(), problems }, file), problems: problems.toArray() };
  }
  const at = (ts: string, args: string, more = ''): string => `{"ph":"C","name":"load","pid":7,${more}"ts":${ts},"args":${args}}`;
  const shown = ({ counters = [] }: RankData): unknown => counters.map(({ name, unit, timeNs, value }) => [name, unit, [...timeNs], [...value]]);

  it('make each key and each id a series of its own', async () => {
    const { rank, problems } = await read([
      at('1001.5', '{"user":1,"sys":2.5}'), at('1002', '{"user":"3"}'), at('1003', '{"user":4}', '"id":"0x1",'), '{"ph":"M","name":"process_name","pid":7,"args":{"name":"host"}}', at('1000.001', '{"sys":-1e-3}'),
    ]);
    assert.deepEqual(shown(rank), [['load · user', '', [1500, 2000], [1, 3]], ['load · sys', '', [1, 1500], [-0.001, 2.5]], ['load · user · 0x1', '', [3000], [4]]]);
    assert.deepEqual(rank.counters?.map(({ group }) => group), ['host', 'host', 'host']);
    assert.deepEqual(problems.filter(({ kind }) => kind.startsWith('counters')), []);
  });

  it('are unknown, never 0, from a value on that is no number, and say how many', async () => {
    const { rank, problems } = await read([
      at('1001', '{"a":1}'), at('1002', '{"a":"N/A"}'), at('1003', '{"a":1e999}'), at('1004', '{"a":null}'), at('1005', '{"a":NaN}'), at('1006', '{"a":{"b":2}}'), at('1007', '{"a":[3]}'), at('1008', '{"a":true}'), at('1009', '{"a":""}'),
      at('1010', '{}'), at('1011', '{"a":2}'), at('"never"', '{"a":3}'), '{"ph":"C","name":"load","pid":7,"args":{"a":4}}', at('9e15', '{"a":5}'), '{"ph":"C","name":"load","pid":7,"ts":1012}',
    ]);
    assert.deepEqual(shown(rank), [['load · a', '', [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 11_000], [1, NaN, NaN, NaN, NaN, NaN, NaN, NaN, NaN, 2]]]);
    assert.deepEqual(problems.filter(({ kind }) => kind.startsWith('counters')).map(({ kind, count }) => [kind, count]), [['counters-without-time', 3], ['counters-not-numbers', 10]]);
  });

  it('keep at most a thousand series, and say what they leave out', async () => {
    const { rank, problems } = await read(Array.from({ length: 1010 }, (_, i) => `{"ph":"C","name":"c${i}","pid":7,"ts":${1001 + i},"args":{"v":${i}}}`));
    assert.equal(rank.counters?.length, 1000);
    assert.deepEqual(problems.filter(({ kind }) => kind.startsWith('counters')).map(({ kind, count }) => [kind, count]), [['counters-beyond', 10]]);
  });

  it('do not move the base, however far off their own clock is', async () => {
    const plain = await read(['{"ph":"X","cat":"cpu_op","name":"y","pid":1,"tid":1,"ts":1010,"dur":5}']);
    const { rank, problems } = await read(['{"ph":"X","cat":"cpu_op","name":"y","pid":1,"tid":1,"ts":1010,"dur":5}', ...Array.from({ length: 50 }, (_, i) => at(`${99e14 + i}`, '{"a":1}'))]);
    assert.equal(rank.baseNs, plain.rank.baseNs);
    assert.deepEqual(rank.hostEvents.startNs, plain.rank.hostEvents.startNs);
    assert.deepEqual(problems.filter(({ kind }) => kind.startsWith('counters')).map(({ kind, count }) => [kind, count]), [['counters-without-time', 50]]);
  });

  it('thin a million values to a bounded number, with every peak', () => {
    const values = new CounterBuilder();
    const random = randomFrom(11);
    const all = Array.from({ length: 1_000_000 }, () => random());
    const peaks = [123_457, 500_001, 999_998];
    peaks.forEach((i) => (all[i] = 5 + i));
    all[333_333] = NaN;
    all.forEach((value, i) => values.add(i, value));
    const { timeNs, value } = values.finish((time) => time);
    assert.equal(values.recorded, all.length);
    assert.ok(timeNs.length <= MOST_POINTS && timeNs.length >= MOST_POINTS / 8, String(timeNs.length));
    for (const i of [...peaks, 333_333]) {
      assert.ok(timeNs.includes(i), `${i}`);
    }
    // What stays is what was recorded, and the extremes of all are among it.
    assert.ok(timeNs.every((time, i) => Object.is(value[i], all[time])));
    assert.equal(Math.min(...value.filter((one) => one === one)), all.reduce((least, one) => (one < least ? one : least), Infinity));
  });
});

describe('Decimal numbers of arguments', () => {
  const parse = (text: string): number => {
    const bytes = new TextEncoder().encode(text);
    return parseDecimal(bytes, 0, bytes.length);
  };

  it('equal those of JSON.parse to the last bit', () => {
    const random = randomFrom(5);
    for (let i = 0; i < 20_000; i++) {
      const digits = Array.from({ length: 1 + Math.floor(random() * 20) }, () => Math.floor(random() * 10)).join('').replace(/^0+(?=\d)/, '');
      const fraction = random() < 0.6 ? `.${Array.from({ length: 1 + Math.floor(random() * 18) }, () => Math.floor(random() * 10)).join('')}` : '';
      const exponent = random() < 0.2 ? `e${random() < 0.5 ? '-' : ''}${Math.floor(random() * 300)}` : '';
      const text = `${random() < 0.3 ? '-' : ''}${digits}${fraction}${exponent}`;
      const expected = JSON.parse(text) as number;
      assert.ok(Object.is(parse(text), Number.isFinite(expected) ? expected : NaN), text);
    }
  });

  it('are nothing else', () => {
    for (const text of ['', '-', '.', '1.2.3', '0x10', '1,5', 'Infinity', '-inf', 'NaN', '1e', '1e999', '--1', '1 2', '12abc', 'true']) {
      assert.ok(Number.isNaN(parse(text)), text);
    }
    assert.deepEqual(['.5', '5.', ' 7\t', '-0', '1E2'].map(parse), [0.5, 5, 7, -0, 100]);
  });
});

describe('Counters of Ascend databases', function () {
  this.timeout(60_000);
  const folder = (form: string): string => sharedPath('ascend', 'msinsight-alexnet', form, 'level1', 'rank0_ascend_pt');
  const file = path.join(outputOf(folder('db'), 'ascend_pytorch_profiler_0.db'));
  before(function () {
    if (!hasSharedData()) {
      this.skip();
    }
  });

  it('are the rows of its tables, with the names of the text export of the same kind of run', async () => {
    const problems = new ProblemList();
    const rank = await readAscendDb({ port: nodeFilePort(), problems }, { path: file });
    const database = await openSqlite(file);
    const rows = (sql: string): readonly string[] => [...database.rows(sql)].map(([time, value]) => `${String(time)} ${Number(value)}`);
    const named = new Map((rank.counters ?? []).map((series) => [`${series.group}|${series.name}|${series.unit}`, linesOf(rank, series)]));
    const text = "(SELECT value FROM STRING_IDS WHERE id =";
    const cases = [
      ['AI Core Freq|AI Core Freq|MHz', 'SELECT timestampNs, freq FROM AICORE_FREQ ORDER BY timestampNs'],
      ['NPU MEM|APP/HBM|B', `SELECT timestampNs, hbm FROM NPU_MEM WHERE ${text} type) = 'app' ORDER BY timestampNs`],
      ['HBM|HBM 3/Write|B/s', `SELECT timestampNs, bandwidth FROM HBM WHERE hbmId = 3 AND ${text} type) = 'write' ORDER BY timestampNs`],
      ['LLC|LLC 1 Read/Hit Rate|%', 'SELECT timestampNs, hitRate FROM LLC WHERE llcId = 1 ORDER BY timestampNs'],
      ['Stars Soc Info|Mata Bw Level|', 'SELECT timestampNs, mataBwLevel FROM SOC_BANDWIDTH_LEVEL ORDER BY timestampNs'],
      ['Acc PMU|read_ost · acc_id 27|', 'SELECT timestampNs, readOstLevel FROM ACC_PMU WHERE accId = 27 ORDER BY timestampNs'],
    ];
    try {
      for (const [name, sql] of cases) {
        const expected = rows(sql);
        assert.ok(expected.length > 1, name);
        assert.deepEqual(named.get(name), expected, name);
      }
    } finally {
      database.close();
    }
    const { data } = await readOnly(folder('text'));
    const names = (counters: RankData['counters'] = []): readonly string[] => counters.map(({ group, name }) => `${group}|${name}`).filter((name) => !/\/Memory$|^QoS/.test(name)).sort();
    // The text export adds DDR and HBM up as `Memory`; a database of this schema has no QoS.
    assert.deepEqual(names(rank.counters), names(data.counters));
    assert.deepEqual(problems.toArray().filter(({ kind }) => kind.startsWith('counters')), []);
  });
});
