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
  return {
    *rows(sql: string, parameters: readonly SqlValue[]) {
      const statement = database.prepare(sql);
      try {
        // A row comes as an object; the values keep the order of the columns, whose names the caller keeps distinct.
        for (const row of statement.iterate([...parameters])) {
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
