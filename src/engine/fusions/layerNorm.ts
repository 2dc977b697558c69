import type { Fusion, Replacement } from './fusion';
import { lastDimension, operand, python } from './write';

/** `F.layer_norm` has an Ascend kernel of its own, so all backends share it. */
const torch: Replacement = {
  write(bound) {
    const shape = lastDimension(bound, bound.text('weight'));
    return python(shape === undefined ? undefined : `${bound.functional}.layer_norm(${operand(bound, 'x')}, ${shape}, ${operand(bound, 'weight')}, ${operand(bound, 'bias')}, ${bound.eps()})`);
  },
  promise: 'fp32Inside', requires: 'torch 1.0',
};

/** LayerNorm spelled out: mean and variance taken apart. */
export const layerNorm: Fusion = {
  id: 'layer-norm', title: 'LayerNorm by hand', family: 'norm', kind: 'fusion', fused: ['layerNorm'],
  forms: [
    { name: 'variance by square', python: 'def eager(x, weight, bias, eps: float):\n    mean = x.mean(-1, keepdim=True)\n    centred = x - mean\n    variance = centred.pow(2).mean(-1, keepdim=True)\n    return centred * torch.rsqrt(variance + eps) * weight + bias\n' },
    { name: 'variance by square, root and division', python: 'def eager(x, weight, bias, eps: float):\n    mean = x.mean(-1, keepdim=True)\n    centred = x - mean\n    variance = centred.pow(2).mean(-1, keepdim=True)\n    return weight * (centred / torch.sqrt(variance + eps)) + bias\n' },
  ],
  replacements: { torch, cuda: torch, ascend: torch },
};
