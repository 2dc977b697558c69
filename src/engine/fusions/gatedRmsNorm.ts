import type { Fusion } from './fusion';

/** RMSNorm followed by a gate: y = norm(x) · w · silu(g), or with the gate applied before the norm. */
export const gatedRmsNorm: Fusion = {
  id: 'gated-rms-norm', title: 'Gated RMSNorm', family: 'norm', kind: 'fusion', fused: ['fused.gatedNorm', 'fused.rmsNorm'],
  forms: [
    { name: 'gate after, weight in fp32', python: 'def eager(x, weight, gate, eps: float):\n    h = x.float()\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    return (weight.float() * h * F.silu(gate.float())).to(x.dtype)\n' },
    { name: 'gate after, weight product first', python: 'def eager(x, weight, gate, eps: float):\n    h = x.float()\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    h = weight * h\n    return (h * F.silu(gate.float())).to(x.dtype)\n' },
    { name: 'gate after, rounded before the weight', python: 'def eager(x, weight, gate, eps: float):\n    h = x.to(torch.float32)\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    h = weight * h.to(x.dtype)\n    h = h * F.silu(gate.to(torch.float32))\n    return h.to(x.dtype)\n' },
    { name: 'gate before', python: 'def eager(x, weight, gate, eps: float):\n    h = x.to(torch.float32)\n    h = h * F.silu(gate.to(torch.float32))\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    return weight * h.to(x.dtype)\n' },
  ],
};
