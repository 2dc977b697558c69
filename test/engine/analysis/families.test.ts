import assert from 'node:assert/strict';
import { assignFamilies, compileFamilyRules, familyOf } from '../../../src/engine/analysis/families';
import { rankReport } from '../../../src/engine/analysis/rankReport';
import { EventKind, type Backend } from '../../../src/engine/profile/columns';
import { FAMILIES } from '../../../src/protocol/families';
import { rankOf } from './rankBuilder';

/** One kernel per line: family, name, and for Ascend the type and core. The names are as profilers wrote them. */
const KERNELS: readonly (readonly [string, string, string?, string?])[] = [
  // torch_npu, aclnn names.
  ['matmul', 'aclnnMatmul_MatMulV3Common_MatMulV3', 'MatMulV3', 'AI_CORE'],
  ['matmul', 'aclnnFlashAttentionScoreGrad_FlashAttentionScoreGrad_FlashAttentionScoreGrad', 'FlashAttentionScoreGrad', 'MIX_AIC'],
  ['matmul', 'aclnnGroupedMatmulV4_GroupedMatmul_GroupedMatmul', 'GroupedMatmul', 'MIX_AIC'],
  ['glue', 'aclnnMatmul_TransData_TransData', 'TransData', 'AI_VECTOR_CORE'],
  ['glue', 'aclnnInplaceCopy_CastAiCore_Cast', 'Cast', 'AI_VECTOR_CORE'],
  ['glue', 'aclnnMul_BroadcastToAiCore_BroadcastTo', 'BroadcastTo', 'AI_VECTOR_CORE'],
  ['elementwise', 'aclnnMuls_MulAiCore_Mul', 'Mul', 'AI_VECTOR_CORE'],
  ['elementwise', 'aclnnSilu_SiluAiCore_Swish', 'Swish', 'AI_VECTOR_CORE'],
  ['elementwise', 'aclnnMaxDim_MaxN_ArgMaxWithValue', 'ArgMaxWithValue', 'AI_VECTOR_CORE'],
  ['norm', 'aclnnRsqrt_RsqrtAiCore_Rsqrt', 'Rsqrt', 'AI_VECTOR_CORE'],
  ['loss', 'aclnnLogSoftmaxBackward_LogSoftmaxGrad_LogSoftmaxGrad', 'LogSoftmaxGrad', 'AI_VECTOR_CORE'],
  ['loss', 'aclnnNLLLoss_NLLLossAiCore_NLLLoss', 'NLLLoss', 'MIX_AIV'],
  ['glue', 'aclnnNLLLoss_NLLLossAiCore_MemSet', 'MemSet', 'AI_VECTOR_CORE'],
  ['optimizer', 'aclnnForeachAddListV2_ForeachAddListV2_ForeachAddList', 'ForeachAddList', 'AI_VECTOR_CORE'],
  ['optimizer', 'aclnnApplyAdamWV2_PowsAiCore_Pows', 'Pows', 'AI_VECTOR_CORE'],
  ['optimizer', 'aclnnLinalgVectorNorm_LpNormV2_LpNormV2', 'LpNormV2', 'MIX_AIV'],
  ['hostSync', 'aclnnNonzeroV2_NonzeroAiCore_NonZero', 'NonZero', 'MIX_AIV'],
  ['linearAttention', 'ChunkGatedDeltaRuleFwdH', 'ChunkGatedDeltaRuleFwdH', 'MIX_AIC'],
  ['matmul', 'SomethingNew', 'SomethingNew', 'MIX_AIC'],
  ['other', 'SomethingNew', 'SomethingNew', 'AI_VECTOR_CORE'],
  // Bare types and graph names.
  ['norm', 'RmsNormGrad', 'RmsNormGrad', 'MIX_AIV'],
  ['elementwise', 'RotaryPositionEmbedding', 'RotaryPositionEmbedding', 'AI_VECTOR_CORE'],
  ['glue', 'trans_TransData_12', 'TransData', 'AI_VECTOR_CORE'],
  ['elementwise', 'StatelessDropOutGenMask23/DSASTATELESSGENBITMASK', 'DSAStatelessGenBitMask', 'DSA_SQE'],
  ['communication', 'hcom_allReduce__592_0_1', 'hcom_allReduce_', 'COMMUNICATION'],
  ['matmul', 'AllGatherMatmul', 'AllGatherMatmul', 'MIX_AIC'],
  // Level0: no type, no core.
  ['glue', 'trans_TransData_12', 'N/A', 'N/A'],
  ['matmul', 'Conv2DBackpropFilter10', 'N/A', 'N/A'],
  ['glue', 'Conv2DBackpropFilter10_MemSet', 'N/A', 'N/A'],
  ['elementwise', 'RealDiv138', 'N/A', 'N/A'],
  ['optimizer', 'aclnnForeachMulScalarV2_ForeachMulScalarV2_ForeachMulScalar', 'N/A', 'N/A'],
  // CUDA, old and new.
  ['matmul', 'volta_sgemm_128x64_nn'],
  ['matmul', 'nvjet_sm103_tst_512x8_64x3_2x1_v_bz_NNT'],
  ['matmul', 'sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas'],
  ['matmul', 'void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8::Params)'],
  ['matmul', 'void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t>>(pytorch_flash::Flash_fwd_params)'],
  ['matmul', 'void splitKreduce_kernel<32, 16, int, float, float, float, float, true, true, false>(cublasSplitKParams<float>)'],
  ['matmul', 'void (anonymous namespace)::softmax_warp_forward<float, float, float, 7, false, false>(float*, float const*, int, int, int, bool const*, int, bool)'],
  ['loss', 'void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>(float*, float const*, int, int, int, bool const*, int, bool)'],
  ['loss', 'void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(float*, float*)'],
  ['glue', 'void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}, std::array<char*, 2ul>>(int)'],
  ['glue', 'void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>)'],
  ['glue', 'void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(cudnn::ops::nchw2nhwc_params_t<float>, float const*, float*)'],
  ['elementwise', 'void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> > > >(int)'],
  ['elementwise', 'void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, unsigned int, float, 4> >(float)'],
  ['norm', 'void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, true>(int, float, float const*)'],
  ['norm', 'void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 128, true, 1, true>(cudnnTensorStruct, float const*)'],
  ['optimizer', 'void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>>(int)'],
  ['optimizer', 'void at::native::vectorized_elementwise_kernel<4, at::native::addcdiv_cuda_kernel(at::TensorIteratorBase&, c10::Scalar const&)::{lambda()#2}>(int)'],
  ['communication', 'ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)'],
  ['communication', 'ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)'],
  // ROCm.
  ['matmul', 'Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB1_AFC1.kd'],
  ['matmul', '_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_28GridwiseGemm_xdl_cshuffle_v3'],
  ['norm', '_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib'],
  ['elementwise', '_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i'],
  ['norm', 'MIOpenBatchNormFwdTrainSpatial'],
  // Triton and inductor: what is fused decides, not what it was fused after.
  ['elementwise', 'triton_poi_fused__unsafe_view_mul_silu_2'],
  ['elementwise', 'triton_poi_fused_addmm_gelu_view_15'],
  ['glue', 'triton_poi_fused__to_copy_cat_slice_1'],
  ['glue', 'triton_poi_fused__scaled_dot_product_flash_attention_cat_transpose_view_10'],
  ['norm', 'triton_red_fused_add_mean_mul_pow_rsqrt_0'],
  ['loss', 'triton_red_fused__log_softmax_nll_loss_forward_3'],
  ['elementwise', 'triton__0d1d2d3d'],
  ['matmul', '_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu'],
  ['elementwise', '_swiglu_forward_kernel'],
  ['loss', 'liger_cross_entropy_kernel'],
  ['norm', '_rms_norm_backward_kernel'],
  ['linearAttention', 'chunk_gated_delta_rule_fwd_kernel_h_blockdim64'],
  ['linearAttention', 'chunk_bwd_kernel_dqkwg'],
  ['linearAttention', '_causal_conv1d_fwd_kernel'],
  ['norm', 'layer_norm_gated_bwd_kernel1'],
  ['other', 'Kernel'],
];

