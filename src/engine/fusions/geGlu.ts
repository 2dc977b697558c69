import type { Fusion } from './fusion';

/** GeGLU: gelu(gate) · up. */
export const geGlu: Fusion = {
  id: 'geglu', title: 'GeGLU', family: 'elementwise', kind: 'fusion', fused: ['fused.geglu'],
  forms: [
    { name: 'gate, activation, up', python: 'def eager(x, gate_weight, up_weight):\n    gate = F.gelu(F.linear(x, gate_weight))\n    return gate * F.linear(x, up_weight)\n' },
    { name: 'one product, halves', python: 'def eager(x, weight):\n    gate, up = F.linear(x, weight).chunk(2, dim=-1)\n    return F.gelu(gate) * up\n' },
    { name: 'activation and product', python: 'def eager(gate, up):\n    return F.gelu(gate) * up\n' },
  ],
};
