/** Plain-text tables for a terminal. Widths are in columns of the screen: CJK characters take two. */
import { displayWidth } from './displayWidth';
import { shortenApart } from './elide';

export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** A column of names, which may be cut to fit the screen. */
  readonly shrinks?: boolean;
  /** A column of sentences, which go on in the next line. */
  readonly wraps?: boolean;
  /** Names its row: where too little room is left beside the figures, the name stands above them, on a line of its own. */
  readonly heads?: boolean;
  /** Left out where the screen is too narrow. */
  readonly optional?: boolean;
}

const GAP = '  ';
const INDENT = '  ';
/** A cut name narrower than this tells little. */
const NARROWEST = 16;
/** A name above its figures is better than one cut to less than this. */
const NARROWEST_HEAD = 36;
const WIDEST_WORD = 24;
/** Lines of a name that stands above its figures. */
const HEAD_LINES = 3;

export function renderTable(columns: readonly TableColumn[], rows: readonly (readonly string[])[], screen: number): string {
  const shown = columns.map((_column, i) => i).filter((i) => columns[i].optional !== true || fits(columns, rows, screen));
  const table: Table = { columns: shown.map((i) => columns[i]), rows: rows.map((row) => shown.map((i) => oneLine(row[i] ?? ''))) };
  const widths = widthsOf(table, screen);
  const head = table.columns.findIndex(({ heads }, i) => heads === true && (widths[i] < Math.min(NARROWEST_HEAD, naturalWidth(table, i)) || totalWidth(widths) > screen));
  const { head: titles, rows: lines } = head < 0 ? drawn(table, widths, INDENT) : stacked(table, head, screen);
  return [...titles, ...lines.flat()].join('\n') + '\n';
}

interface Table {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly string[])[];
}

function fits(columns: readonly TableColumn[], rows: readonly (readonly string[])[], screen: number): boolean {
  return totalWidth(columns.map((_column, i) => naturalWidth({ columns, rows }, i))) <= screen;
}

const totalWidth = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width, INDENT.length + GAP.length * (widths.length - 1));

const cellWidth = ({ rows }: Table, i: number): number => Math.max(0, ...rows.map((row) => displayWidth(row[i] ?? '')));
const naturalWidth = (table: Table, i: number): number => Math.max(displayWidth(table.columns[i].title), cellWidth(table, i));

/** Titles go on in a second line before anything else gives way; then sentences do, and names are cut. */
function widthsOf(table: Table, screen: number): number[] {
  const { columns, rows } = table;
  const widths = columns.map((_column, i) => naturalWidth(table, i));
  const gives = (i: number): boolean => columns[i].shrinks === true || columns[i].wraps === true || columns[i].heads === true;
  if (totalWidth(widths) > screen) {
    columns.forEach(({ title }, i) => {
      if (!gives(i)) {
        widths[i] = Math.max(cellWidth(table, i), widestWord(title));
      }
    });
  }
  const least = (i: number): number => columns[i].wraps === true ? Math.min(WIDEST_WORD, Math.max(widestWord(columns[i].title), ...rows.map((row) => widestWord(row[i])))) : NARROWEST;
  // What is left is shared out from the narrowest column up, so that a short one never loses to a long one.
  const giving = columns.flatMap((_column, i) => gives(i) ? [i] : []).sort((a, b) => widths[a] - widths[b]);
  let left = screen - totalWidth(widths.map((width, i) => (gives(i) ? 0 : width)));
  giving.forEach((i, place) => {
    widths[i] = Math.min(widths[i], Math.max(least(i), Math.floor(left / (giving.length - place))));
    left -= widths[i];
  });
  return widths;
}

interface Drawn {
  readonly head: readonly string[];
  /** The lines of each row. */
  readonly rows: readonly (readonly string[])[];
}

function drawn({ columns, rows }: Table, widths: readonly number[], indent: string): Drawn {
  const cut = columns.map(({ wraps }, i) => {
    const cells = rows.map((row) => row[i]);
    return wraps === true ? cells.map((cell) => fitted(cell, widths[i])) : shortenApart(cells, widths[i]).map((cell) => [cell]);
  });
  const lines = (cells: readonly (readonly string[])[]): readonly string[] => Array.from({ length: Math.max(1, ...cells.map(({ length }) => length)) }, (_line, at) => {
    const padded = columns.map(({ align }, i) => {
      const cell = cells[i][at] ?? '';
      const space = ' '.repeat(Math.max(0, widths[i] - displayWidth(cell)));
      return align === 'right' ? space + cell : cell + space;
    });
    return (indent + padded.join(GAP)).trimEnd();
  });
  // Titles of one line stand on the rule, beside the last line of the others.
  const titles = columns.map(({ title }, i) => fitted(title, widths[i]));
  const height = Math.max(0, ...titles.map(({ length }) => length));
  const head = columns.every(({ title }) => title === '') ? []
    : [...lines(titles.map((title) => [...Array<string>(height - title.length).fill(''), ...title])), indent + widths.map((width) => '─'.repeat(width)).join(GAP)];
  return { head, rows: rows.map((_row, r) => lines(cut.map((column) => column[r]))) };
}

/** Each name above the figures of its row. */
function stacked({ columns, rows }: Table, head: number, screen: number): Drawn {
  const rest = <T>(list: readonly T[]): readonly T[] => list.filter((_each, i) => i !== head);
  const figures: Table = { columns: rest(columns), rows: rows.map(rest) };
  const indent = INDENT + GAP;
  const below = drawn(figures, widthsOf(figures, screen - GAP.length), indent);
  const width = screen - indent.length;
  const names = shortenApart(rows.map((row) => row[head]), width * HEAD_LINES).map((name) => fitted(name, width).map((line, i) => (i === 0 ? INDENT : indent) + line));
  return { head: [INDENT + columns[head].title, ...below.head], rows: names.map((name, r) => [...name, ...below.rows[r]]) };
}

/** Lines of at most `width`, at blanks where there are any. */
const fitted = (text: string, width: number): readonly string[] => wrapped(text, width).flatMap((line) => broken(line, width));

/** Lines of at most `width`, broken anywhere. */
function broken(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const character of text) {
    if (line !== '' && displayWidth(line) + displayWidth(character) > width) {
      lines.push(line);
      line = '';
    }
    line += character;
  }
  return [...lines, line];
}

/** The widest part that is not broken; text without blanks may break anywhere, but four characters stay together. */
function widestWord(text: string): number {
  const wide = displayWidth((text.match(/[\u2e80-\uffef]/gu) ?? []).join(''));
  return Math.max(Math.min(8, wide), ...(text.match(/[^\s\u2e80-\uffef]+/gu) ?? ['']).map(displayWidth));
}

/** Control characters of a hostile name must not steer the terminal. */
export function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}

/** `█████▌   `: a share of `width` columns in eighths. */
export function bar(share: number, width: number): string {
  const eighths = Math.max(0, Math.min(width * 8, Math.round(share * width * 8)));
  const rest = eighths % 8;
  return '█'.repeat(Math.floor(eighths / 8)) + (rest === 0 ? '' : ' ▏▎▍▌▋▊▉'[rest]);
}

/** One text in lines of at most `width` columns, broken at blanks, and anywhere in scripts that have none. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  // A blank belongs to the word before it; wide characters are words of their own.
  for (const word of oneLine(text).match(/[\u2e80-\uffef]|[^\s\u2e80-\uffef]+\s*|\s+/gu) ?? []) {
    if (line !== '' && displayWidth(line) + displayWidth(word.trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += word;
  }
  return [...lines, line.trimEnd()];
}
