import type { Fusion } from './fusion';

/** Attention as products and a softmax: the whole score matrix goes through memory. */
export const eagerAttention: Fusion = {
  id: 'attention', title: 'Eager attention', family: 'matmul', kind: 'fusion', fused: ['attention'],
  forms: [
    { name: 'masked', python: 'def eager(query, key, value, mask, scale: float):\n    scores = torch.matmul(query, key.transpose(2, 3)) * scale\n    scores = scores + mask\n    weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)\n    return torch.matmul(weights, value)\n' },
    { name: 'no mask', python: 'def eager(query, key, value, scale: float):\n    scores = torch.matmul(query, key.transpose(2, 3)) * scale\n    weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)\n    return torch.matmul(weights, value)\n' },
    { name: 'divided', python: 'def eager(query, key, value, scale: float):\n    scores = torch.matmul(query, key.transpose(-2, -1)) / scale\n    weights = F.softmax(scores, dim=-1)\n    return torch.matmul(weights, value)\n' },
  ],
};
