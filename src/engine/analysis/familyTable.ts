/**
 * The one ordered table from kernels to families: the first rule whose every pattern matches decides. `api` and `type` are
 * the parts of an Ascend name (`aclnnAdds_AddAiCore_Add` → api `Adds`, type `Add`; see `operators/kernelToken`), empty
 * elsewhere; `name` is the whole kernel name. Names seen in real torch_npu profiles of 2023 to 2025 and in Kineto traces of
 * CUDA and ROCm of 2021 to 2026.
 */
import type { Family } from '../../protocol/families';

export interface FamilyTableRule {
  readonly family: Family;
  readonly api?: RegExp;
  readonly type?: RegExp;
  readonly core?: RegExp;
  readonly name?: RegExp;
}

/** Ascend operator types; whole words, since `Cast` must not take `BroadcastTo`. */
const ASCEND: readonly FamilyTableRule[] = [
  { family: 'communication', core: /^(HCCL|COMMUNICATION)$/ },
  // Fused with a matmul (AllGatherMatmul …): counted as compute, drawn as mixed.
  { family: 'matmul', type: /^(AllGather|AlltoAll\w*)?(Grouped)?MatMul(V\d)?(AllReduce|ReduceScatter|AlltoAll)?\w*$/i },
  { family: 'communication', type: /^(hcom_|Hccl|allreduce|allgather|reducescatter|alltoall|broadcast$)/i },
  // Helpers of an optimizer's own call count with it; helpers of any other call go by what they do.
  { family: 'optimizer', api: /^(ApplyAdam|ApplyFused|Foreach|LinalgVectorNorm|Addcdiv|Addcmul|Lerp)/ },
  { family: 'optimizer', type: /^(Apply(Adam|Sgd|Momentum|RMSProp|Adagrad|Fused)|Foreach|LpNorm|Addcdiv|Addcmul|Lerp|NPUGetFloatStatus|NPUClearFloatStatus|FusedEmaAdam)/i },
  { family: 'linearAttention', type: /^(Chunk(Gated|Bwd|Fwd|Local|Scaled|Delta)|(Recurrent)?GatedDeltaRule|RecurrentGated|RecomputeWU|PrepareWY|SolveTril|CausalConv1d|FusedGdn|Mamba|SelectiveScan)/i },
  { family: 'loss', type: /^(LogSoftmax|NLLLoss|SoftmaxCrossEntropy|SparseSoftmaxCrossEntropy|CrossEntropy|FusedLinearCrossEntropy|FusedCrossEntropy|MseLoss|SmoothL1Loss|L1Loss|BinaryCrossEntropy|BCEWith|KLDiv|CTCLoss|SigmoidCrossEntropy)/i },
  { family: 'norm', type: /(Rms|Layer|Group|Batch|Instance|Deep|L2)Norm|^(BN|SyncBN|BNTraining|BNInfer|Rsqrt|L2Normalize)/i },
  { family: 'matmul', type: /(Batch|Grouped|Quant\w*)?MatMul|^(Conv\d|Conv2D|Conv3D|DepthwiseConv|Deconv|Gemm|Einsum|BMM|FlashAttention|PromptFlash|IncreFlash|FusedInfer|PagedAttention|\w*Attention|RingAttention|Softmax|ScaledMaskedSoftmax|ScaledUpperTriang|MaskedSoftmax|MoeFinalizeRouting\w*Matmul|GroupedMatmul)/i },
  { family: 'hostSync', type: /^(NonZero|NonZeroWithValue|MaskedSelect|Unique)/i },
  { family: 'glue', type: /^(Cast|TransData|Transpose|TensorMove|Identity|ViewCopy|AsStrided|Slice|StridedSlice|SplitV?D?$|Split|Concat|Pack|Unpack|Pad|MirrorPad|MemSet|ZerosLike|OnesLike|Fill|BroadcastTo|Expand|Tile|Gather|Scatter|InplaceScatter|InplaceIndex|Index|EmbeddingDenseGrad|EmbeddingBag|UnsortedSegment|LinearIndex|Range|Sort|TopK|MoeToken|MoeInit|MoeFinalize|MoeCompute|MoeGating|MoeDistribute|OneHot|ReverseV?|Roll|Tril|Triu|Eye|Flatten|Reshape|Copy|Im2col|Col2im|Cumsum|Histogram|Bincount|SearchSorted|ScatterPaKvCache|KvCache|ReshapeAndCache|Format|Memcpy|DynamicQuant|AscendQuant|AscendDequant|AscendAntiQuant)/i },
  { family: 'elementwise', type: /^(Add|Adds|Sub|Subs|Mul|Muls|Div|RealDiv|Div\w*|Axpy\w*|Pow|Pows|Square|Sqrt|Reciprocal|Exp|Expm1|Log|Log1p|Neg|Abs|Sign|Floor|Ceil|Round|Trunc|Mod|FloorMod|FloorDiv|Maximum|Minimum|Clip\w*|Clamp|Erf\w*|Sin|Cos|Tan|Tanh\w*|Sigmoid\w*|Swish\w*|Silu\w*|SwiGlu\w*|ClippedSwiglu|GeGlu\w*|Gelu\w*|FastGelu\w*|Relu\w*|LeakyRelu\w*|Elu\w*|HardS\w*|Softplus\w*|Mish\w*|Glu\w*|ThresholdGrad\w*|Threshold\w*|RotaryPositionEmbedding\w*|RotaryMul\w*|ApplyRotary\w*|InterleaveRope|Rope\w*|Reduce\w+|Arg(Max|Min)\w*|Cummax|Cummin|Prod|Mean|Max\w*|Min|Any|All|Equal|NotEqual|Greater\w*|Less\w*|Logical\w+|Bitwise\w+|IsNan|IsInf|IsFinite|Select\w*|Where|MaskedFill\w*|DropOut\w*|Dropout\w*|DSA\w+|Stateless\w+|Random\w*|Normal|Uniform|Bernoulli|Multinomial|AdaptiveAvgPool\w*|AdaptiveMaxPool\w*|AvgPool\w*|MaxPool\w*|Pool\w*|Upsample\w*|Resize\w*|Interpolate\w*|Lcm|Gcd|Addr|Fused\w*Mul\w*|Muls?Add\w*|Xlogy|Nan\w*|ForeachNonFinite\w*)$/i },
];

