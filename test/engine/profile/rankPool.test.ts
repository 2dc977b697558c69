import assert from 'node:assert/strict';
import { Cancelled } from '../../../src/engine/profile/problems';
import { RankPool } from '../../../src/engine/profile/rankPool';

/** A load that the test finishes when it wants. */
function held<T>(): { readonly load: () => Promise<T>; readonly finish: (value: T) => void; readonly fail: (error: Error) => void; readonly starts: () => number } {
  let starts = 0;
  let finish: (value: T) => void = () => assert.fail('not started');
  let fail: (error: Error) => void = () => assert.fail('not started');
  return {
    load: () => {
      starts++;
      return new Promise<T>((resolve, reject) => {
        finish = resolve;
        fail = reject;
      });
    },
    finish: (value) => finish(value), fail: (error) => fail(error), starts: () => starts,
  };
}

describe('RankPool', () => {
  const ten = (): number => 10;
  const give = (value: string) => (): Promise<string> => Promise.resolve(value);

  it('keeps within its budget, least recently used out first', async () => {
    const pool = new RankPool<string>(30);
    for (const id of ['a', 'b', 'c']) {
      await pool.get(id, give(id), ten);
    }
    await pool.get('a', () => assert.fail('was kept'), ten);
    await pool.get('d', give('d'), ten);
    assert.deepEqual(['a', 'b', 'c', 'd'].map((id) => pool.has(id)), [true, false, true, true]);
    assert.equal(pool.bytes, 30);
    await pool.get('huge', give('huge'), () => 1000);
    assert.deepEqual([pool.has('huge'), pool.bytes], [true, 1000], 'what was asked for last stays, alone');
    assert.equal(pool.delete('huge'), true);
    assert.equal(pool.delete('huge'), false);
    assert.equal(pool.bytes, 0);
  });

  it('reads once for all who ask meanwhile', async () => {
    const pool = new RankPool<string>(100);
    const read = held<string>();
    const answers = Promise.all([1, 2, 3].map(() => pool.get('a', read.load, ten)));
    await Promise.resolve();
    read.finish('columns');
    assert.deepEqual(await answers, ['columns', 'columns', 'columns']);
    assert.equal(read.starts(), 1);
  });

  it('leaves nothing behind when a read fails, and reads again', async () => {
    const pool = new RankPool<string>(100);
    const failing = (): Promise<string> => Promise.reject(new Error('disk'));
    await assert.rejects(pool.get('a', failing, ten), /disk/);
    assert.deepEqual([pool.has('a'), pool.bytes], [false, 0]);
    assert.equal(await pool.get('a', give('fine'), ten), 'fine');
  });

  it('lets who waited read for itself when the reader cancels', async () => {
    const pool = new RankPool<string>(100);
    const read = held<string>();
    const first = pool.get('a', read.load, ten);
    const second = pool.get('a', give('own'), ten);
    read.fail(new Cancelled());
    await assert.rejects(first, Cancelled);
    assert.equal(await second, 'own');
  });

  it('does not bring back what was read for a profile that is no longer open', async () => {
    const pool = new RankPool<string>(100);
    const read = held<string>();
    const late = pool.get('a', read.load, ten);
    pool.clear();
    await pool.get('a', give('new'), ten);
    read.finish('old');
    assert.equal(await late, 'old');
    assert.equal(await pool.get('a', () => assert.fail('was kept'), ten), 'new');
    assert.equal(pool.bytes, 10);
  });
});
