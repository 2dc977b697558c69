import assert from 'node:assert/strict';
import type { FigureColumn } from '../../src/protocol/overviewTables';
import { Words, timeUnit } from '../../webview/shared/words';
import { cellText, columnUnits, compareCells } from '../../webview/tables/cells';

describe('numbers in views', () => {
  const words = new Words('en', {});

  it('have the unit that suits them', () => {
    const cases: readonly (readonly [number | null, string])[] = [
      [null, '–'], [0, '0 µs'], [1.284, '1.28 µs'], [22.84, '22.8 µs'], [999.94, '999.9 µs'], [1180, '1.2 ms'], [302_200, '302.2 ms'], [3_083_000, '3,083 ms'], [12_345_678, '12.35 s'],
    ];
    assert.deepEqual(cases.map(([us]) => words.time(us)), cases.map(([, text]) => text));
  });

  it('never read zero when they are not', () => {
    assert.equal(words.share(0.0001), '< 0.1 %');
    assert.equal(words.share(0), '0.0 %');
    assert.equal(words.share(0.624), '62.4 %');
    assert.equal(words.timeIn(1, timeUnit(50_000)), '< 0.01');
    assert.equal(words.timeIn(0, timeUnit(50_000)), '0.00');
    assert.equal(words.timeIn(null, timeUnit(50_000)), '–');
  });

  it('share one unit in a column', () => {
    const columns: readonly FigureColumn[] = [{ key: 'total_us', title: '', kind: 'us' }, { key: 'mean_us', title: '', kind: 'us' }, { key: 'name', title: '', kind: 'text' }];
    const units = columnUnits({ id: 'kernels', title: '', columns, rows: [[158_553, 158_553, 'a'], [3.2, 1.6, 'b'], [null, null, 'c']] });
    assert.deepEqual(units.map((unit) => unit?.name), ['ms', 'µs', undefined]);
    assert.equal(cellText(words, columns[0], 158_553, units[0]), '158.55');
    assert.equal(cellText(words, columns[1], 158_553, units[1]), '158,553.0');
    assert.equal(cellText(words, columns[0], null, units[0]), '–');
  });

  it('are written as the language does', () => {
    assert.equal(new Words('de', {}).count(19252), '19.252');
    assert.equal(new Words('zh-cn', { Kernels: 'Kernel 数' }).t('view.kernels'), 'Kernel 数');
  });

  it('are sorted by size, unknown last either way', () => {
    const collator = new Intl.Collator('en', { numeric: true });
    const cells = [3, null, 20, 1];
    assert.deepEqual([...cells].sort((a, b) => compareCells(a, b, collator, true)), [20, 3, 1, null]);
    assert.deepEqual([...cells].sort((a, b) => compareCells(a, b, collator, false)), [1, 3, 20, null]);
    assert.deepEqual(['step-10', 'step-2'].sort((a, b) => compareCells(a, b, collator, false)), ['step-2', 'step-10']);
  });
});
