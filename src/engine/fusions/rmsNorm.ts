import type { BoundForm, Fusion, Replacement, Written } from './fusion';
import { lastDimension, operand, python } from './write';

const weighted = (bound: BoundForm): boolean => bound.form !== 'no weight';

function torchNorm(bound: BoundForm): Written {
  const weight = weighted(bound) ? operand(bound, 'weight') : undefined;
  const shape = lastDimension(bound, weighted(bound) ? bound.text('weight') : undefined);
  return python(shape === undefined ? undefined : `${bound.functional}.rms_norm(${operand(bound, 'x')}, ${shape}, ${weight === undefined ? 'eps=' : `${weight}, `}${bound.eps()})`);
}

const torch: Replacement = { write: torchNorm, promise: 'rounding', requires: 'torch 2.4' };

/** `npu_rms_norm` answers (y, rstd), computes in fp32, rounds once, and wants its gamma. */
const ascend: Replacement = {
  write: (bound) => (weighted(bound) ? python(`torch_npu.npu_rms_norm(${operand(bound, 'x')}, ${operand(bound, 'weight')}, ${bound.eps()})[0]`) : { reason: 'no-weight' }),
  module: 'torch_npu', promise: 'rounding', requires: 'torch_npu 2.1',
};

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
  replacements: { torch, cuda: torch, ascend },
  nearMisses: [
    { name: 'no eps', reason: 'no-eps', python: 'def eager(x):\n    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True))\n' },
    { name: 'mean without square', reason: 'no-square', python: 'def eager(x, eps: float):\n    return x * torch.rsqrt(x.mean(-1, keepdim=True) + eps)\n' },
    { name: 'another dimension', reason: 'other-dimension', python: 'def eager(x, axis, eps: float):\n    return x * torch.rsqrt(x.pow(2).mean(axis, keepdim=True) + eps)\n' },
    { name: 'eps outside the root', reason: 'eps-outside', python: 'def eager(x, eps: float):\n    return x / (torch.sqrt(x.pow(2).mean(-1, keepdim=True)) + eps)\n' },
  ],
};