describe('families', () => {
  for (const [family, name, type = '', core = ''] of KERNELS) {
    it(`${name.slice(0, 70)} ${type} is ${family}`, () => {
      assert.equal(familyOf(name, type, core), family);
    });
  }

  it('know every kernel by exactly one family and count all of them', () => {
    const data = rankOf({ events: KERNELS.map(([, name, type, core], i) => ({ start: i * 10, duration: 5, name, type, core })) });
    assignFamilies(data);
    const { families, kernels } = rankReport(data, { label: '' });
    assert.equal(families.reduce((sum, { count }) => sum + count, 0), kernels.count);
    assert.equal(families.reduce((sum, { totalUs }) => sum + Math.round(totalUs * 1000), 0), Math.round((kernels.totalUs ?? NaN) * 1000));
    assert.deepEqual(families.map(({ family }) => family), FAMILIES.filter((family) => families.some((each) => each.family === family)));
  });

  it('let the kind of an event speak before its name', () => {
    const data = rankOf({ events: [
      { start: 0, duration: 1, kind: EventKind.Communication, name: 'MatMul', type: 'MatMul' }, { start: 1, duration: 1, kind: EventKind.Copy, name: 'Memcpy HtoD (Pageable -> Device)' },
      { start: 2, duration: 1, kind: EventKind.Copy, name: 'Memcpy DtoH (Device -> Pageable)' }, { start: 3, duration: 1, kind: EventKind.Set, name: 'Memset (Device)' },
    ] });
    assignFamilies(data);
    assert.deepEqual([...data.deviceEvents.family].map((index) => FAMILIES[index]), ['communication', 'glue', 'hostSync', 'glue']);
  });

  it('take the user\'s rules first, in their order, by name or type, and name rules that cannot be used', () => {
    const rules = [{ pattern: '^my_', family: 'norm' }, { pattern: 'my_special', family: 'loss' }, { pattern: '(', family: 'norm' }, { pattern: 'x', family: 'nonsense' }, { pattern: '^matmulv3$', family: 'glue' }];
    const data = rankOf({ events: [{ start: 0, duration: 1, name: 'my_special_kernel' }, { start: 1, duration: 1, name: 'aclnnMatmul_MatMulV3Common_MatMulV3', type: 'MatMulV3' }] });
    assignFamilies(data, rules);
    assert.deepEqual([...data.deviceEvents.family].map((index) => FAMILIES[index]), ['norm', 'glue']);
    assert.deepEqual(compileFamilyRules(rules).problems.map(({ index, code }) => [index, code]), [[2, 'families.bad-pattern'], [3, 'families.unknown-family']]);
  });
});

