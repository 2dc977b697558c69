import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import Papa from 'papaparse';
import { CellNumber, MicrosecondParts, parseMicroseconds } from '../../../src/engine/readers/csvNumbers';
import { CsvScanner } from '../../../src/engine/readers/csvScanner';
import { StringTable } from '../../../src/engine/profile/strings';
import { hasSharedData, SHARED_DATA } from '../../sharedData';

interface Scanned {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly lines: readonly number[];
  readonly spans: readonly (readonly [number, number])[];
  readonly damaged: readonly string[];
}

/** All wanted columns (default: every one) of every record as text, read in chunks of `chunkSize`. */
function scan(bytes: Uint8Array, chunkSize: number, wantedColumns?: (count: number) => readonly number[]): Scanned {
  let header: readonly string[] = [];
  let wanted: readonly number[] = [];
  const rows: string[][] = [];
  const lines: number[] = [];
  const spans: [number, number][] = [];
  const damaged: string[] = [];
  const scanner = new CsvScanner({
    header: (cells) => {
      header = cells;
      wanted = wantedColumns?.(cells.length) ?? cells.map((_, i) => i);
      return wanted;
    },
    row: (row) => {
      rows.push(wanted.map((_, slot) => row.text(slot)));
      lines.push(row.line);
      spans.push([row.offset, row.length]);
    },
    damaged: (line, reason) => damaged.push(`${line} ${reason}`),
  });
  for (let i = 0; i < bytes.length; i += chunkSize) {
    scanner.push(bytes.subarray(i, i + chunkSize));
  }
  scanner.finish();
  return { header, rows, lines, spans, damaged };
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Papaparse over text whose line ends outside quotes were made LF (it settles for one kind of line end per file). */
function oracle(text: string): readonly (readonly string[])[] {
  let inQuotes = false;
  let plain = '';
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    inQuotes = c === '"' ? !inQuotes : inQuotes;
    plain += !inQuotes && c === '\r' && text[i + 1] === '\n' ? '' : c;
  }
  return Papa.parse<string[]>(plain, { delimiter: ',', newline: '\n', skipEmptyLines: true }).data;
}

function csvFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    return entry.isDirectory() ? csvFiles(full) : entry.name.endsWith('.csv') ? [full] : [];
  });
}

