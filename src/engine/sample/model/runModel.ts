import type { LayerKind } from './dimensions';
import { DIMENSIONS } from './dimensions';
import { FUSED_LOSS_CHUNK, LOSS_CHUNK } from './ends';
import { DOWN_PROJECTION, FEED_BACKWARD, FEED_FORWARD, RESIDUAL } from './feedForward';
import { fullBackward, fullForward, HEAD_NORM_GRADS, HEAD_NORMS } from './fullAttention';
import * as fused from './fusedLayers';
import type { Block, CostModel } from './kernel';
import { GATED_FORWARD, LINEAR_BACKWARD, LINEAR_FORWARD, OUTPUT } from './linearAttention';
import { zeroCentredBackward, zeroCentredForward } from './norms';
import type { EndUnits, LayerGroup } from './parameters';
import { COARSE_ENDS, COARSE_GROUPS, FINE_ENDS, FINE_GROUPS } from './parameters';

/** A mixer's blocks. `gated` is apart so that the chain can be found by its mark; empty where the norm is fused. */
export interface MixerModel { readonly forward: Block; readonly gated: Block; readonly output: Block; readonly backward: Block }

/** Everything that differs between the two runs. */
export interface RunModel {
  readonly cost: CostModel;
  readonly norm: Block;
  readonly normGrad: Block;
  readonly mixers: Readonly<Record<LayerKind, MixerModel>>;
  readonly feedForward: Block;
  readonly downProjection: Block;
  readonly feedBackward: Block;
  readonly residual: Block;
  readonly lossChunk: Block;
  readonly lossChunks: number;
  readonly groups: readonly LayerGroup[];
  readonly ends: EndUnits;
  /** How many units ahead of use FSDP issues a gather. */
  readonly prefetch: number;
}

const BASELINE_TOKENS = DIMENSIONS.sequence;
const OPTIMIZED_TOKENS = 4 * DIMENSIONS.sequence;

export const BASELINE_MODEL: RunModel = {
  cost: { tokens: BASELINE_TOKENS, lossChunkTokens: BASELINE_TOKENS / 8, matrixRate: 159800, copyScale: 1, floorNs: 2400 },
  norm: zeroCentredForward(),
  normGrad: zeroCentredBackward(),
  mixers: {
    linear: { forward: LINEAR_FORWARD, gated: GATED_FORWARD, output: OUTPUT, backward: LINEAR_BACKWARD },
    full: { forward: fullForward(HEAD_NORMS, 682), gated: [], output: OUTPUT, backward: fullBackward(HEAD_NORM_GRADS, 1720) },
  },
  feedForward: FEED_FORWARD,
  downProjection: DOWN_PROJECTION,
  feedBackward: FEED_BACKWARD,
  residual: RESIDUAL,
  lossChunk: LOSS_CHUNK,
  lossChunks: 8,
  groups: FINE_GROUPS,
  ends: FINE_ENDS,
  prefetch: 3,
};

export const OPTIMIZED_MODEL: RunModel = {
  cost: { tokens: OPTIMIZED_TOKENS, lossChunkTokens: OPTIMIZED_TOKENS / 4, matrixRate: 285000, copyScale: 0.78, floorNs: 2400 },
  norm: fused.NORM,
  normGrad: fused.NORM_GRAD,
  mixers: {
    linear: { forward: fused.LINEAR_FORWARD, gated: [], output: [], backward: fused.LINEAR_BACKWARD },
    full: {
      forward: [...fullForward(fused.HEAD_NORMS, 2380), ['MatMul', 'T,2048;2048,2048', 'T,2048']],
      gated: [], output: [], backward: fullBackward(fused.HEAD_NORM_GRADS, 5630),
    },
  },
  feedForward: fused.FEED_FORWARD,
  downProjection: DOWN_PROJECTION,
  feedBackward: fused.FEED_BACKWARD,
  residual: [['Add', 'T,2048;T,2048', 'T,2048']],
  lossChunk: FUSED_LOSS_CHUNK,
  lossChunks: 4,
  groups: COARSE_GROUPS,
  ends: COARSE_ENDS,
  prefetch: 2,
};
