import type { Fusion } from './fusion';

/** The cosine and sine tables of the rotary embedding built again in every layer: they depend on positions alone. */
export const rotaryTables: Fusion = {
  id: 'rope-tables', title: 'Cosine and sine tables rebuilt', family: 'elementwise', kind: 'waste', minimumPerStep: 4,
  forms: [
    { name: 'scaled', python: 'def eager(freqs, scale: float):\n    cos = (freqs.cos() * scale).to(torch.bfloat16)\n    sin = (freqs.sin() * scale).to(torch.bfloat16)\n    return cos, sin\n' },
    { name: 'plain', python: 'def eager(freqs):\n    cos = freqs.cos().to(torch.bfloat16)\n    sin = freqs.sin().to(torch.bfloat16)\n    return cos, sin\n' },
  ],
};
