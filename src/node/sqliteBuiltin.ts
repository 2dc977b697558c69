import type { SqlValue } from '../engine/port';
import type { SqlDriver } from './sqlite';

/** The part of `node:sqlite` in use; its types come with newer Node typings than the oldest Node we run on. */
interface Builtin {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => {
    prepare(sql: string): { setReadBigInts(on: boolean): void; iterate(...parameters: SqlValue[]): Iterable<Readonly<Record<string, SqlValue>>> };
    close(): void;
  };
}

/** Node's own SQLite; undefined where this Node has none (before 22.13, or a host built without it). */
export async function openBuiltin(path: string, writable: boolean): Promise<SqlDriver | undefined> {
  const builtin = await loadBuiltin();
  if (builtin === undefined) {
    return undefined;
  }
  const database = new builtin.DatabaseSync(path, { readOnly: !writable });
  return {
    *rows(sql: string, parameters: readonly SqlValue[]) {
      const statement = database.prepare(sql);
      // Without this a 64-bit integer that a double cannot hold is an error.
      statement.setReadBigInts(true);
      for (const row of statement.iterate(...parameters)) {
        yield Object.values(row).map(narrow);
      }
    },
    close: () => database.close(),
  };
}

async function loadBuiltin(): Promise<Builtin | undefined> {
  try {
    // Named by a variable, so that bundlers and type checks leave it to run time.
    const name = 'node:sqlite';
    return (await import(name)) as Builtin;
  } catch {
    return undefined;
  }
}

function narrow(value: SqlValue): SqlValue {
  return typeof value === 'bigint' && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}
