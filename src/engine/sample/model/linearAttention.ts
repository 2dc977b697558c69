import type { Block, KernelLine } from './kernel';
import { gatedBackward, gatedForward } from './norms';

/** The gated delta net mixer as the baseline runs it: projections, convolution by slices, Triton kernels for gate and chunks. */

const QKV = 'T,6144';
const HEADS = 'T,16,128';

/** `out = x * w[3]; out = out + F.pad(x, (0, 0, s, -s)) * w[3 - s]` for s = 1..3, then SiLU: each shift is a slice and a pad. */
const CONVOLUTION_FORWARD: Block = [
  ['SliceForMul', 'T,8192', QKV],
  ['Mul', `${QKV};6144`, QKV],
  ...[1, 2, 3].flatMap((): Block => [
    ['StridedSlice', QKV, QKV, 278],
    ['Pad', QKV, QKV, 872],
    ['Mul', `${QKV};6144`, QKV],
    ['Add', `${QKV};${QKV}`, QKV, 251],
  ]),
  ['Silu', QKV, QKV],
];

const TAP_BACKWARD: Block = [['Mul', `${QKV};6144`, QKV, 97], ['Mul', `${QKV};${QKV}`, QKV], ['Sum', QKV, '6144']];
const TAP_GRADIENT: Block = [['Zero', '4,6144', '4,6144'], ['Move', '6144', '6144']];
const SUM_OF_TAPS: KernelLine = ['Add', '4,6144;4,6144', '4,6144'];
const SUM_OF_INPUTS: KernelLine = ['Add', `${QKV};${QKV}`, QKV, 251];

/**
 * The taps in reverse order, as autograd runs them: gradient of the shifted input and of the tap, the tap's gradient put into
 * the whole weight (zeros and a copy), the shift undone by the opposite slice and pad, both gradients summed up.
 */
const CONVOLUTION_BACKWARD: Block = [
  ['SiluGrad', `${QKV};${QKV}`, QKV],
  ...[3, 2, 1].flatMap((shift): Block => [
    ...TAP_BACKWARD,
    ...TAP_GRADIENT,
    ...(shift === 3 ? [] : [SUM_OF_TAPS]),
    ['StridedSlice', QKV, QKV, 278],
    ['Pad', QKV, QKV, 872],
    ...(shift === 3 ? [] : [SUM_OF_INPUTS]),
  ]),
  ...TAP_BACKWARD,
  SUM_OF_INPUTS,
  ...TAP_GRADIENT,
  SUM_OF_TAPS,
];

/** Decay gate, beta and the l2 norm of q and k are computed inside the Triton kernels. */
const DELTA_FORWARD: Block = [
  ['chunk_gated_delta_rule_gate_fwd_kernel', 'T,32;16:f;16:f', 'T,16:f', 11],
  ['chunk_local_cumsum_scalar_kernel', 'T,16:f', 'T,16:f', 14],
  ['chunk_scaled_dot_kkt_fwd_kernel', `${HEADS};${HEADS}`, 'T,16,64:f', 146],
  ['solve_tril_16x16_kernel', 'T,16,64:f', 'T,16,16:f', 825],
  ['merge_16x16_to_64x64_inverse_kernel', 'T,16,64:f', 'T,16,64', 188],
  ['recompute_w_u_fwd_kernel', `${HEADS};${HEADS};T,16,64`, HEADS, 274],
  ['chunk_gated_delta_rule_fwd_kernel_h_blockdim64', `${HEADS};${HEADS};${HEADS}`, '64,16,128,128', 1850],
  ['chunk_fwd_kernel_o', `${HEADS};${HEADS};${HEADS};64,16,128,128`, HEADS, 604],
];

/** The backward recomputes w, u and the states, then spends 3,642 µs in one long kernel (article 3.1.2). */
const DELTA_BACKWARD: Block = [
  ['recompute_w_u_fwd_kernel', `${HEADS};${HEADS};T,16,64`, HEADS, 274],
  ['chunk_gated_delta_rule_fwd_kernel_h_blockdim64', `${HEADS};${HEADS};${HEADS}`, '64,16,128,128', 1850],
  ['chunk_bwd_kernel_dv_local', `${HEADS};${HEADS};${HEADS}`, HEADS, 304],
  ['chunk_gated_delta_rule_bwd_kernel', `${HEADS};${HEADS};${HEADS};64,16,128,128`, HEADS, 3642],
  ['prepare_wy_repr_bwd_kernel', `${HEADS};${HEADS};T,16,64`, HEADS, 1190],
  ['chunk_local_cumsum_scalar_kernel', 'T,16:f', 'T,16:f', 14],
  ['chunk_gated_delta_rule_gate_bwd_kernel', 'T,16:f;T,32;16:f;16:f', 'T,32', 19],
];

export const LINEAR_FORWARD: Block = [
  ['MatMul', 'T,2048;2048,8192', 'T,8192'],
  ['MatMul', 'T,2048;2048,32', 'T,32'],
  ...CONVOLUTION_FORWARD,
  ...DELTA_FORWARD,
];

/** The gated norm stands apart, so that the program can say where it starts. */
export const GATED_FORWARD: Block = gatedForward();

/** The output projection, 240 µs in figure 3C. */
export const OUTPUT: Block = [['MatMul', 'T,2048;2048,2048', 'T,2048', 240]];

export const LINEAR_BACKWARD: Block = [
  ['MatMul', 'T,2048;2048,2048', 'T,2048'],
  ['MatMul', '2048,T;T,2048', '2048,2048'],
  ...gatedBackward(),
  ...DELTA_BACKWARD,
  ['Cat', `${HEADS};${HEADS};${HEADS}`, QKV],
  ...CONVOLUTION_BACKWARD,
  ['Cat', `${QKV};T,2048`, 'T,8192'],
  ['MatMul', 'T,32;32,2048', 'T,2048'],
  ['MatMul', '2048,T;T,32', '2048,32'],
  ['MatMul', 'T,8192;8192,2048', 'T,2048'],
  ['MatMul', '2048,T;T,8192', '2048,8192'],
  ['Add', 'T,2048;T,2048', 'T,2048'],
];
