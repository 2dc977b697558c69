/**
 * CSV bytes to columns, chunk by chunk: RFC 4180 with quoted cells that may hold line breaks and doubled quotes, LF and
 * CRLF mixed (or CR alone, as old Macs ended lines), an optional UTF-8 mark at the start. Only the wanted columns of a row are located; nothing becomes a string
 * unless the row's handler asks for it.
 *
 * Damage never throws and never swallows the file: a quoted cell that spans lines and then ends in something that is no
 * separator (two files glued together, a hole in a copy) costs one line; scanning goes on with the next.
 */
import type { StringTable } from '../profile/strings';
import { CellNumber, isMissing, MicrosecondParts, parseMicroseconds } from './csvNumbers';

// Under a loader that turns imports into property reads, these names save one at every cell.
const { Ok: OK, Missing: MISSING } = CellNumber;
const parseCell = parseMicroseconds;
const isMissingCell = isMissing;

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;

/** A record longer than this is damage, not data (call stacks reach some 20 KB). */
const MAX_RECORD = 1024 * 1024;

const INCOMPLETE = -1;
const MALFORMED = -2;

export interface CsvHandlers {
  /**
   * The header's cells, unquoted and trimmed. Answers the column of each slot (-1 = not in this file); undefined ends
   * scanning at once. A slot's column may not be used by another slot.
   */
  header(cells: readonly string[]): readonly number[] | undefined;
  /** One whole record; read the slots through the scanner, whose state is valid only during the call. */
  row(row: CsvScanner): void;
  /** A line that could not be read as a record and was left out. */
  damaged(line: number, reason: 'quotes' | 'too-long' | 'cut'): void;
}

export class CsvScanner {
  /** Line of the record in the file, from 1. */
  line = 1;
  /** Where the record lies in the file, line end excluded. */
  offset = 0;
  length = 0;
  /** Cells of the header line. */
  columns = 0;
  readonly parts = new MicrosecondParts();

  private buffer = new Uint8Array(64 * 1024);
  /** The same memory in steps of four bytes. */
  private words = new Int32Array(this.buffer.buffer);
  private filled = 0;
  /** File offset of `buffer[0]`. */
  private base = 0;
  private state: 'start' | 'header' | 'rows' | 'stopped' = 'start';
  /** Column → slot, -1 for columns nobody wants; ends with the last wanted column. */
  private slotOf = new Int16Array(0);
  private starts = new Int32Array(0);
  private ends = new Int32Array(0);
  /** The slot's cell holds doubled quotes. */
  private doubled = new Uint8Array(0);
  private discarding = false;
  /** The header line ends in a CR alone: every CR is read as LF, byte for byte, so offsets stay. */
  private returnsEndLines = false;
  private lineEndsKnown = false;
  private recordEnd = 0;
  private newlines = 0;
  private cellDoubled = 0;
  private readonly decoder = new TextDecoder('utf-8');

  constructor(private readonly handlers: CsvHandlers) {}

  get stopped(): boolean {
    return this.state === 'stopped';
  }

  /** Takes the next bytes of the file; they are copied, so the caller may reuse them. */
  push(chunk: Uint8Array): void {
    if (this.state === 'stopped') {
      return;
    }
    // One byte more for the line end that stops every loop at the end of the data.
    const needed = this.filled + chunk.length + 1;
    if (needed > this.buffer.length) {
      const larger = new Uint8Array(Math.ceil(Math.max(needed, this.buffer.length * 2) / 4) * 4);
      larger.set(this.buffer.subarray(0, this.filled));
      this.buffer = larger;
      this.words = new Int32Array(larger.buffer);
    }
    this.buffer.set(chunk, this.filled);
    this.filled = needed - 1;
    if (this.returnsEndLines) {
      this.replaceReturns(this.filled - chunk.length);
    }
    this.buffer[this.filled] = LF;
    this.scan();
  }

  /** The file has ended: a last line without a line end is read if it has all its columns, else reported as cut. */
  finish(): void {
    if (this.state === 'stopped' || this.filled === 0 || this.discarding) {
      return;
    }
    const wanted = this.columns;
    const cells = wanted === 0 ? 0 : this.countCells(0, this.filled);
    if (wanted > 0 && (cells < wanted || cells === INCOMPLETE) && !this.hasLineEnd()) {
      this.handlers.damaged(this.line, 'cut');
      this.filled = 0;
      return;
    }
    this.push(new Uint8Array([LF]));
    // What is left now is an open quote: its line is given up and the lines it swallowed are read on their own.
    while (this.filled > 0 && !this.stopped) {
      this.consume(this.afterDamagedLine(0, this.hasLineEnd() ? 'quotes' : 'cut'));
      this.scan();
    }
  }

