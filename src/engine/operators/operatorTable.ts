/**
 * The one table between framework operators and the device kernels they launch, on both vendors. Kernels are read through
 * it into tokens (`kernelToken`), and source code is lowered onto the same tokens (`engine/python`), so both sides meet here.
 *
 * Sources: op names and kernel tags as published in the CANN operator repositories and seen in real torch_npu profiles;
 * CUDA functor names as seen in real Kineto traces from 2021 to 2026 (PyTorch 1.8 to 2.9, CUDA and ROCm builds).
 */

export interface OperatorRow {
  /** Our name of the operator: the token. `…s` = the other operand is a Python scalar (aclnnAdds against aclnnAdd). */
  readonly op: string;
  /** API segment of an Ascend kernel name, without `aclnn` and without a leading `Inplace`. */
  readonly api?: RegExp;
  /** Operator type of an Ascend kernel (CSV column Type, or the last segment of the name). */
  readonly type?: RegExp;
  /** Found anywhere in a CUDA or ROCm kernel name. */
  readonly cuda?: RegExp;
  /** The token CUDA shows instead, where its kernels cannot tell the two apart (a subtraction runs the add functor). */
  readonly cudaAs?: string;
}

/** First match wins: special rows stand before general ones. */
export const OPERATORS: readonly OperatorRow[] = [
  // Already fused: recognised so that they are never reported, and so that patched runs still align.
  { op: 'fused.rmsNormGrad', type: /^(RmsNormGrad|AddRmsNormGrad)$/, cuda: /rms_?norm.*(bwd|backward|grad)|layer_norm_grad_input_kernel\w*<[^>]*, true>/i },
  { op: 'fused.gatedNormGrad', type: /^(GatedRmsNorm\w*Grad|LayerNormGated\w*Grad)$/, cuda: /layer_norm_gated_bwd|(rms_?norm_gated|gated_rms_?norm)\w*(bwd|backward|grad)/i },
  { op: 'fused.gatedNorm', type: /^(GatedRmsNorm\w*|LayerNormGated\w*)$/, cuda: /layer_norm_gated_fwd|rms_?norm_gated|gated_rms_?norm/i },
  { op: 'fused.rmsNorm', type: /^(RmsNorm|AddRmsNorm\w*|GemmaRmsNorm)$/, cuda: /rms_?norm|vectorized_layer_norm_kernel<[^<>]*, true>/i },
  { op: 'fused.swigluGrad', type: /^SwiGluGrad$/, cuda: /swiglu_?(bwd|backward|grad)/i },
  { op: 'fused.swiglu', type: /^(SwiGlu|ClippedSwiglu)$/, cuda: /swiglu|silu_and_mul|act_and_mul_kernel/i },
  { op: 'fused.geglu', type: /^GeGlu\w*$/, cuda: /geglu/i },
  { op: 'fused.rotaryGrad', type: /^(RotaryPositionEmbeddingGrad|RotaryMulGrad)$/, cuda: /(rope|rotary)\w*(bwd|backward|grad)/i },
  { op: 'fused.rotary', type: /^(RotaryPositionEmbedding|RotaryMul|ApplyRotaryPosEmb\w*)$/, cuda: /rotary|rope_(fwd|kernel)|_triton_rope/i },
  { op: 'attentionBackward', type: /^(FlashAttentionScoreGrad\w*)$/, cuda: /flash_bwd|fmha\w*bwd|fmha_cutlassB|attn_bwd|bwd_kernel_(dk|dq)|efficient_attention_backward/i },
  { op: 'attention', type: /^(FlashAttentionScore|PromptFlashAttention\w*|FusedInferAttentionScore\w*|IncreFlashAttention\w*|PagedAttention\w*)$/, cuda: /flash_fwd|fmha|attn_fwd|flash_attn|FlashAttn|paged_attention|unified_attention|cudnn.*sdpa/i },
  { op: 'fused.crossEntropy', cuda: /liger_cross_entropy|cross_entropy_(fwd|bwd|forward|backward)/i, type: /^(CrossEntropyLoss\w*)$/ },
  { op: 'fused.linearAttention', type: /^Chunk(Gated|Bwd|Fwd|Local|Scaled)\w*$|^(RecomputeWU\w*|SolveTril\w*|CausalConv1d\w*)$/, cuda: /chunk_(gated|fwd|bwd|delta|scaled|local|o_)|causal_conv1d|solve_tril|fused_recurrent|recompute_w_u|selective_scan/i },
  { op: 'fused.moePermute', type: /^MoeTokenPermute\w*$/ },
  { op: 'fused.moeUnpermute', type: /^MoeTokenUnpermute\w*$/ },
  { op: 'fused.groupedMatmul', type: /^GroupedMatmul\w*$/, cuda: /grouped_?gemm|group_gemm|GroupGemm|ptrArrayMatmul/i },
  { op: 'fused.adamw', type: /^(ApplyAdamW\w*|ApplyFusedEmaAdam)$/, cuda: /FusedAdamMathFunctor|FusedOptimizerTensorListMetadata/ },
  { op: 'fused.inductor', cuda: /^triton_(poi|red|per|tem|mm|spl|unk)_fused_/ },

  // Optimizer, norms over parameter lists.
  { op: 'foreach', type: /^Foreach\w+$/, cuda: /multi_tensor_apply_kernel/ },
  { op: 'vectorNorm', type: /^LpNorm\w*$/, cuda: /LpNormFunctor|lpnorm_cleanup|NormTwoOps|NormOneOps|NormOps/ },
  { op: 'lerp', api: /^Lerps?$/, type: /^Lerp\w*$/, cuda: /lerp/ },
  { op: 'addcmul', type: /^Addcmul$/, cuda: /addcmul/ },
  { op: 'addcdiv', type: /^Addcdiv$/, cuda: /addcdiv/ },

  // Loss and softmax.
  { op: 'nllLossBackward', type: /^NLLLossGrad$/, cuda: /nll_loss_backward/ },
  { op: 'nllLoss', type: /^NLLLoss$/, cuda: /nll_loss_forward/ },
  { op: 'mseLossBackward', type: /^MseLossGrad\w*$/, cuda: /mse_backward/ },
  { op: 'mseLoss', type: /^MseLoss(V2)?$/, cuda: /mse_(cuda_)?kernel/ },
  { op: 'logSoftmaxBackward', type: /^LogSoftmaxGrad$/, cuda: /LogSoftMaxBackwardEpilogue|log_softmax_warp_backward|softmax_warp_backward<[^>]*, true/ },
  { op: 'logSoftmax', type: /^LogSoftmaxV2$/, cuda: /LogSoftMaxForwardEpilogue|softmax_warp_forward<[^>]*, true, false/ },
  { op: 'softmaxBackward', type: /^SoftmaxGrad\w*$/, cuda: /softmax_warp_backward|cunn_SoftMaxBackward/ },
  { op: 'softmax', type: /^(SoftmaxV2|SafeSoftmax)$|^ScaledMaskedSoftmax\w*$/, cuda: /softmax_warp_forward|cunn_SoftMaxForward/ },

  // Normalisation with a kernel of its own.
  { op: 'layerNormBackward', type: /^(LayerNorm(Grad|XBackprop|BetaGammaBackprop)\w*)$/, cuda: /layer_norm_grad_input|GammaBetaBackward|cuComputePartGradGammaBeta|cuComputeGradGammaBeta/ },
  { op: 'layerNorm', type: /^LayerNorm(V\d)?$|^AddLayerNorm$/, cuda: /vectorized_layer_norm_kernel|RowwiseMoments/ },

  { op: 'groupNorm', type: /^GroupNorm(Silu)?(V\d)?$/, cuda: /GroupNorm\w*Forward/ },
  { op: 'batchNorm', type: /^(BNTrainingUpdate|BNInfer|BNTrainingReduce|BatchNorm(V\d)?)$/, cuda: /batch_norm_(collect|transform|elemt)|bn_fw_tr|batchnorm_fwd/ },

  // Activations.
  { op: 'siluBackward', type: /^(SiluGrad|SwishGrad)$/, cuda: /silu_backward/ },
  { op: 'silu', type: /^(Swish|Silu)$/, cuda: /silu_kernel/ },
  { op: 'geluBackward', type: /^GeluGrad\w*$/, cuda: /GeluBackward/ },
  { op: 'gelu', type: /^Gelu(V2)?$|^FastGelu$/, cuda: /GeluCUDAKernelImpl/ },
  { op: 'sigmoidBackward', type: /^SigmoidGrad$/, cuda: /sigmoid_backward/ },
  { op: 'sigmoid', type: /^Sigmoid$/, cuda: /sigmoid_kernel/ },
  { op: 'tanhBackward', type: /^TanhGrad$/, cuda: /tanh_backward/ },
  { op: 'tanh', type: /^Tanh$/, cuda: /tanh_kernel/ },
  { op: 'reluBackward', type: /^ReluGrad\w*$/, cuda: /threshold_kernel_impl/ },
  { op: 'relu', type: /^Relu$/ , cudaAs: 'clamp' },
  { op: 'erf', type: /^Erf$/, cuda: /erf_kernel/ },
  { op: 'mish', type: /^Mish$/, cuda: /mish_kernel/ },
  { op: 'elu', type: /^(Elu|Selu)$/, cuda: /\belu_kernel/ },
  { op: 'leakyRelu', type: /^(LeakyRelu|PRelu)$/, cuda: /leaky_relu_kernel|prelu_kernel/ },
  { op: 'hardswish', type: /^HardSwish$/, cuda: /hardswish_kernel/ },
  { op: 'hardsigmoid', type: /^HardSigmoid$/, cuda: /hardsigmoid_kernel/ },
  { op: 'softplusBackward', type: /^SoftplusV2Grad$/, cuda: /softplus_backward/ },
  { op: 'softplus', type: /^SoftplusV2$/, cuda: /softplus_kernel/ },

  // Arithmetic. The API segment tells scalar from tensor; the type alone cannot.
  { op: 'pow', api: /^Pow(TensorScalar|ScalarTensor|TensorTensor)?$/, type: /^(Pows?|Square)$/, cuda: /pow_tensor_scalar_kernel_impl|pow_tensor_tensor_kernel|pow_scalar_tensor/ },
  { op: 'rsqrt', type: /^Rsqrt$/, cuda: /rsqrt_kernel/ },
  { op: 'sqrt', type: /^Sqrt$/, cuda: /sqrt_kernel/ },
  { op: 'reciprocal', type: /^Reciprocal$/, cuda: /reciprocal_kernel/ },
  { op: 'neg', type: /^Neg$/, cuda: /neg_kernel/ },
  { op: 'exp', type: /^(Exp|Expm1)$/, cuda: /exp_kernel|expm1_kernel/ },
  { op: 'log', type: /^(Log|Log1p|Log2)$/, cuda: /log_kernel|log1p_kernel|log2_kernel/ },
  { op: 'cos', type: /^Cos$/, cuda: /cos_kernel/ },
  { op: 'sin', type: /^Sin$/, cuda: /sin_kernel/ },
  { op: 'abs', type: /^Abs$/, cuda: /abs_kernel|AbsFunctor/ },
  { op: 'adds', api: /^Adds$/, cuda: /CUDAFunctorOnSelf_add|BUnaryFunctor<[^>]*AddFunctor/ },
  { op: 'rsubs', api: /^Rsubs?$/, cuda: /CUDAFunctorOnOther_add/ },
  { op: 'subs', api: /^Subs$/, cudaAs: 'adds' },
  { op: 'sub', api: /^Sub$/, type: /^Sub$/, cudaAs: 'add' },
  { op: 'add', api: /^Add$/, type: /^(Add|AddV2|Axpy\w*)$/, cuda: /CUDAFunctor_add|AddFunctor/ },
  { op: 'divs', api: /^Divs$/, cudaAs: 'muls' },
  { op: 'div', api: /^Div(Mod)?$/, type: /^(RealDiv|Div)$/, cuda: /BinaryFunctor<[^>]*DivFunctor|DivFunctor|div_true_kernel/ },
  { op: 'muls', api: /^Muls$/, type: /^Muls$/, cuda: /[AB]UnaryFunctor<[^>]*MulFunctor|MulScalarFunctor/ },
  { op: 'mul', api: /^Mul$/, type: /^Mul$/, cuda: /MulFunctor/ },
  { op: 'clamp', type: /^(ClipByValue\w*|Maximum|Minimum)$/, cuda: /launch_clamp_scalar|clamp_(min|max)?_?(scalar_)?kernel|clamp_kernel/ },

  // Reductions.
  { op: 'mean', api: /^Mean\w*$/, type: /^ReduceMean\w*$/, cuda: /reduce_kernel.*MeanOps/ },
  { op: 'sum', api: /^ReduceSum\w*$/, type: /^ReduceSum\w*$/, cuda: /reduce_kernel.*sum_functor/ },
  { op: 'max', type: /^(ArgMax\w*|ReduceMax\w*|ArgMin\w*|ReduceMin\w*)$/, cuda: /reduce_kernel.*(MaxOps|MinOps|ArgMax|ArgMin|max_functor|min_functor|MaxNanFunctor)/ },
  { op: 'var', api: /^(Var|Std)(Mean)?(Correction)?$/, type: /^(ReduceVar\w*|ReduceStd\w*|Var|Std)$/, cuda: /reduce_kernel.*WelfordOps/ },
  { op: 'prod', type: /^ReduceProd\w*$/, cuda: /reduce_kernel.*prod_functor/ },
  { op: 'cumsum', type: /^Cumsum\w*$/, cuda: /DeviceScan|tensor_kernel_scan/ },
  { op: 'bincount', type: /^(Bincount|Histogram\w*)$/, cuda: /kernelHistogram1D/ },
  { op: 'any', type: /^Reduce(Any|All)\w*$/, cuda: /reduce_kernel.*(or_kernel|and_kernel|func_wrapper_t<bool)/ },

  // Selection and reordering by data.
  { op: 'nonzero', type: /^NonZero$/, cuda: /DeviceSelectSweep|write_indices|nonzero/i },
  { op: 'where', type: /^SelectV2$|^Select$/, cuda: /where_kernel/ },
  { op: 'maskedFill', type: /^MaskedFill\w*$/, cuda: /masked_fill/ },
  { op: 'topk', type: /^TopK\w*$/, cuda: /gatherTopK|radixFindKthValues|computeBlockwiseWithinKCounts|bitonicSortKVInPlace/ },
  { op: 'sort', type: /^Sort\w*$/, cuda: /RadixSort|radixSortKV|warpMergeSort/ },
  { op: 'embeddingBackward', type: /^EmbeddingDenseGrad\w*$/, cuda: /embedding_backward|compute_grad_weight|sum_and_scatter|krn_partial/ },
  { op: 'indexSelect', api: /^(IndexSelect|Embedding)$/, type: /^Gather(V2|V3)?$/, cuda: /indexSelect(Large|Small)Index|vectorized_gather_kernel/ },
  { op: 'indexAdd', type: /^(InplaceIndexAdd\w*|InplaceScatterAdd)$/, cuda: /indexFunc(Large|Small)Index/ },
  { op: 'indexPut', type: /^(IndexPut\w*|IndexCopy|IndexFill\w*|InplaceUpdate)$/, cuda: /index_put_kernel|indexing_backward|index_copy_kernel|index_fill_kernel/ },
  { op: 'index', type: /^Index$/, cuda: /index_elementwise_kernel|index_kernel_impl/ },
  { op: 'gather', type: /^GatherElements\w*$/, cuda: /scatter_gather_internal_kernel<false/ },
  { op: 'scatter', type: /^Scatter\w*$/, cuda: /scatter_gather_internal_kernel<true|scatter_fill_internal/ },
  { op: 'oneHot', type: /^OneHot$/ },
  { op: 'compare', type: /^(Equal|NotEqual|Greater|GreaterEqual|Less|LessEqual|IsNan|IsInf|IsFinite)$/, cuda: /Compare(Eq|Ne|Lt|Gt|Le|Ge)?Functor|compare_scalar_kernel|compare_kernel|isfinite|isnan/ },
  { op: 'logical', type: /^(Logical\w+|Bitwise\w+)$/, cuda: /logical_(and|or|not|xor)|bitwise_|BitwiseAnd|BitwiseOr/ },
  { op: 'floor', type: /^(FloorDiv|Floor|Ceil|Round)$/, cuda: /floor_kernel|ceil_kernel|round_kernel|div_floor|div_trunc/ },
  { op: 'fmod', type: /^(FloorMod|Mod)$/, cuda: /remainder_kernel|fmod_kernel/ },
  { op: 'solveTriangular', type: /^MatrixTriangularSolve$/, cuda: /trsm/ },
  { op: 'cumprod', type: /^Cumprod$/ },
  { op: 'sign', type: /^Sign$/, cuda: /sign_kernel/ },
  { op: 'logsigmoid', type: /^LogSigmoid\w*$/, cuda: /log_sigmoid/ },
  { op: 'triu', type: /^(Triu|Tril)$/, cuda: /triu_tril_kernel/ },
  { op: 'arange', type: /^Range$/, cuda: /arange_cuda_out|elementwise_kernel_with_index/ },

  // Matrix units.
  { op: 'bmm', type: /^BatchMatMul\w*$/ , cudaAs: 'matmul' },
  { op: 'matmul', type: /^(MatMul\w*|GEMM\w*)$/, cuda: /gemm|nvjet|cutlass|^Cijk_|gemv|dot_kernel|splitK|ampere_|volta_s|hgemm|magma_/i },
  { op: 'convBackward', type: /^Conv\w*Backprop\w*$/, cuda: /wgrad|dgrad|conv_depthwise\w*_backward|bgrad/i },
  { op: 'conv', type: /^(Conv[123]D\w*|DepthwiseConv\w*)$/, cuda: /conv|winograd|implicit_convolve|im2col/i },

  // Dropout.
  { op: 'random', type: /^(Bernoulli|Exponential|RandLike|StatelessRandom\w*|DSARandom\w*|StatelessBernoulli\w*)$/, cuda: /distribution_(elementwise|nullary)|bernoulli/ },
  { op: 'dropoutMask', type: /^(DSAGenBitMask|StatelessDropOutGenMask|DropOutGenMask\w*)$/ },
  { op: 'dropout', type: /^DropOutDoMask\w*$/, cuda: /fused_dropout_kernel|masked_scale_kernel/ },

  // Moving and filling.
  { op: 'cat', api: /^Cat$/, type: /^(Concat\w*)$/, cuda: /CatArrayBatchedCopy/ },
  { op: 'stack', api: /^Stack$/, type: /^Pack$/ , cudaAs: 'cat' },
  { op: 'pad', api: /^ConstantPadNd$/, type: /^(PadV3\w*|Pad|ConstantPadNd)$/ },
  { op: 'fill', api: /^(Zero|One|FillScalar|FillTensor)$/, type: /^(ZerosLike|OnesLike|Fill|Fills)$/, cuda: /FillFunctor/ },
  { op: 'memset', type: /^(MemSet|AtomicAddrClean)$/i, cuda: /^Memset/i },
  { op: 'cast', api: /^Cast$/, type: /^Cast$/, cuda: /float(16|8)?\w*_copy_kernel_cuda|LoadWithCast<1>|bfloat16tofloat32|float16tofloat32/ },
  { op: 'copy', api: /^(Copy|Contiguous)$/, type: /^(TensorMove|Transpose|ViewCopy|Slice|StridedSlice\w*|AsStrided|BroadcastTo|Expand|Tile|Identity|TransData|Reshape|SplitV?D?|Split\w*|ReverseV2|Roll)$/, cuda: /direct_copy_kernel|batched_transpose|nchwToNhwc|nhwcToNchw|^Memcpy/ },
  { op: 'communication', type: /^(hcom_\w+|Hcom\w+|Hccl\w+|allreduce\w*)$/i, cuda: /nccl|rccl/i },
];

/** Kernel types launched for a consumer whose input is not laid out as it needs (the API segment then names the consumer). */
export const SATELLITE_TYPES: ReadonlySet<string> = new Set([
  'Slice', 'StridedSlice', 'StridedSliceD', 'AsStrided', 'Transpose', 'TensorMove', 'Cast', 'BroadcastTo', 'ViewCopy', 'MemSet', 'TransData', 'Fill', 'ZerosLike', 'PadV3',
]);