/** An inductor kernel that names one of these operators among its origins (`triton_poi_fused_addmm_silu_2` holds `silu`). */
function inductor(operators: string): RegExp {
  return new RegExp(`^triton_\\w+?_fused_(\\w*_)?(${operators})(_|$)`);
}

/** CUDA, ROCm, Triton and hand-written kernels, by name. Templates of ATen name their functor, so functors come first. */
const BY_NAME: readonly FamilyTableRule[] = [
  { family: 'communication', name: /nccl|rccl|^hcom_|hccl|one_?shot_?all_?reduce|two_?shot_?all_?reduce|cross_device_reduce|allreduce_fusion|all_reduce_one|nvshmem|deep_?ep::|internode|intranode|msccl/i },
  // An inductor kernel is one pointwise or reduction loop; the matmuls among its origins ran elsewhere.
  { family: 'loss', name: inductor('nll_loss_forward|nll_loss_backward|nll_loss|cross_entropy\\w*|_log_softmax\\w*|log_softmax') },
  { family: 'optimizer', name: inductor('addcdiv|addcmul|lerp|_foreach\\w*') },
  { family: 'norm', name: inductor('native_layer_norm\\w*|native_group_norm\\w*|native_batch_norm\\w*|layer_norm|group_norm|batch_norm|_fused_rms_norm\\w*|rms_norm|rsqrt|linalg_vector_norm') },
  { family: 'matmul', name: /^triton_(tem|mm|bmm)_|^triton_per_fused_\w*softmax/ },
  { family: 'elementwise', name: inductor('mul|add|sub|div|silu|gelu|sigmoid|relu|leaky_relu|tanh|exp|neg|pow|sin|cos|sum|mean|where|clamp\\w*|native_dropout|dropout|rand\\w*|erf|log|softplus|sqrt|reciprocal|abs|amax|amin|max|min|argmax|eq|ge|gt|le|lt|ne|masked_fill|bitwise\\w*|logical\\w*|cumsum|threshold_backward|convolution') },
  { family: 'glue', name: inductor('_?to_copy|copy_?|clone|cat|view|_unsafe_view|permute|transpose|t|slice|constant_pad_nd|split|stack|index\\w*|gather|scatter\\w*|embedding\\w*|arange|zeros\\w*|full\\w*|ones\\w*|fill\\w*|expand|unsqueeze|squeeze|select\\w*|new_zeros') },
  { family: 'elementwise', name: /^triton_(poi|red|per|for)_fused|^triton__\d/ },

  { family: 'optimizer', name: /multi_tensor_apply|adam(?!ant)|adagrad|FusedOptimizer|fused_sgd|FusedSgd|lamb_stage|LAMBStage|addcdiv|addcmul|lerp_|lpnorm|LpNormFunctor|NormTwoOps|NormOneOps|NormOps|amp_non_finite|amp_update_scale|l2_norm_kernel|multi_tensor/i },
  { family: 'loss', name: /nll_loss|ClassNLLCriterion|cross_entropy|CrossEntropy|LogSoftMax|log_softmax|softmax_warp_(forward|backward)<[^>]*, true\b|mse_(backward_)?(cuda_)?kernel|mse_kernel|smooth_l1|huber|binary_cross_entropy|kl_div|ctc_loss|l1_loss|focal_loss|grpo_loss/i },
  { family: 'linearAttention', name: /gated_delta|delta_rule|chunk_(fwd|bwd|local_cumsum|scaled_dot|gla|kda|transform|scan|state|cumsum|o_)|prepare_wy|recompute_w_u|solve_tril|merge_16x16|fused_recurrent|causal_conv1d|selective_(scan|state)|_ssd_|lightning_attn|linear_attn|dqkwg|chunk_gated|wkv\d?_|retention|mamba/i },
  { family: 'norm', name: /layer_?norm|rms_?norm|group_?norm|batch_?norm|instance_?norm|l2_?norm|\bbn_(fw|bw)|RowwiseMoments|GammaBeta|ComputePartGrad|ComputeFusedParams|ComputeBackwardFusedParams|ComputeInternalGradients|rsqrt_kernel|norm_(fwd|bwd|forward|backward)/i },
  { family: 'matmul', name: /matmul_ogs|gemm\w*(swiglu|silu|gelu)|splitK|paged_attention|cublasLtEpilogue|ImplicitGemm|implicit_gemm|GridwiseGemm|mult_and_sum_complex/i },
  { family: 'elementwise', name: /swiglu|silu_and_mul|act_and_mul|gelu_and_mul|geglu|rotary|rope_|_rope|apply_rope/i },
  { family: 'hostSync', name: /nonzero|DeviceSelectSweep|write_indices|masked_select|Memcpy DtoH|CopyDeviceToHost/i },

  // ATen's pointwise wrappers: what they wrap decides between moving data and computing.
  { family: 'glue', name: /(elementwise|unrolled|vectorized)\w*_kernel\w*<.*(copy_kernel|copy_device_to_device|FillFunctor|fill_kernel|arange|LinSpace|triu_tril)|elementwise_kernel_with_index/ },
  { family: 'glue', name: /index_elementwise|gather|scatter|indexSelect|index_select|indexFunc|indexing_backward|index_put|index_copy|embedding|CatArray|transpose|permute|Permute|im2col|col2im|Im2d2Col|nchwToNhwc|nhwcToNchw|NCHW2|2NCHW|copy_kernel|direct_copy|copyPackedKernel|convertTensor|tensor_copy|Memcpy|Memset|FillBuffer|fillBuffer|memset|kvcache|kv_cache|kv_indices|reshape_and_cache|triu_tril|constant_pad|reflection_pad|replication_pad|arange|one_hot|roll_cuda|flip_|sbtopk|mbtopk|gatherTopK|topk|bitonicSort|radixSort|RadixSort|DeviceScan|DeviceReduceByKey|DeviceCompactInit|DeviceRunLength|DeviceSegmentedSort|tensor_kernel_scan|lookback_scan|partition_config|transform_config|moe_align|moe_permute|moe_sum|routing|sum_bitmatrix|bitmatrix|finalize_matmul_scatter|bucketize|bounds_check|clamp_position|SubTensorOp|OpTensor|kernelHistogram|(?<!broad)cast_kernel|quantize|per_token_group_quant|dequant|to_copy|split_qkv|stack_kernel/i },
  { family: 'elementwise', name: /elementwise|elementWise|reduce_kernel|ReduceOp|fused_dropout|dropout|distribution_|max_pool|avg_pool|average_pool|adaptive_(avg|max|average)|pooling|upsample|softplus|prelu|glu_kernel|where_kernel|masked_fill|masked_scale|clamp|activation|op_generic|op_tensor|addTensor|scalePackedTensor|transform_bias_rescale|DeviceReduce|reduce_config|philox|random|bernoulli|uniform|add_bias|bias_add|saxpy|AddFunctor|MulFunctor|cumprod/i },
  { family: 'matmul', name: /gemm|gemv|matmul|nvjet|cublas|cutlass|^Cijk_|Cijk_|xmma|wgrad|dgrad|fprop|implicit_convolve|conv(?!ert)|winograd|fft[12]d|_fft|fft_|igemm|splitK|scudnn|cudnn|MIOpen|miopen|flash|fmha|attention|attn|\bmha|softmax|SoftMax|wmma|hmma|dot_kernel|dot_product|deep_gemm|marlin|machete|_mm_kernel|mm_kernel|moe_kernel|grouped_mm|flip_filter|naive_conv|compute\w*OffsetsKernel|ck_tile|tensile|nvfp|mla_|paged|decode_kernel|sgmv|bgmv|grouped/i },
  { family: 'elementwise', name: /(silu|gelu|relu|sigmoid|tanh|softcap|add|mul|sub|div|exp|log|sqrt|pow|neg|abs|sum|mean|max|min|compare|logical|bitwise)_?(fwd|bwd|forward|backward|cuda|kernel)/i },
  { family: 'glue', name: /(copy|cast|fill|slice|pad|split|cat|concat|pack|shuffle|swap|zero|tile|expand|repeat)\w*(kernel|_fwd|_bwd|_triton)?/i },
];

