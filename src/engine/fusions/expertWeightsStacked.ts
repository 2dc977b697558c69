import type { Fusion } from './fusion';

/** Expert weights stacked into one tensor in each forward: a copy of all experts that a stored layout would spare. */
export const expertWeightsStacked: Fusion = {
  id: 'expert-weights-stacked', title: 'Expert weights stacked per forward', family: 'glue', kind: 'waste',
  forms: [
    { name: 'stack, grouped product', python: 'def eager(w1, w2, x):\n    weight = torch.stack((w1, w2))\n    return torch.bmm(x, weight)\n' },
  ],
};
