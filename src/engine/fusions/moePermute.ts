import type { Fusion } from './fusion';

/** Tokens sorted by expert and gathered, or put back weighted and summed. */
export const moePermute: Fusion = {
  id: 'moe-permute', title: 'MoE permute and unpermute', family: 'glue', kind: 'fusion', fused: ['fused.moePermute', 'fused.moeUnpermute'],
  forms: [
    { name: 'permute', python: 'def eager(x, experts):\n    order = torch.argsort(experts, stable=True)\n    back = torch.argsort(order, stable=True)\n    return x.index_select(0, order), back\n' },
    { name: 'unpermute', python: 'def eager(x, back, probabilities):\n    h = x.index_select(0, back)\n    h = h * probabilities\n    return h.sum(dim=1)\n' },
  ],
};
