import type { Fusion, Replacement } from './fusion';
import { grouped, python } from './write';

/**
 * The mask of the eager form is added to the scores, which is what SDPA does with a mask of numbers. Weights are not
 * answered: who returns them as well is refused as a shared intermediate.
 */
const torch: Replacement = {
  write(bound) {
    const scale = bound.form === 'divided' ? `1.0 / ${grouped(bound.eps())}` : bound.eps();
    return python(`${bound.functional}.scaled_dot_product_attention(${bound.text('query')}, ${bound.untransposed('key')}, ${bound.text('value')}${bound.form === 'masked' ? `, attn_mask=${bound.text('mask')}` : ''}, scale=${scale})`);
  },
  promise: 'rounding', requires: 'torch 2.1',
};

/** Attention as products and a softmax: the whole score matrix goes through memory. */
export const eagerAttention: Fusion = {
  id: 'attention', title: 'Eager attention', family: 'matmul', kind: 'fusion', fused: ['attention'],
  forms: [
    { name: 'masked', python: 'def eager(query, key, value, mask, scale: float):\n    scores = torch.matmul(query, key.transpose(2, 3)) * scale\n    scores = scores + mask\n    weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)\n    return torch.matmul(weights, value)\n' },
    { name: 'no mask', python: 'def eager(query, key, value, scale: float):\n    scores = torch.matmul(query, key.transpose(2, 3)) * scale\n    weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)\n    return torch.matmul(weights, value)\n' },
    { name: 'divided', python: 'def eager(query, key, value, scale: float):\n    scores = torch.matmul(query, key.transpose(-2, -1)) / scale\n    weights = F.softmax(scores, dim=-1)\n    return torch.matmul(weights, value)\n' },
  ],
  replacements: { torch, cuda: torch },
};
