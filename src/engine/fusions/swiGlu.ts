import type { Fusion, Replacement } from './fusion';
import { grouped, python } from './write';

/** `.contiguous()` costs nothing on a tensor that is: the operator takes no other. */
const contiguous = (text: string): string => (text.endsWith('.contiguous()') ? text : `${grouped(text)}.contiguous()`);

/** Reads gate and up as the halves of one tensor, the gate first; of two tensors it would need a concatenation first. */
const ascend: Replacement = {
  write(bound) {
    if (bound.gateHalf === undefined) {
      return { reason: 'needs-cat' };
    }
    if (bound.fp32Result) {
      return { reason: 'result-in-fp32' };
    }
    return bound.gateHalf === 0 ? python(`torch_npu.npu_swiglu(${contiguous(bound.text('whole'))}, dim=-1)`) : { reason: 'halves-swapped' };
  },
  module: 'torch_npu', promise: 'rounding', requires: 'torch_npu 2.1',
};

/** Right behind one of these the product gates the norm's result: no product of matrices is in it, so it is the rest of a gated norm. */
const FUSED_NORMS = ['fused.rmsNorm', 'fused.gatedNorm', 'layerNorm'];

/** SwiGLU: silu(gate) · up. The two products before it may be one (w13) or two. */
export const swiGlu: Fusion = {
  id: 'swiglu', title: 'SwiGLU', family: 'elementwise', kind: 'fusion', fused: ['fused.swiglu'],
  forms: [
    { name: 'gate, activation, up', python: 'def eager(x, gate_weight, up_weight):\n    gate = F.silu(F.linear(x, gate_weight))\n    return gate * F.linear(x, up_weight)\n' },
    { name: 'both products first', python: 'def eager(x, gate_weight, up_weight):\n    gate = F.linear(x, gate_weight)\n    up = F.linear(x, up_weight)\n    return F.silu(gate) * up\n' },
    { name: 'one product, halves', python: 'def eager(x, weight):\n    gate, up = F.linear(x, weight).chunk(2, dim=-1)\n    return F.silu(gate) * up\n' },
    { name: 'sigmoid spelled out', python: 'def eager(x, weight):\n    gate, up = F.linear(x, weight).chunk(2, dim=-1)\n    return gate * torch.sigmoid(gate) * up\n' },
    { name: 'activation and product', python: 'def eager(gate, up):\n    return F.silu(gate) * up\n', notAfter: FUSED_NORMS },
  ],
  replacements: { ascend },
};
