import type { SqlDatabase, SqlValue } from '../engine/port';
import { UnreadableInput } from '../engine/profile/problems';
import { EngineError } from './engineError';
import { openBuiltin } from './sqliteBuiltin';
import { stageDatabase } from './sqliteStage';
import { openWasm } from './sqliteWasm';

/** One way to run SQL on a file. Integers arrive exact: a number, or a bigint where a double would round. */
export interface SqlDriver {
  rows(sql: string, parameters: readonly SqlValue[]): Iterable<readonly SqlValue[]>;
  close(): void;
}

/**
 * Opens a SQLite file for reading, with Node's own SQLite where there is one and else with a WebAssembly build. Nothing is
 * ever written beside the user's file, and a read-only folder is no obstacle (see `stageDatabase`).
 *
 * Rejects with `UnreadableInput`: `error.sqlite-not-a-database`, `error.sqlite-damaged`, `error.sqlite-no-space`, `error.sqlite-not-copied`.
 */
export async function openSqlite(path: string): Promise<SqlDatabase> {
  const staged = await stageDatabase(path);
  let driver: SqlDriver | undefined;
  try {
    driver = (await openBuiltin(staged.path, staged.writable)) ?? (await openWasm(staged.path, staged.writable));
    // A damaged file opens happily and fails at the first query; a WAL in our own copy is folded in here.
    for (const row of driver.rows('SELECT count(*) FROM sqlite_master', [])) {
      void row;
    }
  } catch (error) {
    closeQuietly(driver);
    staged.remove();
    throw error instanceof EngineError || error instanceof UnreadableInput ? error : new UnreadableInput({ code: 'error.sqlite-damaged', args: { file: path, reason: reasonOf(error) } });
  }
  return database(driver, staged.remove, staged.notes);
}

function database(driver: SqlDriver, remove: () => void, notes: SqlDatabase['notes']): SqlDatabase {
  let open = true;
  const columnsOf = new Map<string, readonly string[]>();
  return {
    ...(notes === undefined ? {} : { notes }),
    rows: (sql, parameters = []) => driver.rows(sql, parameters),
    columns: (table) => {
      let names = columnsOf.get(table);
      if (names === undefined) {
        names = [...driver.rows('SELECT name FROM pragma_table_info(?)', [table])].map(([name]) => String(name));
        columnsOf.set(table, names);
      }
      return names;
    },
    close: () => {
      if (open) {
        open = false;
        closeQuietly(driver);
        remove();
      }
    },
  };
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A damaged database may complain even now; what was read stays read. */
function closeQuietly(driver: SqlDriver | undefined): void {
  try {
    driver?.close();
  } catch {
    // Nothing was written, so there is nothing to lose.
  }
}
