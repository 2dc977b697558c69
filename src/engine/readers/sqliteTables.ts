import type { SqlDatabase, SqlValue } from '../port';
import { UnreadableInput, type ProblemList } from '../profile/problems';
import type { StringTable } from '../profile/strings';
import { checkCancelled, type ReaderContext } from './reader';

/** Rows between two looks at the clock: a query is synchronous, so this is where a cancel gets through. */
const ROWS_PER_CHECK = 4096;

/**
 * Tables of one database by the columns we know, whatever else they hold: exporters rename, add and drop columns, and a
 * viewer that once opened the file may have added its own. A table that is damaged half-way gives the rows before the damage.
 */
export class SqliteTables {
  private expectedRows = 0;
  private fileBytes = 0;
  private readRows = 0;

  constructor(
    readonly database: SqlDatabase,
    private readonly context: Pick<ReaderContext, 'signal' | 'progress'>,
    private readonly problems: ProblemList,
    private readonly file: string,
  ) {}

  /** From here on progress is told: as much of the file's bytes as of the rows of these tables has been read. */
  expect(tables: readonly string[], fileBytes: number): void {
    this.expectedRows = tables.reduce((sum, table) => sum + this.count(table), 0);
    this.fileBytes = fileBytes;
    this.tellProgress();
  }

  has(table: string, ...columns: readonly string[]): boolean {
    const present = this.database.columns(table);
    return present.length > 0 && columns.every((column) => present.includes(column));
  }

  /**
   * `SELECT` list for the wanted columns, in order, under their own names `c0`, `c1` …: a list of alternatives takes the first that
   * exists, a column that does not exist reads as NULL. `expression` wraps a column, e.g. `CAST($ AS INTEGER)`.
   */
  select(table: string, columns: readonly (string | readonly string[] | { readonly column: string; readonly as: string })[], alias = table): string {
    const present = new Set(this.database.columns(table));
    return columns
      .map((wanted, i) => {
        const names = typeof wanted === 'string' ? [wanted] : 'column' in wanted ? [wanted.column] : wanted;
        const found = names.find((name) => present.has(name));
        const value = found === undefined ? 'NULL' : `${alias}."${found}"`;
        return `${typeof wanted === 'object' && 'as' in wanted ? wanted.as.replaceAll('$', value) : value} AS "${alias}${i}"`;
      })
      .join(', ');
  }

  /** Rows of a table, 0 when it does not exist; for sizing columns. */
  count(table: string): number {
    return this.has(table) ? numberOf(this.value(table, `SELECT count(*) AS rows FROM "${table}"`)) || 0 : 0;
  }

  /** Rows of a query over tables that exist; a damaged table ends early and is reported. */
  *rows(table: string, sql: string, parameters: readonly SqlValue[] = []): Generator<readonly SqlValue[], void, undefined> {
    let count = 0;
    const rows = this.guard(table, () => this.database.rows(sql, parameters)[Symbol.iterator]());
    if (rows === undefined) {
      return;
    }
    try {
      for (;;) {
        const next = this.guard(table, () => rows.next());
        if (next === undefined || next.done === true) {
          return;
        }
        if (++count % ROWS_PER_CHECK === 0) {
          checkCancelled(this.context);
          this.readRows += ROWS_PER_CHECK;
          this.tellProgress();
        }
        yield next.value;
      }
    } finally {
      rows.return?.();
    }
  }

  private tellProgress(): void {
    if (this.fileBytes > 0) {
      const part = this.expectedRows === 0 ? 0 : Math.min(1, this.readRows / this.expectedRows);
      this.context.progress?.({ bytes: Math.floor(part * this.fileBytes), totalBytes: this.fileBytes, file: this.file });
    }
  }

  /** First column of the first row. */
  value(table: string, sql: string, parameters: readonly SqlValue[] = []): SqlValue | undefined {
    for (const row of this.rows(table, sql, parameters)) {
      return row[0];
    }
    return undefined;
  }