describe('CsvScanner', () => {
  it('reads every shared CSV as papaparse does', function () {
    if (!hasSharedData()) {
      this.skip();
    }
    this.timeout(60_000);
    const files = csvFiles(SHARED_DATA).filter((file) => !file.includes('cut-and-double-header') && readFileSync(file).length > 0);
    assert.ok(files.length > 60);
    for (const file of files) {
      const bytes = readFileSync(file);
      const [header, ...rows] = oracle(bytes.toString('utf8').replace(/^\ufeff/, ''));
      const found = scan(bytes, 64 * 1024);
      assert.deepEqual(found.header, header, file);
      assert.deepEqual(found.damaged, [], file);
      assert.equal(found.rows.length, rows.length, file);
      for (let i = 0; i < rows.length; i++) {
        assert.deepEqual(found.rows[i], rows[i].concat(Array<string>(Math.max(0, header.length - rows[i].length)).fill('')), `${file} row ${i}`);
      }
    }
  });

  it('gives the same for any chunk size down to one byte', function () {
    if (!hasSharedData()) {
      this.skip();
    }
    const file = csvFiles(SHARED_DATA).find((name) => name.endsWith('a01-ascend-csv-tabs-na-bom-crlf/hosty_5001_20250904121314151_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv'));
    assert.ok(file !== undefined);
    const bytes = readFileSync(file);
    const whole = scan(bytes, bytes.length);
    for (const size of [1, 2, 3, 5, 7, 64, 1000]) {
      assert.deepEqual(scan(bytes, size), whole, `chunk ${size}`);
    }
  });

  it('agrees with papaparse on random tables, any wanted columns, any chunk size', () => {
    const seed = Date.now() % 2 ** 31;
    const cell = fc.oneof(
      fc.stringMatching(/^[a-z0-9.\t /;é值-]{0,8}$/u),
      fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r\n', 'x', '\t', ';', '字'), maxLength: 6 }),
    );
    const table = fc.integer({ min: 1, max: 7 }).chain((columns) => fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 2, maxLength: 12 }));
    fc.assert(
      fc.property(table, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), fc.integer({ min: 1, max: 40 }), fc.boolean(), fc.boolean(), fc.nat(100), (rows, crlf, chunk, mark, lastEnd, pick) => {
        const quote = (text: string, i: number): string => (/[",\r\n]/.test(text) || text.trim() !== text || i % 3 === 0 ? `"${text.replaceAll('"', '""')}"` : text);
        const first = rows[0].map((_, i) => `c${i}`);
        const text = [first, ...rows.slice(1)]
          .map((row, i, all) => row.map(quote).join(',') + (i === all.length - 1 && !lastEnd ? '' : crlf[i % crlf.length] ? '\r\n' : '\n')).join('');
        const expected = oracle(text).slice(1).map((row) => row.concat(Array<string>(first.length - row.length).fill('')));
        const keep = first.map((_, i) => i).filter((i) => (pick >> i) % 2 === 0);
        const found = scan(encode((mark ? '\ufeff' : '') + text), chunk, () => keep);
        assert.deepEqual(found.header, first);
        assert.deepEqual(found.damaged, []);
        // Papaparse skips a row that is one empty cell; we skip blank lines only.
        const ours = found.rows.filter((_, i) => found.spans[i][1] > 0 && !(first.length === 1 && /^\s*(""|)\s*$/.test(text.slice(...span(text, found.spans[i], mark)))));
        assert.deepEqual(ours, expected.map((row) => keep.map((i) => row[i])));
      }),
      { seed, numRuns: 2000 },
    );
  });

  it('never throws, never hangs and loses only damaged lines on random bytes', () => {
    const seed = Date.now() % 2 ** 31;
    const noise = fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', '1', '\ufeff', '""', '\n"'), maxLength: 200 });
    fc.assert(
      fc.property(noise, fc.integer({ min: 1, max: 9 }), (text, chunk) => {
        const bytes = encode(text);
        assert.deepEqual(scan(bytes, chunk), scan(bytes, bytes.length + 1));
      }),
      { seed, numRuns: 3000 },
    );
  });

  it('gives up one line where a file was glued into an open quote', () => {
    const found = scan(encode('a,b\n1,"x"\n2,"cu\na,b\n3,"y"\n4,"z"\n'), 4);
    assert.deepEqual(found.rows, [['1', 'x'], ['a', 'b'], ['3', 'y'], ['4', 'z']]);
    assert.deepEqual(found.damaged, ['3 quotes']);
    assert.deepEqual(found.lines, [2, 4, 5, 6]);
  });

  it('drops a cut last line and names it, and reads a whole last line without a line end', () => {
    assert.deepEqual(scan(encode('a,b\n1,2\n3'), 3), { header: ['a', 'b'], rows: [['1', '2']], lines: [2], spans: [[4, 3]], damaged: ['3 cut'] });
    assert.deepEqual(scan(encode('a,b\n1,2\n3,4'), 3).rows, [['1', '2'], ['3', '4']]);
    assert.deepEqual(scan(encode('a,b\n1,2\n3,"4'), 3).damaged, ['3 cut']);
  });

  it('reads lines that end in a carriage return alone, in chunks of any size', () => {
    const text = 'a,b\n1,"x\ny"\n\n2,z\n';
    for (const size of [1, 2, 3, 4, 5, 100]) {
      const found = scan(encode(text.replaceAll('\n', '\r')), size);
      assert.deepEqual(found, scan(encode(text), size), `chunk ${size}`);
      assert.deepEqual(found.rows.map(([first]) => first), ['1', '2']);
      // A stray one behind the header is data, and so is one before a line feed.
      assert.deepEqual(scan(encode('a,b\n1,x\ry\n2,z\n'), size).rows, [['1', 'x\ry'], ['2', 'z']]);
      assert.deepEqual(scan(encode('a,b\r\r\n1,2\r\r\n'), size).rows.length, 1);
    }
    assert.deepEqual(scan(encode('a,b\r1,2'), 3).rows, [['1', '2']]);
    assert.deepEqual(scan(encode('a,b\r1,2\r3'), 3).damaged, ['3 cut']);
  });

  it('survives a record without any end', () => {
    const endless = new Uint8Array(5 * 1024 * 1024).fill(120);
    endless.set(encode('a,b\n1,2\n'));
    endless.set(encode('\n3,4\n'), endless.length - 5);
    const found = scan(endless, 256 * 1024);
    assert.deepEqual(found.rows, [['1', '2'], ['3', '4']]);
    assert.deepEqual(found.damaged, ['3 too-long']);
    assert.deepEqual(found.lines, [2, 4]);
  });

  it('strips the inner quotes of shapes and knows N/A', () => {
    const strings = new StringTable();
    const seen: number[][] = [];
    const scanner = new CsvScanner({ header: () => [0, 1, 2], row: (row) => seen.push([0, 1, 2].map((slot) => row.intern(slot, strings))), damaged: () => assert.fail() });
    scanner.push(encode('a,b,c\n"""4,16;16,16""","say ""hi"" x",N/A\n""";;""",plain\t,""\n"""""",None,"1,2"\n'));
    scanner.finish();
    assert.deepEqual(seen.map((row) => row.map((id) => strings.get(id))), [['4,16;16,16', 'say "hi" x', ''], [';;', 'plain', ''], ['', '', '1,2']]);
  });
});

