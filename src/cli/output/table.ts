/** Plain-text tables for a terminal. Widths are in columns of the screen: CJK characters take two. */
export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** A column that may be cut to fit the screen. */
  readonly shrinks?: boolean;
}

const GAP = '  ';
const INDENT = '  ';

export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    width += isWide(character.codePointAt(0) ?? 0) ? 2 : 1;
  }
  return width;
}

function isWide(code: number): boolean {
  return (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xac00 && code <= 0xd7a3)
    || (code >= 0xf900 && code <= 0xfaff) || (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) || (code >= 0x20000 && code <= 0x3fffd);
}

/** Cuts the middle: the head of a kernel name says the template, its tail the types. */
export function shorten(text: string, width: number): string {
  if (displayWidth(text) <= width) {
    return text;
  }
  const characters = [...text];
  const head: string[] = [];
  const tail: string[] = [];
  let left = width - 1;
  let fromHead = true;
  while (characters.length > 0) {
    const next = fromHead ? characters[0] : characters[characters.length - 1];
    const cost = displayWidth(next);
    if (cost > left) {
      break;
    }
    left -= cost;
    if (fromHead) {
      head.push(next);
      characters.shift();
    } else {
      tail.unshift(next);
      characters.pop();
    }
    fromHead = head.length <= tail.length * 2;
  }
  return `${head.join('')}…${tail.join('')}`;
}

export function renderTable(columns: readonly TableColumn[], rows: readonly (readonly string[])[], screen: number): string {
  const clean = rows.map((row) => row.map(oneLine));
  const widths = columns.map(({ title }, i) => Math.max(displayWidth(title), ...clean.map((row) => displayWidth(row[i] ?? ''))));
  const fixed = widths.reduce((sum, width, i) => sum + (columns[i].shrinks === true ? 0 : width), INDENT.length + GAP.length * (columns.length - 1));
  // What is left is shared out from the narrowest column up, so that a short one never loses to a long one.
  const shrinking = columns.flatMap(({ shrinks }, i) => shrinks === true ? [i] : []).sort((a, b) => widths[a] - widths[b]);
  let left = screen - fixed;
  shrinking.forEach((i, place) => {
    widths[i] = Math.min(widths[i], Math.max(16, Math.floor(left / (shrinking.length - place))));
    left -= widths[i];
  });
  const line = (cells: readonly string[]): string => {
    const padded = columns.map(({ align }, i) => {
      const cell = shorten(cells[i] ?? '', widths[i]);
      const space = ' '.repeat(Math.max(0, widths[i] - displayWidth(cell)));
      return align === 'right' ? space + cell : cell + space;
    });
    return (INDENT + padded.join(GAP)).trimEnd();
  };
  const head = columns.some(({ title }) => title !== '') ? [line(columns.map(({ title }) => title)), INDENT + widths.map((width) => '─'.repeat(width)).join(GAP)] : [];
  return [...head, ...clean.map(line)].join('\n') + '\n';
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