/** Operators of a recording on the CPU, where they stand for kernels (`links/hostWork`). */
const ATEN: readonly FamilyTableRule[] = [
  { family: 'matmul', name: /^aten::(linear|matmul|mm|addmm|mv|bmm|baddbmm|einsum|mkldnn_linear|convolution\w*|_softmax\w*|_?scaled_dot_product\w*)$/ },
  { family: 'loss', name: /^aten::(nll_loss\w*|_log_softmax\w*)$/ },
  { family: 'optimizer', name: /^aten::(addcdiv|addcmul|lerp|_foreach\w*|_fused_adam\w*|linalg_vector_norm)_?$/ },
  { family: 'norm', name: /^aten::(native_layer_norm\w*|_?(fused_)?rms_norm\w*|rsqrt)_?$/ },
  { family: 'hostSync', name: /^aten::nonzero/ },
  { family: 'glue', name: /^aten::(_to_copy|clone|copy|repeat|flip|roll|cat|stack|constant_pad_nd|index\w*|_index\w*|embedding\w*|gather|scatter\w*|one_hot|topk|sort|argsort|cumsum|bincount|histc|triu|tril|arange|zeros?|ones|full|fill|(zeros|ones|full)_like|new_zeros)_?$/ },
  { family: 'elementwise', name: /^aten::(add|sub|rsub|mul|div|pow|square|sqrt|reciprocal|neg|exp|log|cos|sin|abs|erf|clamp\w*|minimum|maximum|silu\w*|gelu\w*|sigmoid\w*|tanh\w*|relu|threshold_backward|softplus\w*|mean|sum|max|amax|argmax|min|cumprod|any|all|where|masked_fill|eq|ne|lt|le|gt|ge|logical_\w+|bitwise_\w+|native_dropout|bernoulli|normal|uniform|exponential)_?$/ },
  { family: 'other', name: /^aten::/ },
];

/** What only the core tells: the matrix unit, and the random number engine. */
const BY_CORE: readonly FamilyTableRule[] = [
  { family: 'matmul', core: /^(MIX_AIC|AI_CUBE_CORE)$/ },
  { family: 'elementwise', core: /^DSA/ },
];

export const FAMILY_TABLE: readonly FamilyTableRule[] = [...ASCEND, ...ATEN, ...BY_NAME, ...BY_CORE];
