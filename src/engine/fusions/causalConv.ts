import type { Fusion } from './fusion';

/** A short causal convolution done by shifted slices: pad, then one product and sum per tap. */
export const causalConv: Fusion = {
  id: 'causal-conv1d', title: 'Causal conv1d by slices', family: 'linearAttention', kind: 'fusion', fused: ['fused.linearAttention'],
  forms: [
    { name: 'four taps', python: 'def eager(x, w0, w1, w2, w3):\n    p = F.pad(x, (3, 0))\n    y = p[..., 0:-3] * w0\n    y = y + p[..., 1:-2] * w1\n    y = y + p[..., 2:-1] * w2\n    y = y + p[..., 3:] * w3\n    return F.silu(y)\n' },
    { name: 'four taps, each padded', python: 'def eager(x, w0, w1, w2, w3):\n    y = x * w3\n    y = y + F.pad(x[..., :-1], (1, 0)) * w2\n    y = y + F.pad(x[..., :-2], (2, 0)) * w1\n    y = y + F.pad(x[..., :-3], (3, 0)) * w0\n    return F.silu(y)\n' },
    { name: 'convolution and activation', python: 'def eager(x, weight):\n    return F.silu(F.conv1d(x, weight))\n' },
  ],
};
