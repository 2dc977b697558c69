import type { Block } from './kernel';
import { zeroCentredBackward, zeroCentredForward } from './norms';

/** Gated full attention: q carries its gate, q and k are normed per head, a quarter of each head is rotated. */

const Q = 'T,8,256';
const K = 'T,2,256';

/** Partial RoPE of one tensor: `rot * cos + rotate_half(rot) * sin`, then the unrotated part is joined again. */
function rotaryForward(heads: number): Block {
  const rotated = `T,${heads},64`;
  return [
    ['SliceForMul', `T,${heads},256`, rotated],
    ['Mul', `${rotated};T,1,64`, rotated],
    ['SliceForNeg', rotated, `T,${heads},32`],
    ['Neg', `T,${heads},32`, `T,${heads},32`],
    ['Cat', `T,${heads},32;T,${heads},32`, rotated],
    ['Mul', `${rotated};T,1,64`, rotated],
    ['Add', `${rotated};${rotated}`, rotated],
    ['Cat', `${rotated};T,${heads},192`, `T,${heads},256`],
  ];
}

/** In autograd's order; each of the two slices comes back as zeros and a copy. */
function rotaryBackward(heads: number): Block {
  const rotated = `T,${heads},64`;
  const half = `T,${heads},32`;
  const whole = `T,${heads},256`;
  return [
    ['SliceForMul', whole, rotated],
    ['Mul', `${rotated};T,1,64`, rotated],
    ['SliceForNeg', rotated, half],
    ['Neg', half, half],
    ['Cat', `${half};${half}`, rotated],
    ['Mul', `${rotated};T,1,64`, rotated],
    ['Add', `${rotated};${rotated}`, rotated],
    ['Zero', whole, whole],
    ['Move', `T,${heads},192`, `T,${heads},192`],
    ['Zero', whole, whole],
    ['Move', rotated, rotated],
    ['Add', `${whole};${whole}`, whole],
  ];
}

/** Norms of q and k per head, eager. */
export const HEAD_NORMS: Block = [
  ...zeroCentredForward(Q, 'T,8,1', '256'),
  ...zeroCentredForward(K, 'T,2,1', '256', 0.28),
];

export const HEAD_NORM_GRADS: Block = [
  ...zeroCentredBackward(K, 'T,2,1', '256'),
  ...zeroCentredBackward(Q, 'T,8,1', '256'),
];

/** The mixer up to the output projection. */
export const fullForward = (headNorms: Block, attentionUs: number): Block => [
  ['MatMul', 'T,2048;2048,4096', 'T,4096'],
  ['MatMul', 'T,2048;2048,512', 'T,512'],
  ['MatMul', 'T,2048;2048,512', 'T,512'],
  ['SliceForCast', 'T,8,512', Q],
  ...headNorms,
  ...rotaryForward(8),
  ...rotaryForward(2),
  ['Attention', `1,8,T,256;1,2,T,256;1,2,T,256`, '1,8,T,256', attentionUs],
  ['Transpose', '1,8,T,256', 'T,2048'],
  ['SliceForSigmoid', 'T,8,512', 'T,2048'],
  ['Sigmoid', 'T,2048', 'T,2048'],
  ['Mul', 'T,2048;T,2048', 'T,2048'],
];

export const fullBackward = (headNormGrads: Block, attentionUs: number): Block => [
  ['MatMul', 'T,2048;2048,2048', 'T,2048'],
  ['MatMul', '2048,T;T,2048', '2048,2048'],
  ['Mul', 'T,2048;T,2048', 'T,2048'],
  ['Mul', 'T,2048;T,2048', 'T,2048'],
  ['SigmoidGrad', 'T,2048;T,2048', 'T,2048'],
  ['Transpose', 'T,2048', '1,8,T,256'],
  ['AttentionGrad', `1,8,T,256;1,2,T,256;1,2,T,256;1,8,T,256`, '1,8,T,256', attentionUs],
  ...rotaryBackward(2),
  ...rotaryBackward(8),
  ...headNormGrads,
  ['Cat', `${Q};${Q}`, 'T,8,512'],
  ['MatMul', 'T,512;512,2048', 'T,2048'],
  ['MatMul', '2048,T;T,512', '2048,512'],
  ['MatMul', 'T,512;512,2048', 'T,2048'],
  ['MatMul', '2048,T;T,512', '2048,512'],
  ['Add', 'T,2048;T,2048', 'T,2048'],
  ['MatMul', 'T,4096;4096,2048', 'T,2048'],
  ['MatMul', '2048,T;T,4096', '2048,4096'],
  ['Add', 'T,2048;T,2048', 'T,2048'],
];
