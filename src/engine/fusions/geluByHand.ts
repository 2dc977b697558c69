import type { Fusion } from './fusion';

/** GELU spelled out, by tanh or by erf. */
export const geluByHand: Fusion = {
  id: 'gelu', title: 'GELU by hand', family: 'elementwise', kind: 'fusion', fused: ['gelu'],
  forms: [
    { name: 'tanh', python: 'def eager(x):\n    return 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * torch.pow(x, 3.0))))\n' },
    { name: 'tanh, products', python: 'def eager(x):\n    return 0.5 * x * (1.0 + torch.tanh(x * 0.7978845608 * (1.0 + 0.044715 * x * x)))\n' },
    { name: 'erf', python: 'def eager(x):\n    return x * 0.5 * (1.0 + torch.erf(x / 1.4142135623))\n' },
    { name: 'sigmoid approximation', python: 'def eager(x):\n    return x * torch.sigmoid(1.702 * x)\n' },
  ],
};