  private guard<T>(table: string, run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      this.problems.add('database-table-damaged', this.file, { severity: 'error', args: { table, reason: error instanceof Error ? error.message : String(error) }, mergeKey: table });
      return undefined;
    }
  }
}

/** Opens a database and reports what was odd about it. */
export async function openDatabase({ port, problems }: ReaderContext, path: string): Promise<SqlDatabase> {
  if (port.openSqlite === undefined) {
    throw new UnreadableInput({ code: 'error.sqlite-unsupported', args: { file: path } });
  }
  const database = await port.openSqlite(path);
  for (const note of database.notes ?? []) {
    problems.add(note.code, port.basename(path), { severity: 'info', ...(note.args === undefined ? {} : { args: note.args }) });
  }
  return database;
}

/** A number cell, NaN when it is NULL, no number, or too large for a double to hold exactly. */
export function numberOf(value: SqlValue | undefined): number {
  return typeof value === 'number' ? value : NaN;
}

/**
 * Integers below 2^53 read as doubles in `SELECT`: the drivers make a bigint of every integer first, which costs more than
 * all the rest of a row.
 */
const AS_DOUBLE = 'CAST($ AS REAL)';
export const asDouble = (column: string): { readonly column: string; readonly as: string } => ({ column, as: AS_DOUBLE });

/** An id cell, -1 when it is NULL or one of the formats' "invalid" marks. */
export function idOf(value: SqlValue | undefined): number {
  return typeof value === 'number' && value >= 0 && value !== 4294967295 ? value : -1;
}

export function textOf(value: SqlValue | undefined): string {
  return value === null || value === undefined || value instanceof Uint8Array ? '' : String(value);
}

export function bigintOf(value: SqlValue | undefined): bigint | undefined {
  return typeof value === 'bigint' ? value : typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined;
}

/**
 * The database's own string table. `intern` gives the id in our table of the string behind the database's id; `N/A`, empty
 * and unknown ids are 0, and shape lists lose their quotes.
 */
export class DatabaseStrings {
  private readonly values = new Map<number, string>();
  private readonly interned = new Map<number, number>();

  constructor(tables: SqliteTables, table: string, private readonly strings: StringTable, column = 'value') {
    if (tables.has(table, 'id', column)) {
      for (const [id, value] of tables.rows(table, `SELECT id, "${column}" FROM "${table}"`)) {
        this.values.set(numberOf(id), textOf(value));
      }
    }
  }

  text(id: SqlValue | undefined): string {
    return this.values.get(numberOf(id)) ?? '';
  }

  intern(id: SqlValue | undefined): number {
    const key = numberOf(id);
    let known = this.interned.get(key);
    if (known === undefined) {
      const text = this.text(id);
      known = text === 'N/A' ? 0 : this.strings.intern(text.startsWith('"') ? text.replaceAll('"', '') : text);
      this.interned.set(key, known);
    }
    return known;
  }
}

/**
 * Call chains by id as the text exports write them: frames joined by `;`, innermost first, as ids of `strings`. `frame` is
 * the column with the id of the frame's text.
 */
export function callChains(tables: SqliteTables, table: string, frame: string, names: DatabaseStrings, strings: StringTable): ReadonlyMap<number, number> {
  const stacks = new Map<number, number>();
  if (!tables.has(table, 'id', frame, 'stackDepth')) {
    return stacks;
  }
  let current = -1;
  let frames: string[] = [];
  const keep = (): void => {
    if (current >= 0) {
      stacks.set(current, strings.intern(frames.join(';')));
    }
  };
  for (const [id, text] of tables.rows(table, `SELECT id, "${frame}" FROM "${table}" ORDER BY id, stackDepth`)) {
    const chain = idOf(id);
    if (chain !== current) {
      keep();
      current = chain;
      frames = [];
    }
    frames.push(names.text(text));
  }
  keep();
  return stacks;
}
