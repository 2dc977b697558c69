import type { Fusion } from './fusion';

/** SwiGLU: silu(gate) · up. The two products before it may be one (w13) or two. */
export const swiGlu: Fusion = {
  id: 'swiglu', title: 'SwiGLU', family: 'elementwise', kind: 'fusion', fused: ['fused.swiglu'],
  forms: [
    { name: 'gate, activation, up', python: 'def eager(x, gate_weight, up_weight):\n    gate = F.silu(F.linear(x, gate_weight))\n    return gate * F.linear(x, up_weight)\n' },
    { name: 'both products first', python: 'def eager(x, gate_weight, up_weight):\n    gate = F.linear(x, gate_weight)\n    up = F.linear(x, up_weight)\n    return F.silu(gate) * up\n' },
    { name: 'one product, halves', python: 'def eager(x, weight):\n    gate, up = F.linear(x, weight).chunk(2, dim=-1)\n    return F.silu(gate) * up\n' },
    { name: 'sigmoid spelled out', python: 'def eager(x, weight):\n    gate, up = F.linear(x, weight).chunk(2, dim=-1)\n    return gate * torch.sigmoid(gate) * up\n' },
    { name: 'activation and product', python: 'def eager(gate, up):\n    return F.silu(gate) * up\n' },
  ],
};
