import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import fsPromises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';
import fc from 'fast-check';
import type { RankSource } from '../../src/engine/readers/reader';
import { NodeSpill } from '../../src/node/spill';

describe('spill', () => {
  let folder: string;
  let made = 0;
  const source = (): RankSource => ({ id: `rank ${made++}`, label: '', format: 'kineto', path: '/nowhere/trace.json.gz', rank: undefined, group: '', bytes: 0, files: [] });
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'fuselens-spill-test-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('gives back any part of what was appended, across blocks and gaps', async () => {
    const stream = Buffer.from(Array.from({ length: 5_000_000 }, (_, i) => (i * 2654435761) >>> (i % 24)));
    const spill = new NodeSpill({ folder });
    const { key, store } = await spill.create(source());
    // Every ten thousand bytes a gap of a hundred that nobody keeps.
    for (let at = 0; at < stream.length; at += 10_000) {
      await store.append(at, stream.subarray(at, at + 4000));
      await store.append(at + 4000, stream.subarray(at + 4000, at + 9900));
    }
    await store.finish();
    const kept = async (offset: number, length: number): Promise<Buffer | undefined> => {
      const bytes = await spill.read(key, offset, length);
      return bytes === undefined ? undefined : Buffer.from(bytes);
    };
    for (const [offset, length] of [[0, 9900], [3990, 20], [1_050_000, 9900], [4_990_000, 9900], [2_345_678 - 5678, 1]]) {
      assert.deepEqual(await kept(offset, length), stream.subarray(offset, offset + length), `${offset}+${length}`);
    }
    for (const [offset, length] of [[9899, 2], [9900, 100], [4_999_900, 1], [9_000_000, 5]]) {
      assert.equal(await kept(offset, length), undefined, `${offset}+${length} was not kept`);
    }
    const again = new NodeSpill({ folder });
    assert.deepEqual(Buffer.from((await again.read(key, 1_048_000, 200)) ?? []), stream.subarray(1_048_000, 1_048_200));
  });

  it('agrees with a plain copy for any stretches', async () => {
    const noise = Uint8Array.from({ length: 5_000_000 }, (_, i) => (i * 2654435761) >>> 13);
    const gapsAndLengths = fc.array(fc.tuple(fc.nat({ max: 5000 }), fc.integer({ min: 1, max: 400_000 })), { minLength: 1, maxLength: 12 });
    const queries = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 500_000 })), { maxLength: 8 });
    await fc.assert(fc.asyncProperty(gapsAndLengths, queries, async (stretches, wanted) => {
      const spill = new NodeSpill({ folder });
      const { key, store } = await spill.create(source());
      const known = new Uint8Array(noise.length);
      let end = 0;
      for (const [gap, length] of stretches) {
        end += gap;
        await store.append(end, noise.subarray(end, end + length));
        known.fill(1, end, end + length);
        end += length;
      }
      await store.finish();
      for (const [from, length] of wanted) {
        const offset = from % end;
        const read = await spill.read(key, offset, length);
        if (offset + length <= end && !known.subarray(offset, offset + length).includes(0)) {
          assert.ok(read !== undefined && Buffer.compare(read, noise.subarray(offset, offset + length)) === 0, `${offset}+${length}`);
        } else {
          assert.equal(read, undefined, `${offset}+${length}`);
        }
      }
    }), { numRuns: 25 });
  });

  it('writes nothing when nothing was appended', async () => {
    const empty = mkdtempSync(path.join(folder, 'empty-'));
    const { key, store } = await new NodeSpill({ folder: empty }).create(source());
    await store.finish();
    assert.deepEqual(readdirSync(empty), []);
    assert.equal(await new NodeSpill({ folder: empty }).read(key, 0, 1), undefined);
  });

  it('keeps nothing, and leaves nothing, when the disk is full', async () => {
    const full = mkdtempSync(path.join(folder, 'full-'));
    const spill = new NodeSpill({ folder: full });
    const { key, store } = await spill.create(source());
    const replaced = mock.method(fsPromises, 'rename', () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })));
    try {
      await store.append(0, new Uint8Array(3_000_000));
      await store.finish();
    } finally {
      replaced.mock.restore();
    }
    assert.equal(await spill.read(key, 0, 10), undefined);
    assert.deepEqual(readdirSync(full), []);
  });

  it('has nothing to give when its file is damaged, cut or gone', async () => {
    const damaged = mkdtempSync(path.join(folder, 'damaged-'));
    const spill = new NodeSpill({ folder: damaged });
    const { key, store } = await spill.create(source());
    await store.append(100, new Uint8Array(100_000).map((_, i) => i * 31));
    await store.finish();
    const file = path.join(damaged, readdirSync(damaged)[0]);
    assert.equal((await spill.read(key, 100, 10))?.length, 10);
    truncateSync(file, 40);
    assert.equal(await new NodeSpill({ folder: damaged }).read(key, 100, 10), undefined);
    writeFileSync(file, 'x'.repeat(1000));
    assert.equal(await new NodeSpill({ folder: damaged }).read(key, 100, 10), undefined);
    rmSync(file);
    assert.equal(await new NodeSpill({ folder: damaged }).read(key, 100, 10), undefined);
    assert.equal(await spill.read('../../etc/passwd', 0, 1), undefined);
  });
});
