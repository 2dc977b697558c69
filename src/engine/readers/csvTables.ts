/** Small CSV files of an export as tables of text cells, read by papaparse. */
import Papa from 'papaparse';
import type { SideTable } from '../profile/columns';
import type { ReaderContext } from './reader';

/** A table larger than this is read up to its last whole row before the limit, and a problem says so. */
const LIMIT = 32 * 1024 * 1024;

/**
 * The table in `path`; undefined, with a problem, when the file is empty. Cells are trimmed (times end in a tab); rows
 * shorter than the header are filled with blanks, a repeated header is left out.
 */
export async function readSideTable(context: ReaderContext, path: string, limit = LIMIT): Promise<SideTable | undefined> {
  const { port, problems } = context;
  const file = port.basename(path);
  const size = (await port.stat(path))?.size ?? 0;
  if (size === 0) {
    problems.add('ascend-table-empty', file, { severity: 'info', args: { file } });
    return undefined;
  }
  const bytes = await port.read(path, 0, Math.min(size, limit));
  const text = evenLineEnds(new TextDecoder('utf-8').decode(bytes));
  if (text.slice(0, 64).includes('\0')) {
    problems.add('ascend-csv-utf16', file, { args: { file } });
    return undefined;
  }
  const { data } = Papa.parse<string[]>(text, { delimiter: ',', newline: '\n', skipEmptyLines: 'greedy' });
  const rows = data.map((row) => row.map((cell) => cell.trim()));
  const columns = rows.shift() ?? [];
  if (size > bytes.length) {
    rows.pop();
    problems.add('ascend-table-large', file, { severity: 'info', args: { file, rows: rows.length } });
  } else if (rows.length > 0 && rows[rows.length - 1].length < columns.length && !text.endsWith('\n')) {
    rows.pop();
    problems.add('ascend-csv-cut', file, { args: { file, line: text.split('\n').length } });
  }
  const head = columns.join('\0');
  return { file, columns, rows: rows.filter((row) => row.join('\0') !== head).map((row) => columns.map((_, i) => row[i] ?? '')) };
}

/** Papaparse settles for one kind of line end; files mix them. Inside quotes they are data. */
function evenLineEnds(text: string): string {
  const even = text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text;
  // Lines that end in CR alone are those of old Macs.
  return even.includes('\n') ? even : even.replaceAll('\r', '\n');
}
