import assert from 'node:assert/strict';
import type { Parser } from 'web-tree-sitter';
import type { FuseBackend } from '../../../src/engine/fusions/fusion';
import { applyEdits, mergedEdits, type FusePlan } from '../../../src/engine/fuse/plan';
import { planFusions } from '../../../src/engine/fuse/planFusions';
import { parsePython } from '../../../src/engine/python/parsePython';
import { moduleScope, ModuleSet } from '../../../src/engine/python/program';
import { MESSAGES } from '../../../src/protocol/text';
import { testParser } from '../pythonParser';
import { HEADER } from './spellings';

/** One way to write something that must be told apart, and what has to come of it. */
interface Case {
  readonly name: string;
  readonly text: string;
  readonly backend?: FuseBackend;
  /** Other files of the workspace. */
  readonly others?: Readonly<Record<string, string>>;
  /** `refused REASON`, `advice REASON`, or part of the new text. */
  readonly expect: string | RegExp;
}

const NORM = 'h = x.float()\nh = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\nreturn w * h.to(x.dtype)';
const indented = (lines: string, by = '    '): string => lines.split('\n').map((line) => `${by}${line}`).join('\n');
const func = (lines: string, { head = '', parameters = 'x, w' } = {}): string => `${HEADER}${head}def case(${parameters}):\n${indented(lines)}\n`;
const method = (lines: string, { decorators = '', classDecorators = '', tail = '', init = '' } = {}): string => `${HEADER}${classDecorators}class Case(nn.Module):\n    def __init__(self, dim, eps=1e-6):\n        super().__init__()\n        self.eps = eps\n        self.weight = nn.Parameter(torch.ones(dim))\n${init}\n${decorators}    def forward(self, x):\n${indented(lines, '        ')}\n${tail}`;
const SELF_NORM = 'h = x.float()\nh = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)\nreturn self.weight * h.to(x.dtype)';
const FUSED = /return F\.rms_norm\(x, x\.shape\[-1:\], w, 1e-6\)\n/;
const SELF_FUSED = /return F\.rms_norm\(x, x\.shape\[-1:\], self\.weight, self\.eps\)\n/;
const ZERO = 'h = x.float()\nh = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\nreturn (h * (1.0 + w.float())).type_as(x)';
const SWIGLU = (lines: string): string => `${HEADER}class MLP(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n        self.w1 = nn.Linear(dim, dim, bias=False)\n        self.w2 = nn.Linear(dim, dim, bias=False)\n        self.w3 = nn.Linear(dim, dim, bias=False)\n        self.w13 = nn.Linear(dim, 2 * dim, bias=False)\n\n    def forward(self, x):\n${indented(lines, '        ')}\n`;

