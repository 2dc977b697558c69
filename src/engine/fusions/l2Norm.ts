import type { Fusion, Replacement } from './fusion';
import { isName, operand, python } from './write';

/** sum(x²) + eps = d · (mean(x²) + eps / d), so the norm is an RMSNorm without a weight, over the root of d. */
const torch: Replacement = {
  write(bound) {
    const x = bound.text('x');
    return python(isName(x) ? `${bound.functional}.rms_norm(${operand(bound, 'x')}, ${x}.shape[-1:], eps=${bound.eps()} / ${x}.shape[-1]) * ${x}.shape[-1] ** -0.5` : undefined);
  },
  promise: 'rounding', requires: 'torch 2.4',
};

/** l2norm of queries and keys in linear attention: x · rsqrt(sum(x²) + eps). */
export const l2Norm: Fusion = {
  id: 'l2-norm', title: 'L2 norm', family: 'norm', kind: 'fusion',
  forms: [
    { name: 'product and sum', python: 'def eager(x, eps: float):\n    return x * torch.rsqrt((x * x).sum(dim=-1, keepdim=True) + eps)\n' },
    { name: 'power and sum', python: 'def eager(x, eps: float):\n    return x * torch.rsqrt(x.pow(2).sum(dim=-1, keepdim=True) + eps)\n' },
  ],
  replacements: { torch, cuda: torch },
};
