import type { BoundForm, Fusion, Replacement } from './fusion';
import { float, python } from './write';

/** All three operands in one dtype, as the operator wants them. */
const inFp32 = (bound: BoundForm, role: string): string => (bound.fp32Result ? float(bound.text(role)) : bound.text(role));

/** It is the second half (or the odd neighbour) that is negated. */
const turnsRight = (bound: BoundForm): boolean => bound.sources('neg').every((text) => (bound.form === 'interleaved' ? /\[[^\]]*1::2[^\]]*\]$/ : /\[[.,\s]*[^:\]]+:\s*\]$/).test(text.replace(/\.shape\[[^\]]*\]|\.size\([^)]*\)/g, 'd')));

/** Keeps its input for the backward pass; the 'interleaved' form turns neighbours, as GPT-J does. */
const ascend: Replacement = {
  write: (bound) => (!turnsRight(bound) ? { reason: 'other-rotation' } : python(`torch_npu.npu_rotary_mul(${inFp32(bound, 'x')}, ${inFp32(bound, 'cos')}, ${inFp32(bound, 'sin')}${bound.form === 'interleaved' ? ", rotary_mode='interleave'" : ''})`)),
  module: 'torch_npu', promise: 'rounding', requires: 'torch_npu 2.1', cautions: ['npu-rotary'],
};

/** Rotary position embedding applied by slices and products: x · cos + rotate(x) · sin. */
export const rotaryEmbedding: Fusion = {
  id: 'rope', title: 'Rotary embedding', family: 'elementwise', kind: 'fusion', fused: ['fused.rotary'],
  forms: [
    { name: 'halves', python: 'def eager(x, cos, sin):\n    x1 = x[..., : x.shape[-1] // 2]\n    x2 = x[..., x.shape[-1] // 2 :]\n    return (x * cos) + (torch.cat((-x2, x1), dim=-1) * sin)\n' },
    { name: 'interleaved', python: 'def eager(x, cos, sin):\n    x1 = x[..., ::2]\n    x2 = x[..., 1::2]\n    return (x * cos) + (torch.stack((-x2, x1), dim=-1).flatten(-2) * sin)\n' },
  ],
  replacements: { ascend },
};
