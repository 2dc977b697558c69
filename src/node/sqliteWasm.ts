import type { SqlValue } from '../engine/port';
import type { SqlDriver } from './sqlite';

/** SQLite compiled to WebAssembly: works in every Node. Loaded on first use; its `.wasm` lies beside the bundle. */
export async function openWasm(path: string, writable: boolean): Promise<SqlDriver> {
  const module = await import('node-sqlite3-wasm');
  // A CommonJS module behind import(): its exports sit on the default in some loaders.
  const { Database } = 'Database' in module ? module : (module as unknown as { readonly default: typeof module }).default;
  const database = new Database(path, { fileMustExist: true, readOnly: !writable });
  if (writable) {
    // This build has no shared memory, and a write-ahead log can do without it only when nobody else has the file.
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
  }
  // Joins look up one row at a time; the default of 2 MB would read most pages again and again.
  database.exec('PRAGMA cache_size = -65536');
  // One lock for all queries; each would otherwise make and remove a folder of its own.
  database.exec('BEGIN');
  return {
    *rows(sql: string, parameters: readonly SqlValue[]) {
      const statement = database.prepare(sql);
      try {
        let checked = false;
        for (const row of statement.iterate([...parameters])) {
          if (!checked) {
            checked = true;
            checkNames(Object.keys(row));
          }
          yield Object.values(row) as SqlValue[];
        }
      } finally {
        if (!statement.isFinalized) {
          statement.finalize();
        }
      }
    },
    close: () => database.close(),
  };
}

/** A row comes as an object, whose values keep the order of the columns unless one is called like a number. */
function checkNames(names: readonly string[]): void {
  if (names.some((name) => /^\d+$/.test(name))) {
    throw new TypeError(`give the column ${names[0]} a name: SELECT … AS name`);
  }
}