const TOLD_APART: Readonly<Record<string, readonly Case[]>> = {
  'zero-centred weights keep gamma in fp32': [
    { name: '1 + w.float()', text: func(ZERO), backend: 'ascend', expect: /npu_rms_norm\(x, 1\.0 \+ w\.float\(\), 1e-6\)\[0\]/ },
    { name: 'the sum in the dtype of w', text: func(ZERO.replace('1.0 + w.float()', '1 + w')), backend: 'ascend', expect: /npu_rms_norm\(x, 1\.0 \+ w\.float\(\), 1e-6\)\[0\]/ },
    { name: 'the sum on the other side', text: func(ZERO.replace('h * (1.0 + w.float())', '(w.float() + 1) * h')), backend: 'torch', expect: /F\.rms_norm\(x\.float\(\), x\.shape\[-1:\], 1\.0 \+ w\.float\(\), 1e-6\)/ },
    { name: 'near miss: 2 + w is no zero-centred weight', text: func(ZERO.replace('1.0 + w.float()', '2.0 + w.float()')), backend: 'ascend', expect: /npu_rms_norm|refused|advice/ },
  ],
  'an extra scale stays': [
    { name: 'after the norm', text: func(NORM.replace('return w * h.to(x.dtype)', 'return w * h.to(x.dtype) * 0.5')), expect: /return F\.rms_norm\(x, x\.shape\[-1:\], w, 1e-6\) \* 0\.5\n/ },
    { name: 'a bias after the norm', text: func(NORM.replace('return w * h.to(x.dtype)', 'return w * h.to(x.dtype) + b'), { parameters: 'x, w, b' }), expect: /return F\.rms_norm\(x, x\.shape\[-1:\], w, 1e-6\) \+ b\n/ },
  ],
  'a gate of another kind stays': [
    { name: 'sigmoid after', text: func(NORM.replace('return w * h.to(x.dtype)', 'return w * h.to(x.dtype) * torch.sigmoid(g)'), { parameters: 'x, w, g' }), expect: /F\.rms_norm\(x, x\.shape\[-1:\], w, 1e-6\) \* torch\.sigmoid\(g\)/ },
    { name: 'gelu after', text: func(NORM.replace('return w * h.to(x.dtype)', 'return w * h.to(x.dtype) * F.gelu(g)'), { parameters: 'x, w, g' }), expect: /F\.rms_norm\(x, x\.shape\[-1:\], w, 1e-6\) \* F\.gelu\(g\)/ },
    { name: 'near miss: silu is taken in', text: func(NORM.replace('return w * h.to(x.dtype)', 'return (w * h * F.silu(g.float())).to(x.dtype)'), { parameters: 'x, w, g' }), expect: /F\.silu\(g\.float\(\)\)/ },
  ],
  'eps outside the root, and none': [
    { name: 'outside', text: func('return x / (x.pow(2).mean(-1, keepdim=True).sqrt() + 1e-6)'), expect: 'refused eps-outside' },
    { name: 'outside, by a function', text: func('return x / (torch.sqrt(torch.mean(x ** 2, dim=-1, keepdim=True)) + 1e-6)'), expect: 'refused eps-outside' },
    { name: 'none', text: func('return x * x.square().mean(-1, keepdim=True).rsqrt()'), expect: 'refused no-eps' },
  ],
  'another dimension': [
    { name: 'by position', text: func(NORM.replace('mean(-1', 'mean(1')), expect: 'refused other-dimension' },
    { name: 'by keyword', text: func(NORM.replace('mean(-1', 'mean(dim=0')), expect: 'refused other-dimension' },
    { name: 'two of them', text: func(NORM.replace('mean(-1', 'mean((-2, -1)')), expect: 'refused other-dimension' },
    { name: 'near miss: -1 by keyword', text: func(NORM.replace('mean(-1', 'mean(dim=-1')), expect: FUSED },
  ],
  'changes in place': [
    { name: 'augmented', text: func(NORM.replace('h = h * torch', 'h *= torch')), expect: 'refused in-place' },
    { name: 'mul_', text: func(NORM.replace('h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)', 'h = h.mul_(torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6))')), expect: 'refused in-place' },
    { name: 'the input changes before the result is made', text: func('h = x.float()\nh = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\nx.mul_(2)\nreturn w * h.to(torch.bfloat16)'), expect: 'refused in-place' },
    { name: 'a part of the input changes', text: func('h = x.float()\nh = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\nx[0] = 0\nreturn w * h.to(torch.bfloat16)'), expect: 'refused in-place' },
    { name: 'the input changes under another name', text: func('y = x.view(-1, 64)\nh = x.float()\nh = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\ny.zero_()\nreturn w * h.to(torch.bfloat16)'), expect: 'refused in-place' },
    { name: 'the weight changes', text: func('h = x.float()\nh = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\nw += 1\nreturn w * h.to(x.dtype)'), expect: 'refused in-place' },
    { name: 'near miss: changed after', text: func(NORM.replace('return w * h.to(x.dtype)', 'y = w * h.to(x.dtype)\nx.mul_(2)\nreturn y')), expect: /y = F\.rms_norm\(x, x\.shape\[-1:\], w, 1e-6\)\n {4}x\.mul_\(2\)/ },
  ],
  'a value between that is used elsewhere': [
    { name: 'returned', text: func(NORM.replace('h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)', 'r = torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\nh = h * r').replace('return w * h.to(x.dtype)', 'return w * h.to(x.dtype), r')), expect: 'refused shared' },
    { name: 'kept on the module', text: method(SELF_NORM.replace('h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)', 'self.rstd = torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)\nh = h * self.rstd')), expect: /self\.rstd = torch\.rsqrt/ },
    { name: 'printed', text: func(NORM.replace('h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)', 'v = h.pow(2).mean(-1, keepdim=True)\nprint(v)\nh = h * torch.rsqrt(v + 1e-6)')), expect: 'refused shared' },
    { name: 'near miss: the upcast alone is used', text: func(NORM.replace('return w * h.to(x.dtype)', 'y = w * h.to(x.dtype)\nreturn y, x.float()')), expect: /y = F\.rms_norm/ },
  ],
  hooks: [
    { name: 'on a tensor', text: func(`x.register_hook(print)\n${NORM}`), expect: 'refused hooks' },
    { name: 'on a value between', text: func(NORM.replace('return', 'h.retain_grad()\nreturn')), expect: 'refused hooks' },
    { name: 'on the module', text: method(SELF_NORM, { init: '        self.register_forward_hook(print)\n' }), expect: 'refused hooks' },
    { name: 'near miss: a word', text: func(`# no hooks here\n${NORM}`), expect: FUSED },
  ],
  'compiled regions': [
    { name: 'a decorator', text: func(NORM, { head: '@torch.compile\n' }), expect: 'refused compiled' },
    { name: 'a decorator with arguments', text: func(NORM, { head: '@torch.compile(dynamic=True)\n' }), expect: 'refused compiled' },
    { name: 'torch.jit', text: func(NORM, { head: '@torch.jit.script\n' }), expect: 'refused compiled' },
    { name: 'called', text: `${func(NORM)}\n\nfast = torch.compile(case)\n`, expect: 'refused compiled' },
    { name: 'the class', text: method(SELF_NORM, { classDecorators: '@torch.compile\n' }), expect: 'refused compiled' },
    { name: 'near miss: another function', text: `${func(NORM)}\n\ndef other(x):\n    return x\n\n\nfast = torch.compile(other)\n`, expect: FUSED },
  ],
  'autocast regions': [
    { name: 'with', text: func(`with torch.autocast("cuda"):\n${indented(NORM)}`), expect: 'refused autocast' },
    { name: 'with, of amp', text: func(`with torch.cuda.amp.autocast(enabled=False):\n${indented(NORM)}`), expect: 'refused autocast' },
    { name: 'a decorator', text: func(NORM, { head: '@torch.autocast(device_type="cuda")\n' }), expect: 'refused autocast' },
    { name: 'near miss: no_grad', text: func(NORM, { head: '@torch.no_grad()\n' }), expect: FUSED },
  ],
  'DTensor weights': [
    { name: 'in the file', text: func(NORM, { head: 'from torch.distributed.tensor import DTensor\n\n\n' }), expect: 'refused dtensor' },
    { name: 'parallelised in the file', text: `${method(SELF_NORM)}\n\ndef shard(model, mesh, plan):\n    parallelize_module(model, mesh, plan)\n`, expect: 'refused dtensor' },
    { name: 'near miss: data parallel', text: `${method(SELF_NORM)}\n\ndef shard(model):\n    return nn.parallel.DistributedDataParallel(model)\n`, expect: SELF_FUSED },
  ],
  'checkpoint policies that name operators': [
    { name: 'in the file', text: func(NORM, { head: 'from torch.utils.checkpoint import CheckpointPolicy\n\n\n' }), expect: 'refused checkpoint-policy' },
    { name: 'by contexts', text: `${func(NORM)}\n\ndef contexts(policy):\n    return create_selective_checkpoint_contexts(policy)\n`, expect: 'refused checkpoint-policy' },
    { name: 'near miss: plain checkpointing', text: `${func(NORM)}\n\ndef wrapped(x, w):\n    return torch.utils.checkpoint.checkpoint(case, x, w, use_reentrant=False)\n`, expect: FUSED },
  ],
  'gate and up of two weights: no cat, and no merged weight': [
    { name: 'two linears', text: SWIGLU('return self.w2(F.silu(self.w1(x)) * self.w3(x))'), backend: 'ascend', expect: 'advice needs-cat' },
    { name: 'two linears, named', text: SWIGLU('gate = self.w1(x)\nup = self.w3(x)\nreturn self.w2(F.silu(gate) * up)'), backend: 'ascend', expect: 'advice needs-cat' },
    { name: 'on CUDA as well', text: SWIGLU('return self.w2(F.silu(self.w1(x)) * self.w3(x))'), backend: 'cuda', expect: 'advice no-replacement' },
    { name: 'near miss: one weight, halves', text: SWIGLU('gate, up = self.w13(x).chunk(2, dim=-1)\nreturn self.w2(F.silu(gate) * up)'), backend: 'ascend', expect: /self\.w2\(torch_npu\.npu_swiglu\(self\.w13\(x\)(\.contiguous\(\))?, dim=-1\)\)/ },
    { name: 'near miss: the second half is the gate', text: SWIGLU('up, gate = self.w13(x).chunk(2, dim=-1)\nreturn self.w2(F.silu(gate) * up)'), backend: 'ascend', expect: 'advice halves-swapped' },
  ],
  'rotations of another kind': [
    { name: 'the first half is negated', text: func('a, b = x.chunk(2, dim=-1)\nreturn x * cos + torch.cat((b, -a), dim=-1) * sin', { parameters: 'x, cos, sin' }), backend: 'ascend', expect: /torch\.cat\(\(b, -a\)/ },
    { name: 'the halves swapped', text: func('a, b = x.chunk(2, dim=-1)\nreturn x * cos + torch.cat((-a, b), dim=-1) * sin', { parameters: 'x, cos, sin' }), backend: 'ascend', expect: 'refused other-rotation' },
    { name: 'halves of unlike size', text: func('return x * cos + torch.cat((-x[..., 16:], x[..., :48]), dim=-1) * sin', { parameters: 'x, cos, sin' }), backend: 'ascend', expect: 'refused other-rotation' },
    { name: 'even neighbours negated', text: func('return x * cos + torch.stack((-x[..., ::2], x[..., 1::2]), dim=-1).flatten(-2) * sin', { parameters: 'x, cos, sin' }), backend: 'ascend', expect: 'refused other-rotation' },
    { name: 'near miss: every dimension written', text: func('return x * cos + torch.stack((-x[:, :, :, 1::2], x[:, :, :, ::2]), dim=-1).flatten(-2) * sin', { parameters: 'x, cos, sin' }), backend: 'ascend', expect: /npu_rotary_mul\(x, cos, sin, rotary_mode='interleave'\)/ },
    { name: 'near miss: turned in another file', text: func('return x * cos + rotate_half(x) * sin', { parameters: 'x, cos, sin', head: 'from turn import rotate_half\n\n\n' }), others: { turn: 'import torch\n\n\ndef rotate_half(x):\n    a = x[..., : x.shape[-1] // 2]\n    b = x[..., x.shape[-1] // 2 :]\n    return torch.cat((-b, a), dim=-1)\n' }, backend: 'ascend', expect: /npu_rotary_mul\(x, cos, sin\)/ },
    { name: 'another dimension', text: func('a, b = x.chunk(2, dim=1)\nreturn x * cos + torch.cat((-b, a), dim=1) * sin', { parameters: 'x, cos, sin' }), backend: 'ascend', expect: 'refused other-rotation' },
  ],
  'biases of the linears do no harm, another activation does': [
    { name: 'bias in the joint weight', text: SWIGLU('gate, up = self.w13(x).chunk(2, -1)\nreturn self.w2(F.silu(gate) * up)').replace('2 * dim, bias=False', '2 * dim'), backend: 'ascend', expect: /npu_swiglu/ },
    { name: 'a bias between activation and product', text: SWIGLU('gate, up = self.w13(x).chunk(2, -1)\nreturn self.w2(F.silu(gate) * (up + 1))'), backend: 'ascend', expect: /F\.silu\(gate\) \* \(up \+ 1\)|advice|refused/ },
    { name: 'tanh', text: SWIGLU('gate, up = self.w13(x).chunk(2, -1)\nreturn self.w2(torch.tanh(gate) * up)'), backend: 'ascend', expect: /torch\.tanh\(gate\) \* up/ },
  ],
};

describe('told apart, and either handled or refused with the reason', () => {
  let parser: Parser;
  before(async () => { parser = await testParser(); });

  const plans = ({ text, backend = 'torch', others = {} }: Pick<Case, 'text' | 'backend' | 'others'>): readonly FusePlan[] => {
    const scopes = Object.entries({ model: text, ...others }).map(([name, content]) => moduleScope(`/project/${name}.py`, name, content, parsePython(parser, content)));
    return planFusions(scopes[0], new ModuleSet(scopes), backend, parser);
  };

  for (const [what, cases] of Object.entries(TOLD_APART)) {
    describe(what, () => {
      for (const one of cases) {
        it(one.name, () => {
          const planned = plans(one);
          const said = planned.map(({ status, reason }) => `${status} ${reason ?? ''}`.trim());
          const edited = applyEdits(one.text, mergedEdits(planned).edits);
          assert.deepEqual(parsePython(parser, edited).errors, []);
          if (typeof one.expect === 'string') {
            assert.ok(said.includes(one.expect), said.join('; '));
            assert.equal(edited, one.text, 'nothing is edited');
            assert.ok(`fuse.reason.${one.expect.split(' ')[1]}` in MESSAGES);
          } else {
            assert.match(`${said.join('; ')}\n${edited}`, one.expect);
          }
        });
      }
    });
  }

  it('warns of what the rest of the workspace says, not of what it does not', () => {
    const NOTHING = 'import torch\n\n\ndef train(model):\n    model.train()\n';
    const cautions = (other: string, text = func(NORM), backend: FuseBackend = 'torch'): readonly string[] => plans({ text, backend, others: { train: other } }).flatMap((plan) => plan.cautions);
    assert.deepEqual(cautions(NOTHING), []);
    const signs: Readonly<Record<string, readonly string[]>> = {
      rollout: ['from vllm import LLM\n', 'import verl\n', 'from trl import GRPOTrainer\n', 'from openrlhf.trainer import PPOTrainer\n', 'import os\nos.environ["XTUNER_USE_VLLM"] = "1"\n'],
      compile: ['model = torch.compile(model)\n', '@torch.compile\ndef step(x):\n    return x\n'],
      autocast: ['with torch.autocast("cuda"):\n    model(x)\n', 'with torch.cuda.amp.autocast():\n    model(x)\n'],
      dtensor: ['parallelize_module(model, mesh, {"norm": SequenceParallel()})\n', 'plan = {"wo": RowwiseParallel()}\n'],
      'checkpoint-policy': ['policy = CheckpointPolicy.MUST_SAVE\n', 'create_selective_checkpoint_contexts(ops)\n'],
    };
    for (const [code, texts] of Object.entries(signs)) {
      assert.ok(`fuse.caution.${code}` in MESSAGES);
      texts.forEach((line) => assert.deepEqual(cautions(NOTHING + line), [code], line));
    }
    // A word in a comment about vllm is no import of it; a head that is neither sharded nor shared needs no warning.
    assert.deepEqual(cautions(`${NOTHING}# as vllm does, from trl\n`), []);
    const loss = func('return F.cross_entropy(logits.float(), labels)', { parameters: 'logits, labels' });
    assert.deepEqual(cautions(NOTHING, loss), []);
    assert.deepEqual(cautions(`${NOTHING}fully_shard(model)\n`, loss), ['lm-head-sharded']);
    assert.deepEqual(cautions(`${NOTHING}model = FullyShardedDataParallel(model)\n`, loss), ['lm-head-sharded']);
    assert.deepEqual(cautions(`${NOTHING}self.mtp = build(config.num_nextn_predict_layers)\n`, loss), ['lm-head-shared']);
    assert.ok(['lm-head-sharded', 'lm-head-shared', 'npu-rotary'].every((code) => `fuse.caution.${code}` in MESSAGES));
  });

  it('says what npu_rotary_mul wants and the source does not tell', () => {
    const rope = `${HEADER}def rotate_half(x):\n    x1 = x[..., : x.shape[-1] // 2]\n    x2 = x[..., x.shape[-1] // 2 :]\n    return torch.cat((-x2, x1), dim=-1)\n\n\ndef case(q, cos, sin):\n    return (q * cos) + (rotate_half(q) * sin)\n`;
    assert.deepEqual(plans({ text: rope, backend: 'ascend' }).map((plan) => [plan.status, plan.cautions]), [['fixable', ['npu-rotary']]]);
  });
});