  /** Whether the record has this slot's cell (short rows lack the last ones). */
  has(slot: number): boolean {
    return this.starts[slot] >= 0;
  }

  /** The cell's text, without quotes round it, as a string. */
  text(slot: number): string {
    return this.starts[slot] < 0 ? '' : this.decode(slot, this.starts[slot], this.ends[slot]);
  }

  /**
   * The cell's text interned; 0 where the file says blank or `N/A`. Cells that were quoted twice (`"""4,16;16,16"""`) lose
   * the inner quotes too.
   */
  intern(slot: number, strings: StringTable): number {
    let start = this.starts[slot];
    let end = this.ends[slot];
    if (start < 0) {
      return 0;
    }
    const bytes = this.buffer;
    while (end > start && (bytes[end - 1] === TAB || bytes[end - 1] === SPACE)) {
      end--;
    }
    let doubled = this.doubled[slot] !== 0;
    if (doubled && end - start >= 4 && bytes[start] === QUOTE && bytes[start + 1] === QUOTE && bytes[end - 1] === QUOTE && bytes[end - 2] === QUOTE) {
      start += 2;
      end -= 2;
      doubled = this.hasQuote(start, end);
    }
    const length = end - start;
    if (length <= 4 && (length === 0 || (length === 3 && bytes[start] === 78 && bytes[start + 1] === 47) || (mayBeMissing(bytes[start]) && isMissingCell(bytes, start, end)))) {
      return 0;
    }
    return doubled ? strings.internBytes(bytes, start, end, this.decodeDoubled) : strings.internBytes(bytes, start, end);
  }

  /** Reads the cell as microseconds into `parts`. */
  microseconds(slot: number): CellNumber {
    return this.starts[slot] < 0 ? MISSING : parseCell(this.buffer, this.starts[slot], this.ends[slot], this.parts);
  }

  /** The cell as a whole number; `missing` where it is none or too large for a double. */
  integer(slot: number, missing: number): number {
    if (this.microseconds(slot) !== OK || this.parts.nanos !== 0) {
      return missing;
    }
    return this.parts.negative ? -this.parts.whole : this.parts.whole;
  }

