import type { Fusion } from './fusion';

/** A norm for each gradient tensor on its own, where one call over the list does. */
export const gradientNorm: Fusion = {
  id: 'gradient-norm', title: 'Gradient norm per tensor', family: 'optimizer', kind: 'fusion', minimumPerStep: 8,
  forms: [
    { name: 'vector norm', python: 'def eager(grad):\n    return torch.linalg.vector_norm(grad)\n' },
    { name: 'norm and power', python: 'def eager(grad):\n    return torch.linalg.vector_norm(grad) ** 2\n' },
  ],
};
