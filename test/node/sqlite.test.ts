import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, openSync, closeSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Database } from 'node-sqlite3-wasm';
import { UnreadableInput } from '../../src/engine/profile/problems';
import { openSqlite } from '../../src/node/sqlite';

/** What our own temporary folder holds beside what was there before. */
const stages = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('fuselens-db-'));

describe('openSqlite', () => {
  let folder: string;
  let made = 0;
  /** A database in a folder of its own. */
  const make = (): string => {
    const sub = path.join(folder, `profile ${made++}`);
    mkdirSync(sub);
    const file = path.join(sub, '性能 #1 100%.db');
    const database = new Database(file);
    database.exec('CREATE TABLE t (id INTEGER, name TEXT, big INTEGER, real REAL, blob BLOB)');
    database.run('INSERT INTO t VALUES (?, ?, ?, ?, ?)', [1, 'one', 9_223_372_036_854_775_807n, 0.5, new Uint8Array([1, 2, 3])]);
    database.run('INSERT INTO t VALUES (?, ?, ?, ?, ?)', [2, null, 1_736_414_119_620_696_762n, null, null]);
    database.run('INSERT INTO t VALUES (?, ?, ?, ?, ?)', [3, '三', -5, 2, null]);
    database.close();
    return file;
  };
  const setHeader = (file: string, version: number): void => {
    const handle = openSync(file, 'r+');
    writeSync(handle, Uint8Array.of(version, version), 0, 2, 18);
    closeSync(handle);
  };

  // A temporary folder of our own, where no other process makes anything.
  const { TMPDIR: usual } = process.env;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'fuselens-sqlite-test-'));
    process.env['TMPDIR'] = path.join(folder, 'tmp');
    mkdirSync(process.env['TMPDIR']);
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
    if (usual === undefined) {
      delete process.env['TMPDIR'];
    } else {
      process.env['TMPDIR'] = usual;
    }
  });

  it('gives rows in column order, 64-bit integers exact', async () => {
    const file = make();
    const database = await openSqlite(file);
    assert.deepEqual([...database.rows('SELECT id, name, big, real, blob FROM t ORDER BY id')], [
      [1, 'one', 9_223_372_036_854_775_807n, 0.5, new Uint8Array([1, 2, 3])],
      [2, null, 1_736_414_119_620_696_762n, null, null],
      [3, '三', -5, 2, null],
    ]);
    assert.deepEqual([...database.rows('SELECT name FROM t WHERE id = ? AND big > ?', [1, 9_007_199_254_740_993n])], [['one']]);
    assert.deepEqual(database.columns('t'), ['id', 'name', 'big', 'real', 'blob']);
    assert.deepEqual(database.columns('no such table'), []);
    database.close();
    database.close();
  });

  it('lets a caller stop in the middle of the rows', async () => {
    const database = await openSqlite(make());
    for (const row of database.rows('SELECT id FROM t ORDER BY id')) {
      assert.deepEqual(row, [1]);
      break;
    }
    assert.equal([...database.rows('SELECT id FROM t')].length, 3);
    database.close();
  });

  it('leaves nothing beside the file and nothing in the temporary folder', async () => {
    const before = stages();
    const file = make();
    const bytes = readFileSync(file);
    const database = await openSqlite(file);
    const rows = database.rows('SELECT * FROM t')[Symbol.iterator]();
    rows.next();
    assert.deepEqual(readdirSync(path.dirname(file)), [path.basename(file)]);
    database.close();
    assert.deepEqual(readdirSync(path.dirname(file)), [path.basename(file)]);
    assert.deepEqual(readFileSync(file), bytes);
    assert.deepEqual(stages(), before);
  });

  it('opens a read-only file in a read-only folder', async () => {
    const file = make();
    chmodSync(file, 0o444);
    chmodSync(path.dirname(file), 0o555);
    const database = await openSqlite(file);
    assert.equal([...database.rows('SELECT * FROM t')].length, 3);
    database.close();
    chmodSync(path.dirname(file), 0o755);
  });

  it('opens a file whose header says write-ahead log, without and with an empty log', async () => {
    for (const emptyLog of [false, true]) {
      const file = make();
      setHeader(file, 2);
      if (emptyLog) {
        writeFileSync(`${file}-wal`, '');
      }
      const before = readdirSync(path.dirname(file));
      chmodSync(file, 0o444);
      const database = await openSqlite(file);
      assert.deepEqual(database.notes, []);
      assert.equal([...database.rows('SELECT * FROM t')].length, 3);
      database.close();
      assert.deepEqual(readdirSync(path.dirname(file)), before);
      assert.equal(readFileSync(file)[18], 2, 'the user\'s file keeps its header');
    }
  });

  it('opens a read-only file with such a header for a user who is not root', async () => {
    const file = make();
    setHeader(file, 2);
    chmodSync(file, 0o444);
    chmodSync(path.dirname(file), 0o555);
    chmodSync(folder, 0o755);
    // The superuser may write what it may only read, so it becomes nobody while it looks.
    const superuser = process.getuid?.() === 0;
    if (superuser) {
      process.seteuid?.(65534);
    }
    try {
      const database = await openSqlite(file);
      assert.equal([...database.rows('SELECT * FROM t')].length, 3);
      database.close();
    } finally {
      if (superuser) {
        process.seteuid?.(0);
      }
      chmodSync(path.dirname(file), 0o755);
    }
  });

  it('says when there is no temporary folder to read in', async () => {
    const file = make();
    process.env['TMPDIR'] = path.join(folder, 'gone');
    try {
      await assert.rejects(openSqlite(file), (error: unknown) =>
        error instanceof UnreadableInput && error.detail.code === 'error.sqlite-not-copied' && error.detail.args?.['reason'] === 'ENOENT');
    } finally {
      process.env['TMPDIR'] = path.join(folder, 'tmp');
    }
  });

  it('reads what is still in a log, and says that there was one', async () => {
    const source = make();
    const writer = new Database(source);
    writer.exec('PRAGMA locking_mode = EXCLUSIVE');
    writer.exec('PRAGMA journal_mode = WAL');
    writer.exec('INSERT INTO t (id, name) VALUES (4, \'only in the log\')');
    const file = path.join(path.dirname(source), 'copied.db');
    copyFileSync(source, file);
    copyFileSync(`${source}-wal`, `${file}-wal`);
    const logBytes = readFileSync(`${file}-wal`);
    const database = await openSqlite(file);
    assert.deepEqual([...database.rows('SELECT name FROM t WHERE id = 4')], [['only in the log']]);
    assert.deepEqual(database.notes?.map(({ code }) => code), ['sqlite-pending-log']);
    database.close();
    assert.deepEqual(readFileSync(`${file}-wal`), logBytes);
    assert.ok(!existsSync(`${file}-shm`));
    writer.close();
  });

  it('clears what a killed process left behind a day ago, and nothing younger', async () => {
    const [old, young] = ['old', 'young'].map((name) => path.join(tmpdir(), `fuselens-db-test-${process.pid}-${name}`));
    mkdirSync(old);
    mkdirSync(young);
    utimesSync(old, new Date(0), new Date(0));
    // The sweep is done once a process, so another one does it here.
    const script = `require('tsx/cjs'); require(${JSON.stringify(path.resolve(__dirname, '../../src/node/sqlite.ts'))}).openSqlite(${JSON.stringify(make())}).then((d) => d.close())`;
    assert.equal(spawnSync(process.execPath, ['-e', script], { cwd: __dirname, stdio: 'inherit' }).status, 0);
    assert.deepEqual([existsSync(old), existsSync(young)], [false, true]);
    rmSync(young, { recursive: true });
  });

  it('says what is wrong with a file that cannot be opened', async () => {
    const before = stages();
    const code = async (file: string): Promise<string> => {
      const error: unknown = await openSqlite(file).then(() => undefined, (reason: unknown) => reason);
      assert.ok(error instanceof UnreadableInput);
      assert.equal(error.detail.args?.['file'], file);
      return error.detail.code;
    };
    const text = path.join(folder, 'text.db');
    writeFileSync(text, 'this is no database, but it is long enough to hold a header '.repeat(10));
    assert.equal(await code(text), 'error.sqlite-not-a-database');
    const empty = path.join(folder, 'empty.db');
    writeFileSync(empty, '');
    assert.equal(await code(empty), 'error.sqlite-not-a-database');
    assert.equal(await code(path.join(folder, 'missing.db')), 'error.file-unreadable');
    const damaged = make();
    const bytes = readFileSync(damaged);
    bytes.fill(0xff, 100);
    writeFileSync(damaged, bytes);
    assert.equal(await code(damaged), 'error.sqlite-damaged');
    assert.deepEqual(stages(), before);
  });
});
