import type { Fusion } from './fusion';

/** Router: softmax over experts, the best k, renormalised. */
export const moeRouter: Fusion = {
  id: 'moe-router', title: 'MoE router', family: 'glue', kind: 'fusion',
  forms: [
    { name: 'softmax, top-k, renormalise', python: 'def eager(logits, k: int):\n    probabilities = F.softmax(logits, dim=-1, dtype=torch.float32)\n    values, index = torch.topk(probabilities, k, dim=-1)\n    values = values / values.sum(dim=-1, keepdim=True)\n    return values, index\n' },
  ],
};
