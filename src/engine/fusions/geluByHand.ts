import type { BoundForm, Fusion, Replacement } from './fusion';
import { operand, python } from './write';

const mode = (bound: BoundForm): string => (bound.form === 'erf' ? 'none' : 'tanh');

const torch: Replacement = {
  write: (bound) => (bound.form === 'sigmoid approximation' ? { reason: 'no-operator' } : python(`${bound.functional}.gelu(${operand(bound, 'x')}${bound.form === 'erf' ? '' : ", approximate='tanh'"})`)),
  promise: 'fp32Inside', requires: 'torch 1.12',
};

/** The native GELU on NPU takes tanh whatever it is told, so the mode goes to the operator that heeds it. */
const ascend: Replacement = {
  write: (bound) => python(bound.form === 'sigmoid approximation' ? `torch_npu.npu_fast_gelu(${operand(bound, 'x')})` : `torch_npu.npu_gelu(${operand(bound, 'x')}, approximate='${mode(bound)}')`),
  module: 'torch_npu', promise: 'fp32Inside', requires: 'torch_npu 2.1',
};

/** GELU spelled out, by tanh or by erf. */
export const geluByHand: Fusion = {
  id: 'gelu', title: 'GELU by hand', family: 'elementwise', kind: 'fusion', fused: ['gelu'],
  forms: [
    { name: 'tanh', python: 'def eager(x):\n    return 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * torch.pow(x, 3.0))))\n' },
    { name: 'tanh, products', python: 'def eager(x):\n    return 0.5 * x * (1.0 + torch.tanh(x * 0.7978845608 * (1.0 + 0.044715 * x * x)))\n' },
    { name: 'erf', python: 'def eager(x):\n    return x * 0.5 * (1.0 + torch.erf(x / 1.4142135623))\n' },
    { name: 'sigmoid approximation', python: 'def eager(x):\n    return x * torch.sigmoid(1.702 * x)\n' },
  ],
  replacements: { torch, cuda: torch, ascend },
};
