import type { BoundForm, Fusion, Replacement } from './fusion';
import { float, lastDimension, python } from './write';

/** The weight's rounding to bf16 after the sum changes a quarter of the results: gamma stays in fp32. */
const gamma = (bound: BoundForm): string => `1.0 + ${float(bound.text('weight'))}`;

/** The second form rounds inside; what it multiplies then has x's dtype. */
const tail = (bound: BoundForm): string => (bound.form === 'rounded before the weight' ? `.type_as(${bound.text('x')})` : '');

const torch: Replacement = {
  write(bound) {
    const shape = lastDimension(bound, bound.text('weight'));
    return python(shape === undefined ? undefined : `${bound.functional}.rms_norm(${float(bound.text('x'))}, ${shape}, ${gamma(bound)}, ${bound.eps()})${tail(bound)}`);
  },
  promise: 'rounding', requires: 'torch 2.4',
};

/** Takes bf16 x beside an fp32 gamma, computes in fp32, answers in x's dtype. */
const ascend: Replacement = {
  write: (bound) => python(`torch_npu.npu_rms_norm(${bound.roundedAfter || !bound.fp32Result ? bound.text('x') : float(bound.text('x'))}, ${gamma(bound)}, ${bound.eps()})[0]`),
  module: 'torch_npu', promise: 'rounding', requires: 'torch_npu 2.1',
};

/** RMSNorm whose weight is stored around zero: the product is with 1 + w. */
export const zeroCentredRmsNorm: Fusion = {
  id: 'zero-centred-rms-norm', title: 'Zero-centred RMSNorm', family: 'norm', kind: 'fusion', fused: ['fused.rmsNorm'],
  forms: [
    { name: 'weight in its own dtype', python: 'def eager(x, weight, eps: float):\n    h = x.float()\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    return (h * (1.0 + weight.float())).type_as(x)\n' },
    { name: 'rounded before the weight', python: 'def eager(x, weight, eps: float):\n    h = x.float()\n    h = (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype)\n    return h * (1.0 + weight)\n' },
  ],
  replacements: { torch, cuda: torch, ascend },
};
