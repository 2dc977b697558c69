import type { BoundForm, Fusion, Replacement } from './fusion';
import { float, lastDimension, operand, python } from './write';

const ROUNDED = 'gate after, rounded before the weight';

/** The gate stays as it is, in fp32: joining it to a fused SwiGLU would need a concatenation, which costs what it saves. */
const gate = (bound: BoundForm): string => `${bound.functional}.silu(${float(bound.text('gate'))})`;

const torch: Replacement = {
  write(bound) {
    const shape = lastDimension(bound, bound.text('weight'));
    if (shape === undefined) {
      return python(undefined);
    }
    const norm = (x: string, weight: string): string => `${bound.functional}.rms_norm(${x}, ${shape}, ${weight}, ${bound.eps()})`;
    if (bound.form === 'gate before') {
      return python(`${norm(`${float(bound.text('x'))} * ${gate(bound)}`, float(bound.text('weight')))}.type_as(${bound.text('x')})`);
    }
    return python(`${bound.form === ROUNDED ? norm(bound.text('x'), bound.text('weight')) : norm(float(bound.text('x')), float(bound.text('weight')))} * ${gate(bound)}`);
  },
  promise: 'rounding', requires: 'torch 2.4',
};

const ascend: Replacement = {
  write(bound) {
    const norm = (x: string, weight: string): string => `torch_npu.npu_rms_norm(${x}, ${weight}, ${bound.eps()})[0]`;
    if (bound.form === 'gate before') {
      return python(`${norm(`${float(bound.text('x'))} * ${gate(bound)}`, float(bound.text('weight')))}.type_as(${bound.text('x')})`);
    }
    return python(`${norm(operand(bound, 'x'), operand(bound, 'weight'))} * ${gate(bound)}`);
  },
  module: 'torch_npu', promise: 'rounding', requires: 'torch_npu 2.1',
};

/** RMSNorm followed by a gate: y = norm(x) · w · silu(g), or with the gate applied before the norm. */
export const gatedRmsNorm: Fusion = {
  id: 'gated-rms-norm', title: 'Gated RMSNorm', family: 'norm', kind: 'fusion', fused: ['fused.gatedNorm', 'fused.rmsNorm'],
  forms: [
    { name: 'gate after, weight in fp32', python: 'def eager(x, weight, gate, eps: float):\n    h = x.float()\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    return (weight.float() * h * F.silu(gate.float())).to(x.dtype)\n' },
    { name: 'gate after, weight product first', python: 'def eager(x, weight, gate, eps: float):\n    h = x.float()\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    h = weight * h\n    return (h * F.silu(gate.float())).to(x.dtype)\n' },
    { name: 'gate after, rounded before the weight', python: 'def eager(x, weight, gate, eps: float):\n    h = x.to(torch.float32)\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    h = weight * h.to(x.dtype)\n    h = h * F.silu(gate.to(torch.float32))\n    return h.to(x.dtype)\n' },
    { name: 'gate before', python: 'def eager(x, weight, gate, eps: float):\n    h = x.to(torch.float32)\n    h = h * F.silu(gate.to(torch.float32))\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    return weight * h.to(x.dtype)\n' },
  ],
  replacements: { torch, cuda: torch, ascend },
};
