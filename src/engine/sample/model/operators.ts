/**
 * The operator table of the sample: how a framework operator shows up as an Ascend kernel. `Name` is
 * `<api>_<tag>_<type>` and `Type` its last segment, as in CANN 8 exports; fused and Triton kernels carry a bare name.
 * `rate` is the effective bandwidth in bytes per nanosecond (1000 = 1 TB/s) that the cost model uses.
 */
export interface Operator {
  readonly name: string;
  readonly type: string;
  readonly core: 'AI_CORE' | 'AI_VECTOR_CORE' | 'MIX_AIC' | 'MIX_AIV';
  readonly rate: number;
}

type Row = readonly [key: string, api: string, tag: string, type: string, core: Operator['core'], rate: number];

const V = 'AI_VECTOR_CORE';
const ROWS: readonly Row[] = [
  // glue: casts, copies, slices, fills
  ['Cast', 'aclnnCast', 'CastAiCore', 'Cast', V, 1500],
  ['CastInto', 'aclnnInplaceCopy', 'CastAiCore', 'Cast', V, 1610],
  ['Move', 'aclnnInplaceCopy', 'TensorMoveAiCore', 'TensorMove', V, 1200],
  ['SliceForMul', 'aclnnMul', 'SliceAiCore', 'Slice', V, 800],
  ['SliceForNeg', 'aclnnNeg', 'SliceAiCore', 'Slice', V, 800],
  ['SliceForCast', 'aclnnCast', 'SliceAiCore', 'Slice', V, 800],
  ['SliceForSigmoid', 'aclnnSigmoid', 'SliceAiCore', 'Slice', V, 800],
  ['StridedSlice', 'aclnnConstantPadNd', 'StridedSliceAiCore', 'StridedSlice', V, 800],
  ['Pad', 'aclnnConstantPadNd', 'PadV3', 'PadV3', V, 700],
  ['Transpose', 'aclnnInplaceCopy', 'TransposeAiCore', 'Transpose', V, 700],
  ['Cat', 'aclnnCat', 'ConcatD', 'ConcatD', V, 800],
  ['Zero', 'aclnnInplaceZero', 'ZerosLikeAiCore', 'ZerosLike', V, 1500],
  ['Ones', 'aclnnInplaceOne', 'OnesLikeAiCore', 'OnesLike', V, 1500],
  // elementwise
  ['Add', 'aclnnAdd', 'AddAiCore', 'Add', V, 750],
  ['Adds', 'aclnnAdds', 'AddAiCore', 'Add', V, 1000],
  ['Mul', 'aclnnMul', 'MulAiCore', 'Mul', V, 900],
  ['Muls', 'aclnnMuls', 'MulAiCore', 'Mul', V, 1450],
  ['Divs', 'aclnnDivs', 'RealDivAiCore', 'RealDiv', V, 1100],
  ['Div', 'aclnnDiv', 'RealDivAiCore', 'RealDiv', V, 900],
  ['Neg', 'aclnnNeg', 'NegAiCore', 'Neg', V, 1000],
  ['Abs', 'aclnnAbs', 'AbsAiCore', 'Abs', V, 1000],
  ['NotEqual', 'aclnnNeTensor', 'NotEqualAiCore', 'NotEqual', V, 1000],
  ['Cos', 'aclnnCos', 'CosAiCore', 'Cos', V, 800],
  ['Sin', 'aclnnSin', 'SinAiCore', 'Sin', V, 800],
  ['Sigmoid', 'aclnnSigmoid', 'SigmoidAiCore', 'Sigmoid', V, 900],
  ['SigmoidGrad', 'aclnnSigmoidBackward', 'SigmoidGradAiCore', 'SigmoidGrad', V, 900],
  ['Silu', 'aclnnSilu', 'SiluAiCore', 'Swish', V, 800],
  ['SiluGrad', 'aclnnSiluBackward', 'SiluGradAiCore', 'SiluGrad', V, 750],
  // what an eager norm is made of, besides elementwise
  ['Pows', 'aclnnPowTensorScalar', 'PowsAiCore', 'Pows', V, 1300],
  ['Mean', 'aclnnMean', 'ReduceMeanAiCore', 'ReduceMean', V, 700],
  ['Rsqrt', 'aclnnRsqrt', 'RsqrtAiCore', 'Rsqrt', V, 1000],
  ['Sum', 'aclnnReduceSum', 'ReduceSumOpAiCore', 'ReduceSum', 'MIX_AIV', 722],
  // fused norms
  ['RmsNorm', '', '', 'RmsNorm', V, 1100],
  ['RmsNormGrad', '', '', 'RmsNormGrad', 'MIX_AIV', 1000],
  ['GatedNorm', '', '', 'layer_norm_gated_fwd_kernel', V, 900],
  ['GatedNormGrad', '', '', 'layer_norm_gated_bwd_kernel', V, 900],
  // matrix work
  ['MatMul', 'aclnnMatmul', 'MatMulV3Common', 'MatMulV3', 'AI_CORE', 0],
  ['Attention', 'aclnnFlashAttentionScore', 'FlashAttentionScore', 'FlashAttentionScore', 'MIX_AIC', 0],
  ['AttentionGrad', 'aclnnFlashAttentionScoreGrad', 'FlashAttentionScoreGrad', 'FlashAttentionScoreGrad', 'MIX_AIC', 0],
  // embedding
  ['Embedding', 'aclnnEmbedding', 'GatherV2AiCore', 'GatherV2', V, 600],
  ['EmbeddingSort', 'aclnnEmbeddingDenseBackward', 'SortAiCore', 'Sort', 'MIX_AIV', 5],
  ['EmbeddingMemSet', 'aclnnEmbeddingDenseBackward', 'EmbeddingDenseGradV2', 'MemSet', V, 1500],
  ['EmbeddingGrad', 'aclnnEmbeddingDenseBackward', 'EmbeddingDenseGradV2', 'EmbeddingDenseGradV2', 'MIX_AIV', 300],
  ['Range', 'aclnnArange', 'ArangeAiCore', 'Range', V, 1000],
  // loss
  ['LogSoftmax', 'aclnnLogSoftmax', 'LogSoftmaxV2', 'LogSoftmaxV2', V, 600],
  ['LossMemSet', 'aclnnNLLLoss', 'NLLLoss', 'MemSet', V, 1500],
  ['Loss', 'aclnnNLLLoss', 'NLLLoss', 'NLLLoss', V, 600],
  ['LossGrad', 'aclnnNLLLossBackward', 'NLLLossGrad', 'NLLLossGrad', V, 900],
  ['LogSoftmaxGrad', 'aclnnLogSoftmaxBackward', 'LogSoftmaxGrad', 'LogSoftmaxGrad', V, 600],
  ['LigerLoss', '', '', 'liger_cross_entropy_forward_kernel', V, 800],
  ['LigerLossGrad', '', '', 'liger_cross_entropy_backward_kernel', V, 800],
  // fused SwiGLU and causal convolution
  ['Swiglu', '', '', '_swiglu_fwd', V, 800],
  ['SwigluGrad', '', '', '_swiglu_bwd', V, 800],
  ['ConvFwd', '', '', 'causal_conv1d_fwd_kernel', V, 600],
  ['ConvBwd', '', '', 'causal_conv1d_bwd_kernel', V, 300],
  // gradient norm and optimizer
  ['GradNorm', 'aclnnLinalgVectorNorm', 'LpNormV2', 'LpNormV2', 'MIX_AIV', 900],
  ['ForeachMul', 'aclnnForeachMulScalarV2', 'ForeachMulScalar', 'ForeachMulScalar', V, 1000],
  ['AdamW', 'aclnnApplyAdamWV2', 'ApplyAdamWV2', 'ApplyAdamWV2', V, 1000],
];

