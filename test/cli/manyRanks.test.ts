import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import Papa from 'papaparse';
import { displayWidth } from '../../src/cli/output/displayWidth';
import { knownColumns, knownParts } from '../../src/cli/output/knownParts';
import { spreadSection } from '../../src/cli/output/manyRanks';
import { formatTime } from '../../src/cli/output/numbers';
import { text } from '../../src/protocol/text';
import { hasSharedData, sharedPath } from '../sharedData';
import { cli, temporaryFolder } from './runCli';

const say = (code: string, args?: Readonly<Record<string, string | number>>): string => text(code, args);

describe('figures of many ranks', () => {
  it('are the ends with their holders, the middle and the distance, for any values', () => {
    const values = fc.array(fc.option(fc.integer({ min: 0, max: 50 }), { nil: null }), { minLength: 1, maxLength: 20 });
    fc.assert(fc.property(values, (list) => {
      const names = list.map((_value, i) => `rank ${i}`);
      const { rows } = spreadSection('x', 'X', names, [{ title: 'Busy', values: list, format: String }], say);
      const known = list.filter((value): value is number => value !== null).sort((a, b) => a - b);
      if (known.length === 0) {
        assert.deepEqual(rows, []);
        return;
      }
      const [[figure, lowest, low, median, highest, high, spread]] = rows.map(({ cells }) => cells);
      const middle = known.length % 2 === 1 ? known[(known.length - 1) / 2] : (known[known.length / 2 - 1] + known[known.length / 2]) / 2;
      assert.deepEqual([figure, lowest, median, highest, spread], ['Busy', String(known[0]), String(middle), String(known[known.length - 1]), String(known[known.length - 1] - known[0])]);
      for (const [name, value] of [[low, known[0]], [high, known[known.length - 1]]] as const) {
        const holders = list.flatMap((each, i) => (each === value ? [`rank ${i}`] : []));
        assert.equal(name, holders.length === list.length ? 'all' : holders.length === 1 ? holders[0] : `${holders[0]} +${holders.length - 1}`);
      }
    }));
  });

  it('name a rank that lies far from the others, and nobody where all are alike', () => {
    const names = Array.from({ length: 12 }, (_each, i) => `rank ${i}`);
    const notes = (values: readonly number[]): readonly string[] => spreadSection('x', 'X', names, [{ title: 'Free', values, format: formatTime }], say).notes.filter((note) => note.includes('stands out'));
    assert.deepEqual(notes(names.map((_name, i) => 100 + i)), []);
    assert.deepEqual(notes(names.map((_name, i) => (i === 7 ? 400 : 100 + i))), ['rank 7 stands out: Free 400.0 µs (median 105.5 µs).']);
    // A share of a percent is no news, even where all others are equal.
    assert.deepEqual(notes(names.map((_name, i) => (i === 7 ? 10_010 : 10_000))), []);
  });

  it('leave out what no row knows, and say so; ranks stay rows', () => {
    const section = { id: 'x', title: 'Times (span –)', notes: [], columns: ['Rank', 'A', 'B'].map((title) => ({ title, align: 'left' as const })), rows: [['r0', '1', '–'], ['r1', '–', '–']].map((cells) => ({ cells })) };
    const parts = knownParts([section, { ...section, rows: [{ cells: ['r2', '–', '–'] }] }]);
    assert.deepEqual(parts.sections.map(({ columns, rows }) => [columns.map(({ title }) => title), rows.map(({ cells }) => cells)]), [[['Rank', 'A'], [['r0', '1']]]]);
    assert.deepEqual(parts.leftOut, ['r1', 'Times', 'B']);
    assert.deepEqual(knownColumns([section]).sections[0].rows.map(({ cells }) => cells), [['r0', '1'], ['r1', '–']]);
  });
});

describe('a terminal of 100 columns', function () {
  if (!hasSharedData()) {
    it.skip('needs ../shared/data');
    return;
  }
  const folder = temporaryFolder();
  const lines = async (...args: readonly string[]): Promise<readonly string[]> => (await cli(['analyze', ...args], { columns: 100 })).out.split('\n');

  for (const profile of ['ascend/msinsight-cluster', 'ascend/msprof-analyze/cluster_analysis_output', 'ascend', 'ascend/msinsight-qwen3-4rank', 'kineto/cpu-toy', 'kineto/cpu-only-gloo-rank34', 'kineto/cuda-v100-dlrm-8rank', 'kineto/rocm-mi300-train-ddp-stacks']) {
    for (const language of ['en', 'zh-cn']) {
      it(`holds the report of ${profile} (${language})`, async () => {
        assert.deepEqual((await lines(sharedPath(profile), '--lang', language)).filter((line) => line.startsWith(' ') && displayWidth(line) > 100), []);
      });
    }
  }

  it('shows of a cluster who is lowest and highest, as its table says, and every rank on demand', async () => {
    const cluster = sharedPath('ascend/msinsight-cluster');
    const { data } = Papa.parse<Readonly<Record<string, string>>>(readFileSync(sharedPath('ascend/msinsight-cluster/cluster_analysis_output/cluster_step_trace_time.csv'), 'utf8'), { header: true, skipEmptyLines: true });
    const ranks = data.filter(({ Type }) => Type === 'rank').map((row) => ({ index: row.Index, computing: Number(row.Computing) })).sort((a, b) => a.computing - b.computing);
    const [first, last] = [ranks[0], ranks[ranks.length - 1]];
    const row = (await lines(cluster)).find((line) => line.trim().startsWith('Computing'))?.trim().split(/ {2,}/);
    assert.deepEqual(row?.filter((_cell, i) => i !== 3 && i !== 6), ['Computing', formatTime(first.computing), `rank ${first.index}`, formatTime(last.computing), `rank ${last.index}`]);
    const all = (await lines(cluster, '--all-ranks')).join('\n');
    assert.ok(ranks.every(({ index, computing }) => new RegExp(`rank ${index}\\b`).test(all) && all.includes(formatTime(computing))));
  });

  it('says of a run on the CPU in one line what was not recorded, and draws no dashes', async () => {
    for (const profile of ['kineto/cpu-toy', 'kineto/cpu-only-gloo-rank34']) {
      const out = await lines(sharedPath(profile));
      assert.equal(out.filter((line) => line.startsWith('Not in this recording')).length, 1);
      assert.deepEqual(out.filter((line) => /(^| {2})–( {2}|$)/.test(line)), []);
      assert.ok(out.includes('Steps'));
    }
  });

  it('sums up the sixteen ranks of the sample, and lists them with --all-ranks', async () => {
    assert.equal((await cli(['sample', folder.path('sample')])).code, 0);
    const short = await lines(folder.path('sample', 'optimized'), '--rank', '0', '--rank', '5');
    assert.ok(short.some((line) => /^ {2}rank 5 /.test(line)), 'few ranks are listed');
    const summed = await lines(folder.path('sample', 'optimized'));
    assert.ok(!summed.some((line) => /^ {2}rank 5 {2}/.test(line)));
    assert.ok(summed.some((line) => line.includes('16 rows are summed up here')));
    const all = await lines(folder.path('sample', 'optimized'), '--all-ranks');
    assert.deepEqual(Array.from({ length: 16 }, (_each, rank) => all.filter((line) => line.startsWith(`  rank ${rank} `)).length), Array<number>(16).fill(1));
  }).timeout(120_000);
});
