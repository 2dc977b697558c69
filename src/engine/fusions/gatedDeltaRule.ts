import type { Fusion } from './fusion';

/** One chunk of the gated delta rule in plain torch, as in the fallback of public models. */
export const gatedDeltaRule: Fusion = {
  id: 'gated-delta-rule', title: 'Gated delta rule in plain torch', family: 'linearAttention', kind: 'fusion', fused: ['fused.linearAttention'],
  forms: [
    { name: 'one chunk', python: 'def eager(q, k, v, g, state, decay, k_cumdecay):\n    attn = (q @ k.transpose(-1, -2)) * decay\n    v_prime = k_cumdecay @ state\n    v_new = v - v_prime\n    attn_inter = (q * g.exp()) @ state\n    return attn_inter + attn @ v_new\n' },
  ],
};
