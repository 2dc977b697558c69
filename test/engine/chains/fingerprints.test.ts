import assert from 'node:assert/strict';
import { engineEnvironment } from '../../../src/node/environment';
import { EngineSession } from '../../../src/engine/session';
import type { FingerprintData } from '../../../src/protocol/fingerprints';
import { hasSharedData, sharedPath } from '../../sharedData';

async function fingerprintsOf(profile: string, rank = 0): Promise<FingerprintData> {
  const session = new EngineSession(engineEnvironment({}));
  const { ranks } = await session.call('open', { path: profile });
  const wanted = ranks.find((entry) => entry.rank === rank) ?? ranks[0];
  return session.call('fingerprints', { rank: wanted.id });
}

describe('fingerprints of real profiles', () => {
  if (!hasSharedData()) {
    it.skip('need ../shared/data');
    return;
  }
  it('of Qwen3 on Ascend: what is fused is not reported, what is wasted is', async () => {
    const { fingerprints } = await fingerprintsOf(sharedPath('ascend/msinsight-qwen3-4rank'));
    const known = fingerprints.filter(({ fusion }) => fusion !== null).map(({ fusion, occurrences, kernels }) => [fusion, occurrences, kernels.length]);
    // Counted by hand in kernel_details.csv: Cos and Sin 56 each, LpNormV2 57 with its Pows, NonZero 24; gradients scaled and
    // copied 29 times, clipped 28 times, and 57 casts of weights after the optimizer.
    assert.deepEqual(known.sort(), [['cast-storm', 57, 1], ['gradient-norm', 57, 2], ['nonzero-stall', 24, 2], ['parameter-loop', 28, 1], ['parameter-loop', 29, 2], ['rope-tables', 56, 6]]);
  });

  it('of an H100 run with stacks: eager chains, in the recorded frames', async () => {
    const { fingerprints } = await fingerprintsOf(sharedPath('kineto/cuda-h100-qwen05b-infer-stacks'));
    const norm = fingerprints.find(({ fusion }) => fusion === 'rms-norm');
    assert.equal(norm?.kernels.length, 8);
    assert.match(norm?.source[0]?.file ?? '', /qwen2\/modeling_qwen2\.py$/);
    assert.equal(norm?.source[0]?.method, 'stack');
    assert.ok(fingerprints.some(({ fusion, source }) => fusion === 'rope' && source[0]?.function === 'apply_rotary_pos_emb'));
  });

  it('of an MI300 run with stacks: T5 norms and the tanh GELU', async () => {
    const { fingerprints } = await fingerprintsOf(sharedPath('kineto/rocm-mi300-sd35-big'));
    assert.ok(fingerprints.some(({ fusion, occurrences, source }) => fusion === 'rms-norm' && occurrences === 98 && /modeling_t5\.py$/.test(source[0]?.file ?? '')));
    assert.ok(fingerprints.some(({ fusion, source }) => fusion === 'gelu' && /activations\.py$/.test(source[0]?.file ?? '')));
  });
});
