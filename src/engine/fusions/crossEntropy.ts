import type { Fusion } from './fusion';

/** Cross entropy over logits converted to fp32: the widest tensors of the model, several times through memory. */
export const crossEntropy: Fusion = {
  id: 'cross-entropy', title: 'Cross entropy with upcast', family: 'loss', kind: 'fusion', fused: ['fused.crossEntropy'], cautions: ['lm-head-sharded', 'lm-head-shared'],
  forms: [
    { name: 'upcast', python: 'def eager(logits, labels):\n    return F.cross_entropy(logits.float(), labels)\n' },
  ],
};
