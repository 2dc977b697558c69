import type { Fusion } from './fusion';

/** AdamW as a loop over parameters: ten small kernels for each tensor. */
export const adamwLoop: Fusion = {
  id: 'adamw-loop', title: 'AdamW for-loop', family: 'optimizer', kind: 'fusion', fused: ['fused.adamw'], minimumPerStep: 4,
  forms: [
    { name: 'single tensor', python: 'def eager(param, grad, avg, square, decay, beta1, beta2, step):\n    param.mul_(0.99)\n    avg.lerp_(grad, 0.1)\n    square.mul_(0.999)\n    square.addcmul_(grad, grad)\n    denom = square.sqrt()\n    denom = denom / 0.5\n    denom = denom + 1e-8\n    return param.addcdiv_(avg, denom)\n' },
  ],
};
