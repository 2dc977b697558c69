import type { Block } from './kernel';

/** The optimized run's layers: the same model after the article's six changes. Durations at 16,384 tokens a micro-batch. */

const HEADS = 'T,16,128';

export const NORM: Block = [['Cast', '2048', '2048:f'], ['Adds', '2048:f', '2048:f'], ['RmsNorm', 'T,2048;2048:f', 'T,2048']];
export const NORM_GRAD: Block = [['RmsNormGrad', 'T,2048;T,2048;T,1:f;2048:f', 'T,2048', 197], ['Cast', '2048:f', '2048']];

export const LINEAR_FORWARD: Block = [
  ['MatMul', 'T,2048;2048,8192', 'T,8192'],
  ['MatMul', 'T,2048;2048,32', 'T,32'],
  ['ConvFwd', 'T,6144;4,6144', 'T,6144', 397],
  ['chunk_gated_delta_rule_gate_fwd_kernel', 'T,32;16:f;16:f', 'T,16:f', 18],
  ['chunk_local_cumsum_scalar_kernel', 'T,16:f', 'T,16:f', 26],
  ['ChunkScaledDotKktFwd', `${HEADS};${HEADS}`, 'T,16,64:f', 262],
  ['solve_tril', 'T,16,64:f', 'T,16,64', 997],
  ['RecomputeWUFwd', `${HEADS};${HEADS};T,16,64`, HEADS, 312],
  ['ChunkGatedDeltaRuleFwdH', `${HEADS};${HEADS};${HEADS}`, '256,16,128,128', 835],
  ['ChunkFwdO', `${HEADS};${HEADS};${HEADS};256,16,128,128`, HEADS, 356],
  ['GatedNorm', `${HEADS};${HEADS};128:f`, HEADS, 236],
  ['MatMul', 'T,2048;2048,2048', 'T,2048'],
];

export const LINEAR_BACKWARD: Block = [
  ['MatMul', 'T,2048;2048,2048', 'T,2048'],
  ['MatMul', '2048,T;T,2048', '2048,2048'],
  ['GatedNormGrad', `${HEADS};${HEADS};${HEADS};128:f`, HEADS, 412],
  ['RecomputeWUFwd', `${HEADS};${HEADS};T,16,64`, HEADS, 312],
  ['ChunkGatedDeltaRuleFwdH', `${HEADS};${HEADS};${HEADS}`, '256,16,128,128', 835],
  ['ChunkBwdDvLocal', `${HEADS};${HEADS};${HEADS}`, HEADS, 401],
  ['ChunkGatedDeltaRuleBwdDhu', `${HEADS};${HEADS};${HEADS}`, '256,16,128,128', 974],
  ['ChunkBwdDqkwg', `${HEADS};${HEADS};${HEADS};256,16,128,128`, HEADS, 2106],
  ['PrepareWyReprBwd', `${HEADS};${HEADS};T,16,64`, HEADS, 586],
  ['chunk_local_cumsum_scalar_kernel', 'T,16:f', 'T,16:f', 26],
  ['chunk_gated_delta_rule_gate_bwd_kernel', 'T,16:f;T,32;16:f;16:f', 'T,32', 31],
  ['Cat', `${HEADS};${HEADS};${HEADS}`, 'T,6144'],
  ['ConvBwd', 'T,6144;T,6144;4,6144', 'T,6144', 2444],
  ['Cat', 'T,6144;T,2048', 'T,8192'],
  ['MatMul', 'T,32;32,2048', 'T,2048'],
  ['MatMul', '2048,T;T,32', '2048,32'],
  ['MatMul', 'T,8192;8192,2048', 'T,2048'],
  ['MatMul', '2048,T;T,8192', '2048,8192'],
  ['Add', 'T,2048;T,2048', 'T,2048'],
];

export const FEED_FORWARD: Block = [
  ['MatMul', 'T,2048;2048,6144', 'T,6144'],
  ['MatMul', 'T,2048;2048,6144', 'T,6144'],
  ['Swiglu', 'T,6144;T,6144', 'T,6144', 386],
];

export const FEED_BACKWARD: Block = [
  ['MatMul', 'T,2048;2048,6144', 'T,6144'],
  ['MatMul', '6144,T;T,2048', '6144,2048'],
  ['SwigluGrad', 'T,6144;T,6144;T,6144', 'T,6144', 1281],
  ['MatMul', 'T,6144;6144,2048', 'T,2048'],
  ['MatMul', '2048,T;T,6144', '2048,6144'],
  ['MatMul', 'T,6144;6144,2048', 'T,2048'],
  ['MatMul', '2048,T;T,6144', '2048,6144'],
  ['Add', 'T,2048;T,2048', 'T,2048'],
];

/** Norms of q and k, fused; the partial rotation around them stays eager, as in XTuner. */
export const HEAD_NORMS: Block = [
  ['Cast', '256', '256:f'], ['Adds', '256:f', '256:f'], ['RmsNorm', 'T,8,256;256:f', 'T,8,256'],
  ['Cast', '256', '256:f'], ['Adds', '256:f', '256:f'], ['RmsNorm', 'T,2,256;256:f', 'T,2,256'],
];
export const HEAD_NORM_GRADS: Block = [
  ['RmsNormGrad', 'T,2,256;T,2,256;T,2,1:f;256:f', 'T,2,256', 71], ['Cast', '256:f', '256'],
  ['RmsNormGrad', 'T,8,256;T,8,256;T,8,1:f;256:f', 'T,8,256', 204], ['Cast', '256:f', '256'],
];
