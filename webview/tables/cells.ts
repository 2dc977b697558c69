import type { Cell, FigureColumn, FigureTable } from '../../src/protocol/overviewTables';
import { microseconds, timeUnit, UNKNOWN, type TimeUnit, type Words } from '../shared/words';

/** Columns of single durations: always in µs, so that 22.8 and 302,200.0 stand in one scale. */
const IN_MICROSECONDS: ReadonlySet<string> = new Set(['mean_us', 'max_us', 'difference_us', 'from_us', 'to_us']);

/** The unit of each column of times, picked by its largest value; undefined for other columns. */
export function columnUnits({ columns, rows }: FigureTable): readonly (TimeUnit | undefined)[] {
  return columns.map(({ key, kind }, i) => {
    if (kind !== 'us' && kind !== 'usSigned') {
      return undefined;
    }
    let largest = 0;
    for (const row of rows) {
      const value = row[i];
      largest = typeof value === 'number' && Math.abs(value) > largest ? Math.abs(value) : largest;
    }
    return IN_MICROSECONDS.has(key) ? microseconds : timeUnit(largest);
  });
}

export function cellText(words: Words, { key, kind }: FigureColumn, cell: Cell, unit: TimeUnit | undefined): string {
  if (cell === null || cell === '') {
    return UNKNOWN;
  }
  if (typeof cell === 'string') {
    return key === 'family' ? words.maybe(`family.${cell}`, cell) : cell;
  }
  switch (kind) {
    case 'us': return words.timeIn(cell, unit ?? timeUnit(cell));
    case 'usSigned': return signed(cell, words.timeIn(Math.abs(cell), unit ?? timeUnit(Math.abs(cell))));
    case 'change': return words.change(cell);
    case 'share': return words.share(cell);
    case 'count': return words.count(cell);
    case 'text': return String(cell);
  }
}

/** The sign before what is written of the absolute value. */
const signed = (value: number, text: string): string => `${value > 0 ? '+' : value < 0 ? '−' : ''}${text}`;

export function headingText(words: Words, { title }: FigureColumn, unit: TimeUnit | undefined): string {
  const name = words.maybe(title, title);
  return unit === undefined ? name : `${name} (${unit.name})`;
}

/** Text by the language's order, numbers by size, unknown last in both directions. */
export function compareCells(a: Cell, b: Cell, collator: Intl.Collator, descending: boolean): number {
  if (a === null || b === null) {
    return a === b ? 0 : a === null ? 1 : -1;
  }
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
  return descending ? -order : order;
}
