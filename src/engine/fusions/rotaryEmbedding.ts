import type { Fusion } from './fusion';

/** Rotary position embedding applied by slices and products: x · cos + rotate(x) · sin. */
export const rotaryEmbedding: Fusion = {
  id: 'rope', title: 'Rotary embedding', family: 'elementwise', kind: 'fusion', fused: ['fused.rotary'],
  forms: [
    { name: 'halves', python: 'def eager(x, cos, sin):\n    x1 = x[..., : x.shape[-1] // 2]\n    x2 = x[..., x.shape[-1] // 2 :]\n    return (x * cos) + (torch.cat((-x2, x1), dim=-1) * sin)\n' },
    { name: 'interleaved', python: 'def eager(x, cos, sin):\n    x1 = x[..., ::2]\n    x2 = x[..., 1::2]\n    return (x * cos) + (torch.stack((-x2, x1), dim=-1).flatten(-2) * sin)\n' },
  ],
};