describe('the core of a norm written out', () => {
  const families = (names: readonly string[], types: readonly string[], backend: Backend, rules: Parameters<typeof assignFamilies>[1] = []): readonly string[] => {
    const data = rankOf({ backend, events: names.map((name, i) => ({ start: i * 10, duration: 5, name, type: types[i] ?? '' })) });
    assignFamilies(data, rules);
    return [...data.deviceEvents.family].map((index) => FAMILIES[index]);
  };
  const ascend = ['Cast', 'Pows', 'ReduceMean', 'Add', 'Rsqrt', 'Mul', 'Mul', 'Cast', 'Swish', 'Mul', 'Cast'];
  const names = ['aclnnCast_CastAiCore_Cast', 'aclnnPowTensorScalar_PowsAiCore_Pows', 'aclnnMean_ReduceMeanAiCore_ReduceMean', 'aclnnAdds_AddAiCore_Add', 'aclnnRsqrt_RsqrtAiCore_Rsqrt',
    'aclnnMul_MulAiCore_Mul', 'aclnnMul_MulAiCore_Mul', 'aclnnCast_CastAiCore_Cast', 'aclnnSilu_SiluAiCore_Swish', 'aclnnMul_MulAiCore_Mul', 'aclnnCast_CastAiCore_Cast'];

  it('is norm on Ascend: five kernels of the eleven of a gated norm', () => {
    assert.deepEqual(families(names, ascend, 'ascend'), ['glue', 'norm', 'norm', 'norm', 'norm', 'norm', 'elementwise', 'glue', 'elementwise', 'elementwise', 'glue']);
  });

  it('is norm in the square root spelling, and on CUDA', () => {
    assert.deepEqual(families(['p', 'm', 'a', 's', 'r', 'x'], ['Pows', 'ReduceMean', 'Add', 'Sqrt', 'Reciprocal', 'Mul'], 'ascend'), Array(6).fill('norm'));
    const cuda = ['pow_tensor_scalar_kernel_impl<float, float>', 'reduce_kernel<512, 1, ReduceOp<float, MeanOps<float>', 'vectorized_elementwise_kernel<4, CUDAFunctorOnSelf_add<float>>',
      'vectorized_elementwise_kernel<4, rsqrt_kernel_cuda>', 'elementwise_kernel<128, BinaryFunctor<float, float, float, MulFunctor<float>>>'];
    assert.deepEqual(families(cuda, [], 'cuda'), Array(5).fill('norm'));
  });

  it('is not seen where the order differs, and never against the user', () => {
    assert.deepEqual(families(['m', 'p', 'a', 'x'], ['ReduceMean', 'Pows', 'Add', 'Mul'], 'ascend'), Array(4).fill('elementwise'));
    assert.equal(families(names, ascend, 'ascend', [{ pattern: '^Pows$', family: 'loss' }])[1], 'loss');
  });
});
