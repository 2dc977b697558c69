/** One row of a kernel table with all its cells (metrics included), read again when somebody asks. */
import { CsvScanner } from './csvScanner';

/** Column → cell of the row in `bytes`; blank and `N/A` cells are left out. */
export function csvDetail(header: readonly string[], bytes: Uint8Array): Record<string, string> {
  const cells: Record<string, string> = {};
  let isRow = false;
  const scanner = new CsvScanner({
    header: () => header.map((_, i) => i),
    row: (row) => {
      if (isRow) {
        return;
      }
      isRow = true;
      header.forEach((name, i) => {
        const text = row.text(i).replace(/^["\s]+|["\s]+$/g, '');
        if (text !== '' && text !== 'N/A') {
          cells[name] = text;
        }
      });
    },
    damaged: () => undefined,
  });
  scanner.push(new TextEncoder().encode(`${header.map((_, i) => `c${i}`).join(',')}\n`));
  scanner.push(bytes);
  scanner.push(new Uint8Array([10]));
  scanner.finish();
  return cells;
}
