import assert from 'node:assert/strict';
import { nanoseconds } from './oracle';
import { wholeSample, writeToMemory, type RunName } from './sampleFiles';

interface RankHead { readonly rank: number; readonly first: bigint; readonly firstCollective: bigint }

/** First kernel start and first AllReduce of every rank, from the heads of the files. */
async function heads(run: RunName): Promise<RankHead[]> {
  const result: RankHead[] = [];
  for (const [file, head] of (await wholeSample()).heads) {
    if (file.startsWith(`sample/${run}/`)) {
      const lines = head.split('\n').slice(1).map((line) => line.split(','));
      const collective = lines.find((cells) => cells[6] === 'hcom_allReduce_');
      assert.ok(collective !== undefined);
      result.push({ rank: Number(lines[0][1]), first: nanoseconds(lines[0][9]), firstCollective: nanoseconds(collective[10]) });
    }
  }
  return result.sort((a, b) => a.rank - b.rank);
}

const ms = (ns: bigint): number => Number(ns) / 1e6;

describe('sample: ranks', function () {
  this.timeout(180_000);

  it('spreads the baseline\'s starts over 295 ms, rank 0 first and waiting longest', async () => {
    const ranks = await heads('baseline');
    assert.deepEqual(ranks.map(({ rank }) => rank), Array.from({ length: 16 }, (_, i) => i));
    const earliest = ranks.reduce((least, { first }) => (first < least ? first : least), ranks[0].first);
    const latest = ranks.reduce((most, { first }) => (first > most ? first : most), ranks[0].first);
    assert.equal(ranks[0].first, earliest);
    assert.ok(Math.abs(ms(latest - earliest) - 295) < 0.5);
    for (const rank of ranks.slice(1)) {
      assert.ok(rank.firstCollective < ranks[0].firstCollective, `rank ${rank.rank} waits less`);
      // They leave together: who starts later waits less by as much.
      assert.ok(Math.abs(ms(rank.first - earliest) + ms(rank.firstCollective) - 302.2) < 0.1, `rank ${rank.rank} leaves with the others`);
    }
  });

  it('spreads the optimized starts over 70.2 ms', async () => {
    const starts = (await heads('optimized')).map(({ first }) => first).sort((a, b) => (a < b ? -1 : 1));
    assert.ok(Math.abs(ms(starts[15] - starts[0]) - 70.2) < 0.5);
  });

  it('gives every rank its own jitter', async () => {
    const { hashes } = await wholeSample();
    const kernels = [...hashes].filter(([file]) => file.endsWith('/kernel_details.csv')).map(([, hash]) => hash);
    assert.equal(new Set(kernels).size, 32);
  });

  it('writes the same bytes twice, and fewer ranks when asked', async () => {
    const [one, two] = [await writeToMemory({ ranks: 2 }), await writeToMemory({ ranks: 2 })];
    assert.deepEqual([...one.hashes], [...two.hashes]);
    const whole = (await wholeSample()).hashes;
    for (const [file, hash] of one.hashes) {
      assert.equal(whole.get(file), hash, `${file} does not depend on how many ranks are written`);
    }
    assert.equal([...one.hashes.keys()].filter((file) => file.endsWith('/kernel_details.csv')).length, 4);
  });

  it('stops when cancelled and reports progress', async () => {
    const seen: string[] = [];
    const written = await writeToMemory({ ranks: 3, onProgress: (done, of, what) => { seen.push(`${done}/${of} ${what}`); }, isCancelled: () => seen.length >= 2 });
    assert.deepEqual(seen, ['0/6 baseline rank 0', '1/6 baseline rank 1']);
    assert.equal([...written.hashes.keys()].filter((file) => file.endsWith('/kernel_details.csv')).length, 2);
  });
});
