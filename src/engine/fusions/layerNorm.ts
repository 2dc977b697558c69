import type { Fusion } from './fusion';

/** LayerNorm spelled out: mean and variance taken apart. */
export const layerNorm: Fusion = {
  id: 'layer-norm', title: 'LayerNorm by hand', family: 'norm', kind: 'fusion', fused: ['layerNorm'],
  forms: [
    { name: 'variance by square', python: 'def eager(x, weight, bias, eps: float):\n    mean = x.mean(-1, keepdim=True)\n    centred = x - mean\n    variance = centred.pow(2).mean(-1, keepdim=True)\n    return centred * torch.rsqrt(variance + eps) * weight + bias\n' },
    { name: 'variance by square, root and division', python: 'def eager(x, weight, bias, eps: float):\n    mean = x.mean(-1, keepdim=True)\n    centred = x - mean\n    variance = centred.pow(2).mean(-1, keepdim=True)\n    return weight * (centred / torch.sqrt(variance + eps)) + bias\n' },
  ],
};
