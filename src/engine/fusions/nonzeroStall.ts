import type { Fusion } from './fusion';

/** `nonzero`, boolean masks and one-argument `where`: the host waits for the device to learn the size. */
export const nonzeroStall: Fusion = {
  id: 'nonzero-stall', title: 'NonZero with host stall', family: 'hostSync', kind: 'waste', minimumPerStep: 2,
  forms: [
    { name: 'compare, nonzero', python: 'def eager(x):\n    return torch.nonzero(x > 0)\n' },
    { name: 'nonzero', python: 'def eager(x):\n    return torch.nonzero(x)\n' },
  ],
};
