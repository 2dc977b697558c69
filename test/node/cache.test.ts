import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import fsPromises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';
import type { RankData } from '../../src/engine/profile/columns';
import { ProblemList, type Problem } from '../../src/engine/profile/problems';
import { deserializeRank, serializeRank } from '../../src/engine/profile/serialize';
import type { RankSource } from '../../src/engine/readers/reader';
import { findSqliteFile } from '../../src/engine/readers/sqliteDetect';
import { NodeColumnCache } from '../../src/node/cache';
import { nodeFilePort } from '../../src/node/filePort';
import { defaultCacheFolder } from '../../src/node/settings';
import { hasSharedData, sharedPath } from '../sharedData';

const PROFILE = ['ascend', 'msinsight-alexnet', 'db', 'level2', 'rank0_ascend_pt', 'ASCEND_PROFILER_OUTPUT'] as const;

/** Bytes of a serialised rank in one aligned array, as a file gives them. */
function whole(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** A rank's content in comparable form. */
const content = ({ strings, ...rest }: RankData): unknown => ({ ...rest, strings: strings.toArray() });

describe('column cache', function () {
  let folder: string;
  let source: RankSource;
  let data: RankData;
  let problems: readonly Problem[];
  let file: string;

  before(async function () {
    if (!hasSharedData()) {
      console.log('    needs ../shared/data: skipped');
      this.skip();
    }
    folder = mkdtempSync(path.join(tmpdir(), 'fuselens-cache-test-'));
    const profile = path.join(folder, 'profile');
    cpSync(sharedPath(...PROFILE), profile, { recursive: true });
    file = path.join(profile, 'ascend_pytorch_profiler_0.db');
    // Times that a Date can hold, so that they can be set back.
    utimesSync(file, new Date(1_700_000_000_000), new Date(1_700_000_000_000));
    const port = nodeFilePort();
    const list = new ProblemList();
    const found = await findSqliteFile({ port, root: profile, path: file, problems: list });
    [source] = found.sources;
    assert.ok(source.read);
    data = await source.read({ port, problems: list });
    problems = list.toArray();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  let caches = 0;
  const newFolder = (): string => path.join(folder, `cache ${caches++}`);
  const entries = (cache: string): readonly string[] => readdirSync(cache).map((name) => path.join(cache, name));

  it('serialises everything, unknowns included', () => {
    const odd: RankData = {
      ...data, rank: undefined, baseNs: -9_007_199_254_740_993n,
      strings: { size: 4, get: () => '', toArray: () => ['', '\0undefined', '昇腾\ud800', 'NaN'] },
      communication: [{ ...data.communication[0], startUs: NaN, elapseMs: Infinity, group: '\0=x' }],
      memory: [...data.memory, { component: '', device: '', timeNs: new Float64Array(0), allocatedBytes: new Float64Array(0), reservedBytes: new Float64Array(0), activeBytes: new Float64Array(0) }],
    };
    for (const sample of [data, odd]) {
      const read = deserializeRank(whole(serializeRank({ data: sample, problems })));
      assert.ok(read);
      assert.deepEqual(content(read.data), content(sample));
      assert.deepEqual(read.problems, problems);
    }
  });

  it('gives back what it stored, until a file of the profile changes', async () => {
    const cache = new NodeColumnCache({ folder: newFolder() });
    assert.equal(await cache.load(source), undefined);
    assert.equal(await cache.store(source, data, problems), undefined);
    const loaded = await cache.load(source);
    assert.ok(loaded);
    assert.deepEqual(content(loaded.data), content(data));
    assert.deepEqual(loaded.problems, problems);

    const { mtime } = statSync(file);
    const bytes = readFileSync(file);
    appendFileSync(file, 'x');
    utimesSync(file, mtime, mtime);
    assert.equal(await cache.load(source), undefined, 'size differs');
    writeFileSync(file, bytes);
    utimesSync(file, mtime, new Date(mtime.getTime() + 5000));
    assert.equal(await cache.load(source), undefined, 'time differs');
    const changed = Buffer.from(bytes);
    changed[changed.length - 1] ^= 1;
    writeFileSync(file, changed);
    utimesSync(file, mtime, mtime);
    assert.equal(await cache.load(source), undefined, 'last byte differs');
    writeFileSync(file, bytes);
    utimesSync(file, mtime, mtime);
    assert.ok(await cache.load(source));
  });

  it('does not keep what was read while the file changed', async () => {
    const cacheFolder = newFolder();
    const cache = new NodeColumnCache({ folder: cacheFolder });
    await cache.load(source);
    const { mtime } = statSync(file);
    utimesSync(file, mtime, new Date(mtime.getTime() + 9000));
    await cache.store(source, data, problems);
    utimesSync(file, mtime, mtime);
    assert.throws(() => readdirSync(cacheFolder), { code: 'ENOENT' });
  });

  it('keeps builds apart', async () => {
    const cacheFolder = newFolder();
    await new NodeColumnCache({ folder: cacheFolder, build: '1.0.0' }).store(source, data, problems);
    assert.equal(await new NodeColumnCache({ folder: cacheFolder, build: '1.0.1' }).load(source), undefined);
    assert.ok(await new NodeColumnCache({ folder: cacheFolder, build: '1.0.0' }).load(source));
  });

  it('ignores, deletes and rewrites a damaged file, wherever the damage is', async () => {
    const cacheFolder = newFolder();
    const cache = new NodeColumnCache({ folder: cacheFolder });
    await cache.store(source, data, problems);
    const [entry] = entries(cacheFolder);
    const good = readFileSync(entry);
    const places = [0, 9, 17, 25, 33, 41, 100, good.length >> 1, good.length - 9, good.length - 1, ...Array.from({ length: 40 }, (_, i) => Math.floor((i / 40) * good.length))];
    for (const place of places) {
      const bad = Buffer.from(good);
      bad[place] ^= 0x10;
      writeFileSync(entry, bad);
      assert.equal(await cache.load(source), undefined, `byte ${place}`);
      assert.deepEqual(entries(cacheFolder), []);
      await cache.store(source, data, problems);
      assert.ok(await cache.load(source));
    }
    for (const length of [0, 1, 39, 40, 48, 4096, good.length - 8, good.length - 1, good.length + 8]) {
      writeFileSync(entry, Buffer.concat([good, Buffer.alloc(8)]).subarray(0, length));
      assert.equal(await cache.load(source), undefined, `length ${length}`);
      await cache.store(source, data, problems);
    }
    assert.ok(await cache.load(source));
  });

  it('goes on without space, and says so once', async () => {
    const cacheFolder = newFolder();
    const cache = new NodeColumnCache({ folder: cacheFolder });
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const replaced = mock.method(fsPromises, 'rename', () => Promise.reject(full));
    try {
      const problem = await cache.store(source, data, problems);
      assert.equal(replaced.mock.callCount(), 1);
      assert.deepEqual([problem?.kind, problem?.where], ['cache-full', cacheFolder]);
      assert.equal(await cache.store(source, data, problems), undefined);
    } finally {
      replaced.mock.restore();
    }
    assert.deepEqual(entries(cacheFolder), [], 'no half-written file stays');
  });

  it('goes on where no folder can be made', async () => {
    const blocked = path.join(folder, 'a file');
    writeFileSync(blocked, '');
    const cache = new NodeColumnCache({ folder: path.join(blocked, 'cache') });
    assert.equal(await cache.load(source), undefined);
    assert.equal((await cache.store(source, data, problems))?.kind, 'cache-unusable');
  });

  it('keeps under its limit, longest unused first', async () => {
    const cacheFolder = newFolder();
    const size = whole(serializeRank({ data, problems })).length;
    const cache = new NodeColumnCache({ folder: cacheFolder, limitBytes: size * 2 + 1000 });
    const ranks = [0, 1, 2].map((i) => ({ ...source, id: `rank ${i}` }));
    await cache.store(ranks[0], data, problems);
    const [first] = entries(cacheFolder);
    await cache.store(ranks[1], data, problems);
    const [second] = entries(cacheFolder).filter((entry) => entry !== first);
    utimesSync(first, new Date(1000), new Date(1000));
    utimesSync(second, new Date(2000), new Date(2000));
    assert.ok(await cache.load(ranks[0]), 'use makes it young');
    await cache.store(ranks[2], data, problems);
    assert.deepEqual(await Promise.all(ranks.map(async (rank) => (await cache.load(rank)) !== undefined)), [true, false, true]);
    const tiny = new NodeColumnCache({ folder: newFolder(), limitBytes: 100 });
    assert.equal(await tiny.store(source, data, problems), undefined);
    assert.equal(await tiny.load(source), undefined, 'larger than the whole cache: not kept');
  });

  it('clears what a window that died left behind, not what another is writing', async () => {
    const cacheFolder = newFolder();
    mkdirSync(cacheFolder);
    const old = path.join(cacheFolder, 'x.columns.1.tmp');
    const young = path.join(cacheFolder, 'y.columns.2.tmp');
    writeFileSync(old, 'x');
    writeFileSync(young, 'y');
    utimesSync(old, new Date(0), new Date(0));
    await new NodeColumnCache({ folder: cacheFolder }).store(source, data, problems);
    const names = readdirSync(cacheFolder);
    assert.ok(!names.includes(path.basename(old)) && names.includes(path.basename(young)));
  });

  it('is shared by two windows that read and write at once', async () => {
    const cacheFolder = newFolder();
    const windows = [0, 1].map(() => new NodeColumnCache({ folder: cacheFolder }));
    await Promise.all(windows.flatMap((cache) => Array.from({ length: 6 }, async () => {
      await cache.store(source, data, problems);
      const loaded = await cache.load(source);
      assert.ok(loaded === undefined || loaded.data.deviceEvents.count === data.deviceEvents.count);
    })));
    assert.equal(entries(cacheFolder).length, 1);
    assert.ok(await windows[0].load(source));
  });

  it('has a place for the command line', () => {
    assert.equal(defaultCacheFolder({ XDG_CACHE_HOME: '/var/cache/me', HOME: '/home/me' }), path.join('/var/cache/me', 'fuselens'));
    assert.equal(defaultCacheFolder({}), undefined);
    if (process.platform === 'linux') {
      assert.equal(defaultCacheFolder({ XDG_CACHE_HOME: 'relative', HOME: '/home/me' }), '/home/me/.cache/fuselens');
    }
  });
});
