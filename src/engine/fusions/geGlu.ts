import type { Fusion, Replacement } from './fusion';
import { python } from './write';

/** As SwiGLU; answers (y, gelu) and is told which half is activated and that GELU is the exact one. */
const ascend: Replacement = {
  write(bound) {
    const gate = bound.gateHalf;
    if (gate === undefined) {
      return { reason: 'needs-cat' };
    }
    if (bound.fp32Result) {
      return { reason: 'result-in-fp32' };
    }
    return python(`torch_npu.npu_geglu(${bound.text('whole')}, dim=-1, approximate=${bound.mode === 'tanh' ? 1 : 0}, activate_left=${gate === 0 ? 'True' : 'False'})[0]`);
  },
  module: 'torch_npu', promise: 'rounding', requires: 'torch_npu 2.1',
};

/** GeGLU: gelu(gate) · up. */
export const geGlu: Fusion = {
  id: 'geglu', title: 'GeGLU', family: 'elementwise', kind: 'fusion', fused: ['fused.geglu'],
  forms: [
    { name: 'gate, activation, up', python: 'def eager(x, gate_weight, up_weight):\n    gate = F.gelu(F.linear(x, gate_weight))\n    return gate * F.linear(x, up_weight)\n' },
    { name: 'one product, halves', python: 'def eager(x, weight):\n    gate, up = F.linear(x, weight).chunk(2, dim=-1)\n    return F.gelu(gate) * up\n' },
    { name: 'activation and product', python: 'def eager(gate, up):\n    return F.gelu(gate) * up\n' },
  ],
  replacements: { ascend },
};
