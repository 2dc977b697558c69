import type { Fusion } from './fusion';

/** RMSNorm spelled out: y = x · rsqrt(mean(x²) + eps) · w, in fp32, rounded before or after the weight. */
export const rmsNorm: Fusion = {
  id: 'rms-norm', title: 'RMSNorm', family: 'norm', kind: 'fusion', fused: ['fused.rmsNorm'],
  forms: [
    { name: 'round, then multiply', python: 'def eager(x, weight, eps: float):\n    h = x.to(torch.float32)\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    return weight * h.to(x.dtype)\n' },
    { name: 'multiply, then round', python: 'def eager(x, weight, eps: float):\n    h = x.to(torch.float32)\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    return (weight * h).to(x.dtype)\n' },
    { name: 'no weight', python: 'def eager(x, eps: float):\n    h = x.to(torch.float32)\n    return (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype)\n' },
    { name: 'square by product', python: 'def eager(x, weight, eps: float):\n    h = x.to(torch.float32)\n    h = h * torch.rsqrt((h * h).mean(-1, keepdim=True) + eps)\n    return weight * h.to(x.dtype)\n' },
    { name: 'root and reciprocal', python: 'def eager(x, weight, eps: float):\n    h = x.to(torch.float32)\n    h = h * (1 / torch.sqrt(h.pow(2).mean(-1, keepdim=True) + eps))\n    return weight * h.to(x.dtype)\n' },
    { name: 'root and division', python: 'def eager(x, weight, eps: float):\n    h = x.to(torch.float32)\n    h = h / torch.sqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    return weight * h.to(x.dtype)\n' },
  ],
};