/** Gated delta rule: Triton kernels (baseline) and the Ascend C family (optimized); cube and vector cores together. */
const DELTA_RULE: readonly string[] = [
  'chunk_gated_delta_rule_gate_fwd_kernel', 'chunk_gated_delta_rule_gate_bwd_kernel', 'chunk_local_cumsum_scalar_kernel', 'chunk_scaled_dot_kkt_fwd_kernel',
  'solve_tril_16x16_kernel', 'merge_16x16_to_64x64_inverse_kernel', 'recompute_w_u_fwd_kernel',
  'chunk_gated_delta_rule_fwd_kernel_h_blockdim64', 'chunk_fwd_kernel_o', 'chunk_bwd_kernel_dv_local',
  'chunk_gated_delta_rule_bwd_kernel', 'prepare_wy_repr_bwd_kernel',
  'ChunkScaledDotKktFwd', 'solve_tril', 'RecomputeWUFwd', 'ChunkGatedDeltaRuleFwdH', 'ChunkFwdO', 'ChunkBwdDvLocal',
  'ChunkGatedDeltaRuleBwdDhu', 'ChunkBwdDqkwg', 'PrepareWyReprBwd',
];

function build(): ReadonlyMap<string, Operator> {
  const table = new Map<string, Operator>();
  for (const [key, api, tag, type, core, rate] of ROWS) {
    table.set(key, { name: api === '' ? type : `${api}_${tag}_${type}`, type, core, rate });
  }
  for (const name of DELTA_RULE) {
    table.set(name, { name, type: name, core: name.includes('gate_') || name.includes('cumsum') ? V : 'MIX_AIC', rate: 400 });
  }
  return table;
}

const OPERATORS = build();

/** Looks an operator up; a name that is not in the table is a mistake in a block table. */
export function operatorOf(key: string): Operator {
  const operator = OPERATORS.get(key);
  if (operator === undefined) {
    throw new Error(`sample operator ${key} is not in the table`);
  }
  return operator;
}
