import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formatCount, formatShare, formatTime } from '../../src/cli/output/numbers';
import { microseconds } from '../../src/cli/output/perfetto';
import { SubLanes } from '../../src/cli/output/subLanes';
import { displayWidth } from '../../src/cli/output/displayWidth';
import { shorten, shortenApart } from '../../src/cli/output/elide';
import { renderTable, wrapped } from '../../src/cli/output/table';
import { progressLine } from '../../src/cli/progress';
import { english } from '../../src/protocol/text';

const spans = fc.array(fc.record({ start: fc.integer({ min: 0, max: 60 }), length: fc.integer({ min: 0, max: 20 }) }), { maxLength: 40 })
  .map((list) => list.map(({ start, length }) => ({ start, end: start + length })).sort((a, b) => a.start - b.start || b.end - a.end));

describe('pieces of the command', () => {
  it('sub-tracks never hold two overlapping events, and events that fit stay on the first', () => {
    fc.assert(fc.property(spans, (list) => {
      const lanes = new SubLanes();
      const placed = list.map((span) => ({ ...span, lane: lanes.apart(1, span.start, span.end) }));
      for (const a of placed) {
        for (const b of placed) {
          assert.ok(a === b || a.lane !== b.lane || a.end <= b.start || b.end <= a.start);
        }
      }
      const alone = list.every((span, i) => i === 0 || list.slice(0, i).every((other) => other.end <= span.start));
      assert.ok(!alone || placed.every(({ lane }) => lane === 0));
    }));
  });

  it('nested sub-tracks hold events that lie inside or beside each other', () => {
    fc.assert(fc.property(spans, (list) => {
      const lanes = new SubLanes();
      const placed = list.map((span) => ({ ...span, lane: lanes.nested(1, span.start, span.end) }));
      placed.forEach((b, j) => placed.slice(0, j).forEach((a) => {
        assert.ok(a.lane !== b.lane || a.end <= b.start || b.end <= a.end, `${a.start}-${a.end} and ${b.start}-${b.end}`);
      }));
    }));
  });

  it('microseconds are exact decimals of integer nanoseconds', () => {
    fc.assert(fc.property(fc.maxSafeInteger(), (ns) => {
      const [whole, fraction] = microseconds(ns).replace('-', '').split('.');
      assert.equal(BigInt(whole) * 1000n + BigInt(fraction), BigInt(Math.abs(ns)));
      assert.equal(microseconds(ns).startsWith('-'), ns < 0);
    }));
  });

  it('times keep four digits that matter and always name their unit; unknown is a dash', () => {
    const cases: readonly (readonly [number | null, string])[] = [[null, '–'], [0, '0 µs'], [0.001, '0.001 µs'], [9.9994, '9.999 µs'], [22.8, '22.80 µs'], [290, '290.0 µs'], [1180, '1.180 ms'], [302_200, '302.2 ms'], [3_083_000, '3.083 s'], [120_000_000, '120.0 s']];
    for (const [us, text] of cases) {
      assert.equal(formatTime(us), text);
    }
    assert.deepEqual([formatCount(19252), formatCount(999), formatCount(1_000_000), formatCount(null)], ['19,252', '999', '1,000,000', '–']);
    assert.deepEqual([formatShare(0.624), formatShare(1), formatShare(null)], ['62.4 %', '100.0 %', '–']);
  });

  it('wrapped text loses nothing and stays in its width, but for a word that is wider', () => {
    fc.assert(fc.property(fc.array(fc.oneof(fc.stringMatching(/^[a-z]{1,12}$/), fc.constant('连续八次，类型转换'))), fc.integer({ min: 8, max: 40 }), (words, width) => {
      const text = words.join(' ');
      const lines = wrapped(text, width);
      assert.equal(lines.join('').replaceAll(' ', ''), text.replaceAll(' ', ''));
      lines.forEach((line) => assert.ok(displayWidth(line) <= width || !line.includes(' '), line));
    }));
  });

  it('shortened names keep head and tail and fit, wide characters counted twice', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 4, max: 30 }), (text, width) => {
      const cut = shorten(text, width);
      assert.ok(displayWidth(cut) <= width || cut === text);
      assert.ok(cut === text || cut.includes('…'));
    }));
    assert.equal(displayWidth('时间去向'), 8);
  });

  it('names that differ look different when cut, and fit', () => {
    const part = fc.constantFrom('gemm<', 'float, ', 'true, ', 'false, ', '128, ', '64, ', 'stridedB_splitK_', '内核', '>');
    const names = fc.uniqueArray(fc.array(part, { minLength: 1, maxLength: 30 }).map((parts) => parts.join('')), { minLength: 2, maxLength: 12 });
    fc.assert(fc.property(names, fc.integer({ min: 16, max: 60 }), (all, width) => {
      const cut = shortenApart(all, width);
      assert.equal(new Set(cut).size, all.length, cut.join('\n'));
      cut.forEach((short, i) => assert.ok(short === all[i] ? displayWidth(short) <= width : short.includes('…') && displayWidth(short) <= width, short));
    }));
    const long = (tile: string): string => `volta_scudnn_128x64_${tile}_splitK_interior_nn_v1`;
    assert.deepEqual(shortenApart([long('relu'), long('stridedB'), long('relu')], 30).map((short) => /_(relu|stri)/.exec(short)?.[1]), ['relu', 'stri', 'relu']);
  });

  it('a name too long for its column stands above its figures, whole', () => {
    const name = `kernel<${Array.from({ length: 18 }, (_, i) => `type${i}`).join(', ')}>`;
    const columns = [{ title: 'What', heads: true }, { title: 'Kernel time of all ranks', align: 'right' as const }, { title: 'Verdict', wraps: true }];
    const lines = renderTable(columns, [[name, '1 ms', 'faster (calls)'], ['short', '22 ms', 'same']], 60).trimEnd().split('\n');
    assert.ok(lines.every((line) => displayWidth(line) <= 60), lines.join('\n'));
    const from = lines.findIndex((line) => line.startsWith('  kernel<'));
    const to = lines.findIndex((line) => line.includes('1 ms'));
    assert.equal(lines.slice(from, to).map((line) => line.trim()).join(' '), name);
    assert.match(lines[to], /^ +1 ms {2}faster \(calls\)$/);
    assert.deepEqual(lines.slice(to + 1).map((line) => line.trim()), ['short', '22 ms  same']);
    // On a wide screen the same table has one line a row.
    assert.equal(renderTable(columns, [[name, '1 ms', 'faster (calls)'], ['short', '22 ms', 'same']], 240).trimEnd().split('\n').length, 4);
  });

  it('titles and sentences go on in the next line before names are cut', () => {
    const table = renderTable([{ title: 'Rank' }, { title: 'Exposed communication', align: 'right' }, { title: 'Overlapped communication', align: 'right' }, { title: 'Why', wraps: true }], [['rank 0', '1.000 ms', '22.00 ms', 'one sentence that goes on and on']], 60);
    const lines = table.trimEnd().split('\n');
    assert.ok(lines.every((line) => displayWidth(line) <= 60), table);
    assert.ok(!table.includes('…'));
    assert.equal(lines.join(' ').match(/communication/g)?.length, 2);
  });

  it('tables line up and stay within the screen', () => {
    const table = renderTable([{ title: 'Name', shrinks: true }, { title: '数量', align: 'right' }], [['a'.repeat(200), '1'], ['算子', '12,345']], 60);
    const widths = table.trimEnd().split('\n').map(displayWidth);
    assert.ok(widths.every((width) => width <= 60), String(widths));
    assert.equal(new Set([widths[0], widths[1], widths[2], widths[3]]).size, 1, 'right-aligned columns end together');
  });

  it('progress is one line on a terminal and silent elsewhere until some seconds have passed', () => {
    const run = (errIsTerminal: boolean): readonly string[] => {
      const said: string[] = [];
      let now = 1_000_000;
      const io = { out: () => Promise.resolve(), err: (text: string) => { said.push(text); }, columns: undefined, errIsTerminal, environment: {}, signal: new AbortController().signal };
      const line = progressLine({ io, translate: english, language: 'en' }, () => now);
      for (let i = 0; i < 12; i++) {
        line.report({ bytes: i * 1e8, totalBytes: 12e8, file: '/a/b/trace.json' });
        now += 1000;
      }
      line.clear();
      return said;
    };
    assert.ok(run(true).every((text) => text.startsWith('\r')));
    assert.equal(run(true).at(-1), '\r\x1b[K');
    const plain = run(false);
    assert.equal(plain.length, 2);
    assert.match(plain[0], /^Reading trace\.json 41% \(500 MB, 100 MB\/s\)\n$/);
  });
});
