import type { Fusion } from './fusion';

/** Where a loop over the taps begins, what is padded before it, and what each turn multiplies; tokens before channels, and behind them. */
const LOOPS: readonly (readonly [name: string, first: string, before: string, each: string])[] = [
  ['a loop that shifts, tokens first', 'x * weight[0]', '', 'F.pad(x, (0, 0, i, -i))'],
  ['a loop that shifts, channels first', 'x * weight[0]', '', 'F.pad(x, (i, -i))'],
  ['a loop over a padded tensor, tokens first', 'p[:, 0:n] * weight[0]', 'p = F.pad(x, (0, 0, taps - 1, 0))', 'p[:, i : i + n]'],
  ['a loop over a padded tensor, channels first', 'p[..., 0:n] * weight[0]', 'p = F.pad(x, (taps - 1, 0))', 'p[..., i : i + n]'],
  ['a loop from zeros, tokens first', 'torch.zeros_like(x)', 'p = F.pad(x, (0, 0, taps - 1, 0))', 'p[:, i : i + n]'],
  ['a loop from zeros, channels first', 'torch.zeros_like(x)', 'p = F.pad(x, (taps - 1, 0))', 'p[..., i : i + n]'],
];

/** A short causal convolution done by shifted slices: pad, then one product and sum per tap. */
export const causalConv: Fusion = {
  id: 'causal-conv1d', title: 'Causal conv1d by slices', family: 'linearAttention', kind: 'fusion', fused: ['fused.linearAttention'],
  forms: [
    { name: 'four taps', python: 'def eager(x, w0, w1, w2, w3):\n    p = F.pad(x, (3, 0))\n    y = p[..., 0:-3] * w0\n    y = y + p[..., 1:-2] * w1\n    y = y + p[..., 2:-1] * w2\n    y = y + p[..., 3:] * w3\n    return F.silu(y)\n' },
    { name: 'four taps, each padded', python: 'def eager(x, w0, w1, w2, w3):\n    y = x * w3\n    y = y + F.pad(x[..., :-1], (1, 0)) * w2\n    y = y + F.pad(x[..., :-2], (2, 0)) * w1\n    y = y + F.pad(x[..., :-3], (3, 0)) * w0\n    return F.silu(y)\n' },
    { name: 'convolution and activation', python: 'def eager(x, weight):\n    return F.silu(F.conv1d(x, weight))\n' },
  ],
  loops: LOOPS.map(([name, first, before, each]) => ({ name, python: `def eager(x, weight):\n    taps = weight.shape[0]\n    n = x.shape[-1]\n${before === '' ? '' : `    ${before}\n`}    y = ${first}\n    for i in range(1, taps):\n        y = y + ${each} * weight[i]\n    return F.silu(y)\n` })),
};
