import assert from 'node:assert/strict';
import { readableName } from '../../src/cli/output/kernelName';

describe('readable kernel names', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, at::detail::Array<char*, 3> >(int, float)', 'vectorized_elementwise_kernel<… MulFunctor …>'],
    ['void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>>(int)', 'elementwise_kernel<… direct_copy_kernel_cuda …>'],
    ['void (anonymous namespace)::softmax_warp_forward<float, 7, false>(float*, float const*, int)', 'softmax_warp_forward<float, 7, false>'],
    ['ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'],
    ['aclnnMul_MulAiCore_Mul', 'aclnnMul_MulAiCore_Mul'],
    ['odd)', 'odd)'], ['', ''],
  ];
  for (const [name, readable] of cases) {
    it(readable === '' ? 'nothing' : readable, () => assert.equal(readableName(name), readable));
  }
});
