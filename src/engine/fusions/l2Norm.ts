import type { Fusion } from './fusion';

/** l2norm of queries and keys in linear attention: x · rsqrt(sum(x²) + eps). */
export const l2Norm: Fusion = {
  id: 'l2-norm', title: 'L2 norm', family: 'norm', kind: 'fusion',
  forms: [
    { name: 'product and sum', python: 'def eager(x, eps: float):\n    return x * torch.rsqrt((x * x).sum(dim=-1, keepdim=True) + eps)\n' },
    { name: 'power and sum', python: 'def eager(x, eps: float):\n    return x * torch.rsqrt(x.pow(2).sum(dim=-1, keepdim=True) + eps)\n' },
  ],
};
