import type { Fusion } from './fusion';

/** Experts run one by one, their tokens found by nonzero: small products, and a host stall for each. */
export const moeExpertLoop: Fusion = {
  id: 'moe-expert-loop', title: 'MoE expert loop', family: 'glue', kind: 'fusion', fused: ['fused.groupedMatmul'], minimumPerStep: 4,
  forms: [
    { name: 'gated experts', python: 'def eager(x, mask, gate_up, down, weights, out):\n    index, token = torch.where(mask)\n    h = x[token]\n    gate, up = F.linear(h, gate_up).chunk(2, dim=-1)\n    h = F.linear(F.silu(gate) * up, down)\n    h = h * weights[token]\n    return out.index_add_(0, token, h)\n' },
  ],
};
