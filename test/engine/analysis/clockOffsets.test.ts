import assert from 'node:assert/strict';
import { clockOffsets, collectiveEnds, type CollectiveEnds } from '../../../src/engine/analysis/clockOffsets';
import { EngineSession } from '../../../src/engine/session';
import { nodeFilePort } from '../../../src/node/filePort';
import { hasSharedData, sharedPath } from '../../sharedData';

const ends = (...values: readonly number[]): CollectiveEnds => new Map(values.map((value, i) => [`hcom_allReduce__170_${i}_1`, value]));

describe('clocks of ranks', () => {
  it('97 s apart are found from the ends of collectives, with what is left over', () => {
    const base = 1_764_246_877_000_000_000n;
    // The second rank began 2 ms later by a true clock; its ends are some µs off, and its clock is 97 s ahead.
    const [first, second] = clockOffsets([
      { baseNs: base, ends: ends(5_000_000, 9_000_000, 20_000_000, 31_000_000, 40_000_000) },
      { baseNs: base + 97_000_000_000n + 2_000_000n, ends: ends(3_000_010, 7_000_000, 17_999_980, 29_000_030, 38_000_000) },
    ]);
    assert.deepEqual([first.offsetNs, second.offsetNs, second.matches], [0, 97_000_000_000, 5]);
    assert.equal(second.residualNs, 10);
  });

  it('are left alone where they agree, where too little tells, and where the ends are no agreement', () => {
    const offsets = (other: { readonly baseNs: bigint; readonly ends: CollectiveEnds }): number => clockOffsets([{ baseNs: 0n, ends: ends(1e6, 2e6, 3e6, 4e6) }, other])[1].offsetNs;
    assert.equal(offsets({ baseNs: 0n, ends: ends(1e6, 2e6 + 900_000, 3e6, 4e6) }), 0);
    assert.equal(offsets({ baseNs: 5_000_000_000n, ends: ends(1e6, 2e6) }), 0);
    assert.equal(offsets({ baseNs: 0n, ends: ends(5e6, 300e6, 60e6, 900e6) }), 0);
    assert.equal(offsets({ baseNs: 5_000_000_000n, ends: new Map() }), 0);
  });

  it('reach a rank through another that shares its collectives', () => {
    const named = (prefix: string, ...values: readonly number[]): CollectiveEnds => new Map(values.map((value, i) => [`${prefix}_${i}`, value]));
    const [, far, near] = clockOffsets([
      { baseNs: 0n, ends: named('a', 1e6, 2e6, 3e6) },
      { baseNs: 0n, ends: named('b', 61e9 + 1e6, 61e9 + 2e6, 61e9 + 3e6) },
      { baseNs: 0n, ends: new Map([...named('a', 60e9 + 1e6, 60e9 + 2e6, 60e9 + 3e6), ...named('b', 60e9 + 1e6, 60e9 + 2e6, 60e9 + 3e6)]) },
    ]);
    assert.deepEqual([near.offsetNs, far.offsetNs], [60e9, 61e9]);
  });

  it('of the real ranks agree to within tens of µs, and a report moves a rank whose clock is ahead', async function () {
    if (!hasSharedData()) {
      this.skip();
    }
    const session = new EngineSession({ port: nodeFilePort() });
    await session.call('open', { path: sharedPath('ascend', 'msinsight-qwen3-4rank') });
    const [zero, two] = [await session.rank('rank_0_ascend_pt'), await session.rank('rank_2_ascend_pt')];
    const [one, other] = [zero, two].map(({ data }) => ({ baseNs: data.baseNs, ends: collectiveEnds(data) }));
    const [, same] = clockOffsets([one, other]);
    assert.deepEqual([same.offsetNs, same.matches >= 8, same.residualNs < 50_000], [0, true, true]);
    const [, ahead] = clockOffsets([one, { ...other, baseNs: other.baseNs + 97_000_000_000n }]);
    assert.ok(Math.abs(ahead.offsetNs - 97e9) < 50_000, String(ahead.offsetNs));
  });
});
