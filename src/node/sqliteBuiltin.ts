import type { SqlValue } from '../engine/port';
import type { SqlDriver } from './sqlite';

/** The part of `node:sqlite` in use; its types come with newer Node typings than the oldest Node we run on. */
interface Builtin {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => {
    prepare(sql: string): {
      setReadBigInts(on: boolean): void;
      /** Since Node 22.16. */
      setReturnArrays?(on: boolean): void;
      iterate(...parameters: SqlValue[]): Iterable<Readonly<Record<string, SqlValue>> | readonly SqlValue[]>;
    };
    exec(sql: string): void;
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
  database.exec('PRAGMA cache_size = -65536');
  return {
    *rows(sql: string, parameters: readonly SqlValue[]) {
      const statement = database.prepare(sql);
      // Without this a 64-bit integer that a double cannot hold is an error.
      statement.setReadBigInts(true);
      statement.setReturnArrays?.(true);
      for (const row of statement.iterate(...parameters)) {
        const values = Array.isArray(row) ? (row as SqlValue[]) : Object.values(row as Readonly<Record<string, SqlValue>>);
        for (let i = 0; i < values.length; i++) {
          values[i] = narrow(values[i]);
        }
        yield values;
      }
    },
    close: () => database.close(),
  };
}

let loading: Promise<Builtin | undefined> | undefined;

function loadBuiltin(): Promise<Builtin | undefined> {
  return (loading ??= quietly(async () => {
    try {
      // Named by a variable, so that bundlers and type checks leave it to run time.
      const name = 'node:sqlite';
      return (await import(name)) as Builtin;
    } catch {
      return undefined;
    }
  }));
}

/** Loading it warns that it is experimental, on the stderr of whoever called; only that warning is held back. */
async function quietly<T>(run: () => Promise<T>): Promise<T> {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!String(warning).includes('SQLite')) {
      emitWarning.call(process, warning, ...rest);
    }
  });
  try {
    return await run();
  } finally {
    process.emitWarning = emitWarning;
  }
}

function narrow(value: SqlValue): SqlValue {
  return typeof value === 'bigint' && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}