  /** The cell as a double; NaN where it is no number. */
  number(slot: number): number {
    switch (this.microseconds(slot)) {
      case CellNumber.Missing:
        return NaN;
      case CellNumber.Ok:
      case CellNumber.Damaged: {
        const text = this.text(slot).replace(/["\s]/g, '');
        return text === '' ? NaN : Number(text);
      }
    }
  }

  private scan(): void {
    if (this.discarding) {
      const end = this.lineEnd(0);
      if (end < 0) {
        this.consume(this.filled);
        return;
      }
      this.discarding = false;
      this.line++;
      this.consume(end + 1);
    }
    if (this.state === 'start') {
      if (this.filled < 3 && this.buffer[0] === 0xef) {
        return;
      }
      this.state = 'header';
      if (this.buffer[0] === 0xef && this.buffer[1] === 0xbb && this.buffer[2] === 0xbf) {
        this.consume(3);
      }
    }
    if (!this.lineEndsKnown) {
      this.lookAtFirstLineEnd();
    }
    let position = 0;
    while (position < this.filled && !this.stopped) {
      const next = this.state === 'header' ? this.scanHeader(position) : this.scanRecord(position);
      if (next >= 0) {
        position = next;
      } else if (next === MALFORMED) {
        position = this.afterDamagedLine(position, 'quotes');
      } else if (this.filled - position <= MAX_RECORD) {
        break;
      } else if (this.lineEnd(position) >= 0) {
        position = this.afterDamagedLine(position, 'too-long');
      } else {
        this.handlers.damaged(this.line, 'too-long');
        this.discarding = true;
        position = this.filled;
      }
    }
    this.consume(this.stopped ? this.filled : position);
  }

  /** The first line end of the file tells what ends its lines. A CR at the end of the data does not tell yet; the header then waits for its LF anyway. */
  private lookAtFirstLineEnd(): void {
    const carriageReturn = this.buffer.subarray(0, this.filled).indexOf(CR);
    const lineEnd = this.lineEnd(0);
    if (lineEnd >= 0 && (carriageReturn < 0 || lineEnd < carriageReturn)) {
      this.lineEndsKnown = true;
    } else if (carriageReturn >= 0 && carriageReturn + 1 < this.filled) {
      const next = this.buffer[carriageReturn + 1];
      this.lineEndsKnown = true;
      this.returnsEndLines = next !== LF && next !== CR;
      if (this.returnsEndLines) {
        this.replaceReturns(0);
      }
    }
  }

  private replaceReturns(from: number): void {
    for (let i = this.buffer.indexOf(CR, from); i >= 0 && i < this.filled; i = this.buffer.indexOf(CR, i + 1)) {
      this.buffer[i] = LF;
    }
  }

  /** Gives up the line at `position` and returns where the next one starts (the end of the buffer when there is none). */
  private afterDamagedLine(position: number, reason: 'quotes' | 'too-long' | 'cut'): number {
    const end = this.lineEnd(position);
    this.handlers.damaged(this.line, reason);
    this.line++;
    return end < 0 ? this.filled : end + 1;
  }

  /** Index of the first LF at or after `position`, -1 when the buffer has none. */
  private lineEnd(position: number): number {
    const end = this.buffer.indexOf(LF, position);
    return end < this.filled ? end : -1;
  }

  private consume(count: number): void {
    if (count === 0) {
      return;
    }
    this.buffer.copyWithin(0, count, this.filled + 1);
    this.filled -= count;
    this.base += count;
  }

  /** Whether a line end lies before the last byte, which `finish` may have added itself. */
  private hasLineEnd(): boolean {
    const end = this.lineEnd(0);
    return end >= 0 && end < this.filled - 1;
  }

  private scanHeader(position: number): number {
    const cells: string[] = [];
    this.newlines = 0;
    let i = position;
    for (;;) {
      const next = this.cell(i);
      if (next < 0) {
        return next;
      }
      cells.push(this.plain(this.cellStart, this.cellEnd, this.cellDoubled !== 0).trim());
      if (this.buffer[next] === LF) {
        i = next + 1;
        break;
      }
      i = next + 1;
    }
    this.line += this.newlines + 1;
    if (cells.length === 1 && cells[0] === '') {
      return i;
    }
    this.columns = cells.length;
    const wanted = this.handlers.header(cells);
    if (wanted === undefined) {
      this.state = 'stopped';
      return i;
    }
    this.state = 'rows';
    this.slotOf = new Int16Array(Math.max(0, ...wanted) + 1).fill(-1);
    wanted.forEach((column, slot) => {
      if (column >= 0) {
        this.slotOf[column] = slot;
      }
    });
    this.starts = new Int32Array(wanted.length).fill(-1);
    this.ends = new Int32Array(wanted.length).fill(-1);
    this.doubled = new Uint8Array(wanted.length);
    return i;
  }

  private cellStart = 0;
  private cellEnd = 0;

  /** Locates one cell at `i`; returns the index of the comma or LF behind it. */
  private cell(i: number): number {
    const bytes = this.buffer;
    const end = this.filled;
    if (i < end && bytes[i] === QUOTE) {
      return this.quotedCell(i);
    }
    this.cellDoubled = 0;
    this.cellStart = i;
    i = plainCellEnd(bytes, i);
    if (i >= end) {
      return INCOMPLETE;
    }
    const c = bytes[i];
    this.cellEnd = c === LF && i > this.cellStart && bytes[i - 1] === CR ? i - 1 : i;
    return i;
  }

  private quotedCell(i: number): number {
    const bytes = this.buffer;
    const end = this.filled;
    this.cellDoubled = 0;
    this.cellStart = ++i;
    let lines = 0;
    for (;;) {
      for (;;) {
        while (bytes[i] > QUOTE) {
          i++;
        }
        if (bytes[i] === QUOTE || i >= end) {
          break;
        }
        if (bytes[i] === LF) {
          lines++;
        }
        i++;
      }
      if (i + 1 >= end) {
        return INCOMPLETE;
      }
      if (bytes[i + 1] !== QUOTE) {
        break;
      }
      this.cellDoubled = 1;
      i += 2;
    }
    this.cellEnd = i++;
    // Only blanks may stand between the closing quote and the separator.
    while (i < end && (bytes[i] === SPACE || bytes[i] === TAB || bytes[i] === CR)) {
      i++;
    }
    if (i >= end) {
      return INCOMPLETE;
    }
    if (bytes[i] !== COMMA && bytes[i] !== LF) {
      if (lines > 0) {
        return MALFORMED;
      }
      // A stray quote inside one line: take the cell with all that follows it.
      i = plainCellEnd(bytes, i);
      if (i >= end) {
        return INCOMPLETE;
      }
      this.cellEnd = bytes[i] === LF && bytes[i - 1] === CR ? i - 1 : i;
    }
    this.newlines += lines;
    return i;
  }

  /** Locates the wanted cells of the record at `position`, hands it on, and returns where the next one starts. */
  private scanRecord(position: number): number {
    const bytes = this.buffer;
    const end = this.filled;
    const slotOf = this.slotOf;
    const wanted = slotOf.length;
    this.newlines = 0;
    let i = position;
    let column = 0;
    let c = 0;
    for (; column < wanted; column++) {
      const slot = slotOf[column];
      if (i < end && bytes[i] === QUOTE) {
        const next = this.quotedCell(i);
        if (next < 0) {
          return next;
        }
        if (slot >= 0) {
          this.starts[slot] = this.cellStart;
          this.ends[slot] = this.cellEnd;
          this.doubled[slot] = this.cellDoubled;
        }
        i = next;
        c = bytes[i];
      } else {
        const start = i;
        // `plainCellEnd`, by hand: this loop is where the time goes.
        for (;;) {
          while ((c = bytes[i]) > COMMA) {
            i++;
          }
          if (c === COMMA || c === LF) {
            break;
          }
          i++;
        }
        if (i >= end) {
          return INCOMPLETE;
        }
        if (slot >= 0) {
          this.starts[slot] = start;
          this.ends[slot] = c === LF && i > start && bytes[i - 1] === CR ? i - 1 : i;
          this.doubled[slot] = 0;
        }
      }
      i++;
      if (c === LF) {
        column++;
        break;
      }
    }
    if (c !== LF || column === 0) {
      i = this.skipToLineEnd(i);
      if (i < 0) {
        return i;
      }
    }
    for (; column < wanted; column++) {
      if (slotOf[column] >= 0) {
        this.starts[slotOf[column]] = -1;
      }
    }
    this.recordEnd = i - 1;
    this.deliver(position);
    this.line += this.newlines + 1;
    return i;
  }

  private deliver(position: number): void {
    const bytes = this.buffer;
    let end = this.recordEnd;
    if (end > position && bytes[end - 1] === CR) {
      end--;
    }
    if (end === position) {
      return; // blank line
    }
    this.offset = this.base + position;
    this.length = end - position;
    this.handlers.row(this);
  }

  /** From the start of a cell nobody wants to the start of the next record. */
  private skipToLineEnd(i: number): number {
    const bytes = this.buffer;
    const words = this.words;
    const end = this.filled;
    for (;;) {
      // Four bytes at a time until one of them may be a quote or less (the usual "has a byte below n" test).
      while ((i & 3) !== 0 && bytes[i] > QUOTE) {
        i++;
      }
      if ((i & 3) === 0) {
        let word = i >> 2;
        let w = words[word];
        while (((w - 0x23232323) & ~w & 0x80808080) === 0) {
          w = words[++word];
        }
        i = word << 2;
        while (bytes[i] > QUOTE) {
          i++;
        }
      }
      if (bytes[i] === LF) {
        return i < end ? i + 1 : INCOMPLETE;
      }
      if (bytes[i] === QUOTE && bytes[i - 1] === COMMA) {
        i = this.quotedCell(i);
        if (i < 0) {
          return i;
        }
      } else {
        i++;
      }
    }
  }

  /** Cells of the unfinished record `[start, end)`; INCOMPLETE when a quote is open. */
  private countCells(start: number, end: number): number {
    let cells = 1;
    let open = false;
    for (let i = start; i < end; i++) {
      const c = this.buffer[i];
      if (c === QUOTE && (open || i === start || this.buffer[i - 1] === COMMA)) {
        open = !open;
      } else if (c === QUOTE && !open && this.buffer[i - 1] === QUOTE) {
        open = true;
      } else if (c === COMMA && !open) {
        cells++;
      }
    }
    return open ? INCOMPLETE : cells;
  }

  private hasQuote(start: number, end: number): boolean {
    for (let i = start; i < end; i++) {
      if (this.buffer[i] === QUOTE) {
        return true;
      }
    }
    return false;
  }

  private decode(slot: number, start: number, end: number): string {
    return this.plain(start, end, this.doubled[slot] !== 0);
  }

  private plain(start: number, end: number, doubled: boolean): string {
    const text = this.decoder.decode(this.buffer.subarray(start, end));
    return doubled ? text.replaceAll('""', '"') : text;
  }

  private readonly decodeDoubled = (bytes: Uint8Array, start: number, end: number): string =>
    this.decoder.decode(bytes.subarray(start, end)).replaceAll('""', '"');
}

/** First letters of `N/A`, `None`, `nan`, `null`, `-` and padding: a cheap test before the exact one. */
const mayBeMissing = (first: number): boolean => first === 78 || first === 110 || first <= 45;

/** Index of the comma or LF that ends the unquoted cell at `i`; the buffer always ends in an LF of ours. */
function plainCellEnd(bytes: Uint8Array, i: number): number {
  for (;;) {
    // Commas, quotes and line ends are all small codes, so one comparison passes over most bytes.
    while (bytes[i] > COMMA) {
      i++;
    }
    if (bytes[i] === COMMA || bytes[i] === LF) {
      return i;
    }
    i++;
  }
}
