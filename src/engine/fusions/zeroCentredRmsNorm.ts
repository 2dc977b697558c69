import type { Fusion } from './fusion';

/** RMSNorm whose weight is stored around zero: the product is with 1 + w. */
export const zeroCentredRmsNorm: Fusion = {
  id: 'zero-centred-rms-norm', title: 'Zero-centred RMSNorm', family: 'norm', kind: 'fusion', fused: ['fused.rmsNorm'],
  forms: [
    { name: 'weight in its own dtype', python: 'def eager(x, weight, eps: float):\n    h = x.float()\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    return (h * (1.0 + weight.float())).type_as(x)\n' },
    { name: 'rounded before the weight', python: 'def eager(x, weight, eps: float):\n    h = x.float()\n    h = (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype)\n    return h * (1.0 + weight)\n' },
  ],
};