function span(text: string, [offset, length]: readonly [number, number], mark: boolean): [number, number] {
  const bytes = encode(text);
  const at = offset - (mark ? 3 : 0);
  const decode = (end: number): number => new TextDecoder().decode(bytes.subarray(0, end)).length;
  return [decode(at), decode(at + length)];
}

describe('parseMicroseconds', () => {
  const parse = (text: string): string => {
    const parts = new MicrosecondParts();
    const bytes = encode(text);
    const outcome = parseMicroseconds(bytes, 0, bytes.length, parts);
    return outcome === CellNumber.Ok ? `${parts.negative ? '-' : ''}${BigInt(parts.whole) * 1000n + BigInt(parts.nanos)}` : outcome === CellNumber.Missing ? 'missing' : 'damaged';
  };

  it('keeps every digit of an epoch time', () => {
    assert.equal(parse('1736405443881410.320\t'), '1736405443881410320');
    assert.equal(parse('"1736413971558972.912\t"'), '1736413971558972912');
    assert.equal(parse('1695115378710248'), '1695115378710248000');
    assert.equal(parse('1699529622790614.8'), '1699529622790614800');
    assert.equal(parse('1736405443881410.9996'), '1736405443881411000');
    assert.equal(parse('-2.5'), '-2500');
    assert.equal(parse('.5'), '500');
  });

  it('tells no value from a damaged one', () => {
    for (const text of ['', '\t', 'N/A', 'None', 'nan', '-', '""']) {
      assert.equal(parse(text), 'missing', text);
    }
    for (const text of ['1.69512E+15', 'Start Time(us)', '12:30', '99999999999999999999', '1,5', '.']) {
      assert.equal(parse(text), 'damaged', text);
    }
  });

  it('equals BigInt arithmetic on random digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 9_007_199_254_740_991n }), fc.stringMatching(/^[0-9]{0,9}$/), (whole, fraction) => {
        const padded = `${fraction}0000`.slice(0, Math.max(4, fraction.length));
        const expected = whole * 1000n + BigInt(padded.slice(0, 3)) + (padded[3] >= '5' ? 1n : 0n);
        assert.equal(parse(`${whole}${fraction === '' ? '' : `.${fraction}`}`), String(expected));
      }),
      { seed: Date.now() % 2 ** 31, numRuns: 3000 },
    );
  });
});
