import { UNKNOWN } from './numbers';
import type { Section } from './sections';

/** Sections without what the recording does not tell, and the names of what was left out. */
export interface KnownParts {
  readonly sections: readonly Section[];
  readonly leftOut: readonly string[];
}

const isKnown = (text: string | undefined): boolean => text !== undefined && text !== UNKNOWN && text !== '';

/** A table full of dashes says one thing: that it was not recorded. It is said once, for all tables together. */
export function knownParts(sections: readonly Section[]): KnownParts {
  const leftOut: string[] = [];
  const rowsKnown = sections.flatMap((section) => {
    const rows = section.rows.filter(({ cells }) => cells.some((cell, i) => i > 0 && isKnown(cell)));
    // A table without rows is empty for another reason, which its notes tell.
    if (rows.length === 0 && section.rows.length > 0) {
      leftOut.push(bare(section.title));
      return [];
    }
    leftOut.push(...section.rows.filter((row) => !rows.includes(row)).map(({ cells }) => bare(cells[0] ?? '')));
    return [{ ...section, rows }];
  });
  const known = knownColumns(rowsKnown);
  return { sections: known.sections, leftOut: [...new Set([...leftOut, ...known.leftOut])] };
}

/** The same where every row is to stay: a rank without figures is a rank. */
export function knownColumns(sections: readonly Section[]): KnownParts {
  const leftOut = new Set<string>();
  const kept = sections.map((section) => {
    const { columns, rows } = section;
    const told = columns.map(({ title }, i) => i === 0 || rows.length === 0 || title === '' || rows.some(({ cells }) => isKnown(cells[i])));
    columns.filter((_column, i) => !told[i]).forEach(({ title }) => leftOut.add(bare(title)));
    return { ...section, columns: columns.filter((_column, i) => told[i]), rows: rows.map((row) => ({ ...row, cells: row.cells.filter((_cell, i) => told[i]) })) };
  });
  return { sections: kept, leftOut: [...leftOut] };
}

/** `· Copy busy` → `Copy busy`, `Where the time goes (span –)` → `Where the time goes`. */
const bare = (name: string): string => name.replace(/^· /, '').replace(/\s*[（(][^（(]*[)）]$/, '');
