import type { BoundForm, Fusion, Replacement } from './fusion';
import { float, python } from './write';

/** All three operands in one dtype, as the operator wants them. */
const inFp32 = (bound: BoundForm, role: string): string => (bound.fp32Result ? float(bound.text(role)) : bound.text(role));

/** `[..., d // 2 :]` as the place it begins, `[..., : d // 2]` as the place it ends, and parts of `chunk(2, -1)` by their number. */
const HALF = /\[(?:\s*\.\.\.\s*,|(?:\s*:\s*,)+)\s*([^:\]]*?)\s*:\s*([^:\]]*?)\s*\]$/;
const CHUNK = /^(.*\bchunk\((?:[\w.]+\s*,\s*)?2\s*,\s*(?:dim\s*=\s*)?-1\s*\))#([01])$/s;

/** It is the second half (or the odd neighbour) that is negated, and what follows it is the rest. */
function turnsRight(bound: BoundForm): boolean {
  const turned = bound.sources('neg').map(plain);
  const kept = bound.sources(bound.form === 'interleaved' ? 'stack' : 'cat', 1).map(plain);
  return turned.length > 0 && turned.length === kept.length && turned.every((text, i) => {
    if (bound.form === 'interleaved') {
      return /\[(?:\s*\.\.\.\s*,|(?:\s*:\s*,)+)\s*1\s*::\s*2\s*\]$/.test(text) && /\[(?:\s*\.\.\.\s*,|(?:\s*:\s*,)+)\s*0?\s*::\s*2\s*\]$/.test(kept[i]);
    }
    const [second, first] = [HALF.exec(text), HALF.exec(kept[i])];
    const [last, former] = [CHUNK.exec(text), CHUNK.exec(kept[i])];
    return (second !== null && first !== null && second[1] !== '' && second[2] === '' && (first[1] === '' || first[1] === '0') && first[2] === second[1])
      || (last !== null && former !== null && last[1] === former[1] && last[2] === '1' && former[2] === '0');
  });
}

/** A shape in brackets of its own would look like an index. */
const plain = (text: string): string => text.replace(/\.shape\[[^\]]*\]|\.size\([^)]*\)/g, '.d').replace(/\s+/g, ' ');

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
