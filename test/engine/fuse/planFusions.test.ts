import assert from 'node:assert/strict';
import type { Parser } from 'web-tree-sitter';
import { FUSIONS } from '../../../src/engine/fusions';
import type { FuseBackend } from '../../../src/engine/fusions/fusion';
import { applyEdits, mergedEdits, type FusePlan } from '../../../src/engine/fuse/plan';
import { planFusions } from '../../../src/engine/fuse/planFusions';
import { parsePython } from '../../../src/engine/python/parsePython';
import { moduleScope, ModuleSet } from '../../../src/engine/python/program';
import { WORKSPACE_FILES } from '../../../src/engine/sample/workspace/files';
import { MESSAGES } from '../../../src/protocol/text';
import { testParser } from '../pythonParser';
import { HEADER, SPELLINGS } from './spellings';

describe('planning fusions', () => {
  let parser: Parser;
  before(async () => { parser = await testParser(); });

  const plan = (text: string, backend: FuseBackend = 'torch', file = '/project/model.py'): readonly FusePlan[] => {
    const scope = moduleScope(file, 'model', text, parsePython(parser, text));
    return planFusions(scope, new ModuleSet([scope]), backend, parser);
  };
  const fuse = (text: string, backend: FuseBackend = 'torch'): string => applyEdits(text, mergedEdits(plan(text, backend)).edits);
  const reasons = (text: string, backend: FuseBackend = 'torch'): readonly string[] => plan(text, backend).map((one) => `${one.fusion.id} ${one.reason ?? one.status}`);

  const SHOULD: Readonly<Record<string, string>> = { 'swiglu torch': 'advice', 'swiglu cuda': 'advice', 'geglu torch': 'advice', 'geglu cuda': 'advice', 'rope torch': 'advice', 'rope cuda': 'advice', 'l2-norm ascend': 'advice', 'attention ascend': 'advice' };
  for (const backend of ['torch', 'cuda', 'ascend'] as const) {
    for (const { name, fusion, python } of SPELLINGS) {
      it(`${backend}: ${fusion}, ${name}`, () => {
        const text = HEADER + python;
        const plans = plan(text, backend).filter((one) => one.fusion.id === fusion);
        assert.equal(plans.length, 1, JSON.stringify(plan(text, backend).map((one) => [one.fusion.id, one.status, one.reason])));
        assert.equal(plans[0].status, SHOULD[`${fusion} ${backend}`] ?? 'fixable', plans[0].reason);
        const edited = fuse(text, backend);
        assert.equal(parsePython(parser, edited).errors.length, 0, edited);
        assert.equal(fuse(edited, backend), edited, 'fusing twice changes nothing');
      });
    }
  }

  it('takes out what only the form used, and leaves comments and the rest byte for byte', () => {
    const [first] = SPELLINGS;
    const edited = fuse(HEADER + first.python);
    assert.equal(edited, HEADER + first.python.replace(/ {8}input_dtype[\s\S]*$/, '        return F.rms_norm(hidden_states, hidden_states.shape[-1:], self.weight, self.eps)\n'));
  });

  it('takes out a function inside the function that only the form called, and keeps one that something else calls', () => {
    const text = `${HEADER}def case(x, w, eps: float):\n    def _norm(h):\n        return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n\n    y = _norm(x.float())\n    # kept\n    y = y * w\n    return y.type_as(x)\n`;
    assert.equal(fuse(text), `${HEADER}def case(x, w, eps: float):\n    # kept\n    y = F.rms_norm(x, x.shape[-1:], w, eps)\n    return y.type_as(x)\n`);
    const used = text.replace('    return y.type_as(x)', '    return y.type_as(x), _norm');
    assert.match(fuse(used), /def _norm\(h\):/);
  });

  it('keeps a name that something else still reads', () => {
    const text = `${HEADER}def case(x, w):\n    dtype = x.dtype\n    h = x.float()\n    y = w * (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)).to(dtype)\n    print(dtype)\n    return y + h.to(dtype)\n`;
    assert.equal(fuse(text), text.replace(/y = .*\n/, 'y = F.rms_norm(x, x.shape[-1:], w, 1e-6)\n'));
  });

  it('keeps CRLF line ends and tabs', () => {
    const text = (HEADER + 'class Case(nn.Module):\n\tdef forward(self, x, w):\n\t\th = x.float()\n\t\th = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\n\t\treturn w * h.to(x.dtype)  # kept\n').replaceAll('\n', '\r\n');
    assert.equal(fuse(text, 'ascend'), text.replace('from torch import nn\r\n', 'from torch import nn\r\nimport torch_npu\r\n').replace(/\t\th = [\s\S]*return [^#]*/, '\t\treturn torch_npu.npu_rms_norm(x, w, 1e-6)[0]  '));
  });

  it('guards the import and the call where the file also runs elsewhere', () => {
    const text = `${HEADER}DEVICE = "cuda"\n\n\ndef case(x, w):\n    h = x.float()\n    return w * (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)\n`;
    const edited = fuse(text, 'ascend');
    assert.match(edited, /try:\n {4}import torch_npu\nexcept ImportError:\n {4}torch_npu = None\n/);
    assert.match(edited, /return \(torch_npu\.npu_rms_norm\(x, w, 1e-6\)\[0\] if x\.device\.type == "npu" else F\.rms_norm\(x, x\.shape\[-1:\], w, 1e-6\)\)\n/);
    assert.equal(fuse(edited, 'ascend'), edited);
  });

  it('puts one import for many forms', () => {
    const text = HEADER + SPELLINGS.filter(({ python }) => python.startsWith('def case')).map(({ python }, i) => python.replace('def case', `def case${i}`)).join('\n\n');
    assert.equal(fuse(text, 'ascend').split('import torch_npu').length, 2);
  });

  const body = (lines: string, head = ''): string => `${HEADER}${head}def case(x, w):\n${lines.split('\n').map((line) => `    ${line}`).join('\n')}\n`;
  const NORM = 'h = x.float()\nh = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\nreturn w * h.to(x.dtype)';
  const REFUSED: readonly (readonly [name: string, reason: string, text: string])[] = [
    ['another dimension', 'rms-norm other-dimension', body(NORM.replace('mean(-1', 'mean(1'))],
    ['mean without square', 'rms-norm no-square', body(NORM.replace('h.pow(2).mean', 'h.mean'))],
    ['no eps', 'rms-norm no-eps', body(NORM.replace(' + 1e-6', ''))],
    ['a value between returned as well', 'rms-norm shared', body('h = x.float()\nvariance = h.pow(2).mean(-1, keepdim=True)\nreturn w * (h * torch.rsqrt(variance + 1e-6)).to(x.dtype), variance')],
    ['changed in place', 'rms-norm in-place', body(NORM.replace('h = h * torch', 'h *= torch'))],
    ['torch.compile', 'rms-norm compiled', body(NORM, '@torch.compile\n')],
    ['torch.jit', 'rms-norm compiled', body(NORM, '@torch.jit.script\n')],
    ['autocast', 'rms-norm autocast', body(`with torch.autocast("cuda"):\n${NORM.split('\n').map((line) => `    ${line}`).join('\n')}`)],
    ['a hook on the tensor', 'rms-norm hooks', body(`x.register_hook(print)\n${NORM}`)],
    ['DTensor', 'rms-norm dtensor', body(NORM, 'from torch.distributed.tensor import DTensor\n\n\n')],
    ['a constant nobody knows', 'gelu constant-unknown', body('return x * torch.sigmoid(alpha * x)').replace('def case(x, w)', 'def case(x, w, alpha: float)')],
    ['a norm over groups', 'rms-norm reshaped', body('g = x.view(-1, 4, 16)\nreturn w * (g * torch.rsqrt(g.pow(2).mean(-1, keepdim=True) + 1e-6)).view(-1, 64)')],
    ['no keepdim', 'rms-norm no-keepdim', body(NORM.replace(', keepdim=True', ''))],
    ['a dimension nobody knows', 'rms-norm dimension-unknown', body(NORM.replace('mean(-1', 'mean(axis')).replace('def case(x, w)', 'def case(x, w, axis: int)')],
  ];
  for (const [name, reason, text] of REFUSED) {
    it(`refuses ${name}`, () => {
      assert.ok(reasons(text).includes(reason), reasons(text).join('; '));
      assert.equal(plan(text).filter((one) => one.status === 'fixable' && one.fusion.id === reason.split(' ')[0]).length, 0);
    });
  }

  const NORMS: Readonly<Record<string, readonly (readonly [parameters: string, lines: string, found: readonly string[]])[]>> = {
    'of an activation': [
      ['x', 'return F.normalize(x.float(), dim=-1) * x.shape[-1] ** -0.5', []],
      ['x', 'return x / x.norm(dim=-1, keepdim=True)', []],
      ['x', 'return x / (torch.linalg.vector_norm(x, dim=-1, keepdim=True) + 1e-6)', []],
      ['x, target', 'return torch.linalg.vector_norm(x - target)', []],
      ['layers, x', 'norms = []\nfor layer in layers:\n    x = layer(x)\n    norms.append(x.norm())\nreturn norms', []],
      ['embedding', 'return embedding.weight.grad.norm()', []],
    ],
    'of each gradient': [
      ['model', 'total = 0.0\nfor p in model.parameters():\n    total += p.grad.norm() ** 2\nreturn total ** 0.5', ['gradient-norm 9']],
      ['params', 'norms = [torch.linalg.vector_norm(p.grad) for p in params if p.grad is not None]\nreturn torch.linalg.vector_norm(torch.stack(norms))', ['gradient-norm 7']],
      ['grads', 'norms = []\nfor g in grads:\n    norms.append(g.detach().float().norm())\nreturn norms', ['gradient-norm 9']],
      ['model', 'return {name: torch.norm(p.grad.data).item() for name, p in model.named_parameters()}', ['gradient-norm 7']],
      ['model', 'return sum(p.norm() for p in model.parameters())', ['gradient-norm 7']],
    ],
  };
  for (const [what, cases] of Object.entries(NORMS)) {
    for (const [parameters, lines, found] of cases) {
      it(`takes the norm ${what} for what it is: ${lines.split('\n').find((line) => line.includes('norm(') || line.includes('normalize(')) ?? ''}`, () => {
        const text = body(lines).replace('def case(x, w)', `def case(${parameters})`);
        assert.deepEqual(plan(text).map(({ fusion, startLine }) => `${fusion.id} ${startLine}`), found);
      });
    }
  }

  it('fuses the norm alone where the gate is no SiLU, and where a scale follows', () => {
    const text = body('h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)\nreturn w * h * torch.sigmoid(gate)').replace('def case(x, w)', 'def case(x, w, gate)');
    assert.match(fuse(text), /return F\.rms_norm\(x, x\.shape\[-1:\], w, 1e-6\) \* torch\.sigmoid\(gate\)\n/);
  });

  it('fuses inside a helper, not past it, where a subclass has its own', () => {
    const helper = SPELLINGS.find(({ name }) => name === 'a helper method');
    const text = `${HEADER}${helper?.python ?? ''}\n\nclass Other(Case):\n    def _norm(self, x):\n        return x\n`;
    assert.match(fuse(text), /def _norm\(self, x\):\n {8}return F\.rms_norm\(x, x\.shape\[-1:\], eps=self\.eps\)\n\n {4}def forward\(self, x\):\n {8}output = self\._norm\(x\.float\(\)\)/);
  });

  it('looks for subclasses in the other files of the workspace, by import and by re-export', () => {
    const helper = SPELLINGS.find(({ name }) => name === 'a helper method');
    const planned = (others: Readonly<Record<string, string>>): readonly FusePlan[] => {
      const scopes = Object.entries({ 'pkg.norms': `${HEADER}${helper?.python ?? ''}`, ...others }).map(([name, text]) => moduleScope(`/project/${name.replaceAll('.', '/')}.py`, name, text, parsePython(parser, text)));
      return planFusions(scopes[0], new ModuleSet(scopes), 'torch', parser);
    };
    const lines = (others: Readonly<Record<string, string>>): readonly string[] => planned(others).filter(({ status }) => status === 'fixable').map(({ functionName }) => functionName);
    assert.deepEqual(lines({}), ['Case.forward', 'Case._norm'].slice(0, 1));
    const own = 'class Other(Base):\n    def _norm(self, x):\n        return x\n';
    const spelled: readonly Readonly<Record<string, string>>[] = [
      { 'pkg.other': `from pkg.norms import Case as Base\n\n\n${own}` },
      { 'pkg.other': `from .norms import Case\n\n\nclass Middle(Case):\n    pass\n\n\n${own.replace('Base', 'Middle')}` },
      { 'pkg': 'from .norms import Case\n', 'else.where': `from pkg import Case\n\n\n${own.replace('Base', 'Case')}` },
      { 'pkg.other': `from pkg import norms\n\n\n${own.replace('Base', 'norms.Case')}` },
    ];
    for (const others of spelled) {
      assert.deepEqual(lines(others), ['Case._norm'], JSON.stringify(others));
    }
    // Another class of the same name is no base of it; nor does one that changes something else matter.
    assert.deepEqual(lines({ 'pkg.other': `class Case:\n    pass\n\n\n${own.replace('Base', 'Case')}` }), ['Case.forward']);
    assert.deepEqual(lines({ 'pkg.other': 'from pkg.norms import Case\n\n\nclass Other(Case):\n    def extra_repr(self):\n        return ""\n' }), ['Case.forward']);
  });

  it('takes no default of __init__ for granted', () => {
    const flagged = (head: string, lines: string): string => `${HEADER}class Case(nn.Module):\n    def __init__(self, dim, ${head}, eps=1e-6):\n        super().__init__()\n        self.flag = flag\n        self.eps = eps\n        self.weight = nn.Parameter(torch.ones(dim))\n\n    def forward(self, x):\n${lines.split('\n').map((line) => `        ${line}`).join('\n')}\n`;
    // A caller may pass flag=True: the weight is whichever of the two the name holds.
    const offset = flagged('flag=False', 'h = x.float()\nh = h * torch.rsqrt(torch.mean(h * h, dim=-1, keepdim=True) + self.eps)\nweight = (1 + self.weight) if self.flag else self.weight\nreturn (h * weight.float()).to(x.dtype)');
    assert.match(fuse(offset), /return F\.rms_norm\(x, x\.shape\[-1:\], weight, self\.eps\)/);
    const dimension = flagged('flag=-1', 'return self.weight * (x * torch.rsqrt((x * x).mean(dim=self.flag, keepdim=True) + self.eps))');
    assert.deepEqual(reasons(dimension), ['rms-norm dimension-unknown']);
    const branch = flagged('flag=False', 'var = x.float().pow(2).mean(-1, keepdim=True)\nif self.flag:\n    var = gather(var)\nreturn self.weight * (x.float() * torch.rsqrt(var + self.eps)).type_as(x)');
    assert.equal(fuse(branch), branch);
  });

  const SCALE = 'v = x.pow(2).mean(-1, keepdim=True)\n    return w * (x * torch.rsqrt(v + 1e-6))\n';

  it('writes no module by a name that the function uses for something else', () => {
    const parameter = (name: string): string => `${HEADER}def case(x, w, ${name}):\n    ${SCALE}`;
    assert.match(fuse(parameter('F')), /return (torch\.)?nn\.functional\.rms_norm\(/);
    assert.equal(fuse(parameter('torch_npu'), 'ascend'), parameter('torch_npu'));
    assert.deepEqual(reasons(parameter('torch_npu'), 'ascend'), ['rms-norm name-taken']);
    for (const local of ['from mine import functional as F', 'with x as F:\n        pass', 'sizes = [F for F in x.shape]']) {
      assert.match(fuse(`${HEADER}def case(x, w):\n    ${local}\n    ${SCALE}`), /return (torch\.)?nn\.functional\.rms_norm\(/, local);
    }
    assert.match(fuse(`${HEADER}def case(x, w):\n    import torch_npu\n    ${SCALE}`, 'ascend'), /torch_npu\.npu_rms_norm\(/);
  });

  it('reads a carriage return alone as the end of a line, as Python does', () => {
    const text = `${HEADER}def case(x, w):\n    ${SCALE}`;
    assert.equal(fuse(text.replaceAll('\n', '\r'), 'ascend'), fuse(text, 'ascend').replaceAll('\n', '\r'));
    const swallowed = `${HEADER}def case(x, w):\n    v = x.pow(2).mean(-1, keepdim=True)  # mean\r    v = v * 2\r    return w * (x * torch.rsqrt(v + 1e-6))\n`;
    assert.equal(fuse(swallowed), swallowed);
  });

  it('takes out a statement that stands first on the line of its function', () => {
    const edited = fuse(`${HEADER}def case(x, w): v = x.pow(2).mean(-1, keepdim=True); \\\n    return w * (x * torch.rsqrt(v + 1e-6))\n`);
    assert.equal(edited, `${HEADER}def case(x, w): \\\n    return F.rms_norm(x, x.shape[-1:], w, 1e-6)\n`);
  });

  for (const backend of ['torch', 'cuda', 'ascend'] as const) {
    it(`${backend}: fuses the sample's model twice, and the second time finds nothing that was not there at first`, () => {
      const [, text] = WORKSPACE_FILES.find(([name]) => name === 'q35_npu_old.py') ?? assert.fail('the sample has no such file');
      const told = (plans: readonly FusePlan[]): readonly string[] => plans.filter(({ status }) => status !== 'fixable').map(({ fusion, functionName, reason }) => `${fusion.id} ${functionName} ${reason ?? ''}`);
      const edited = fuse(text, backend);
      assert.notEqual(edited, text);
      assert.deepEqual(plan(edited, backend).filter(({ status }) => status === 'fixable'), []);
      assert.deepEqual(told(plan(edited, backend)), told(plan(text, backend)));
    });
  }

  it('takes a gate on the output of a norm for no SwiGLU, called or spelled out, and one on anything else for one', () => {
    const found = (lines: string, head = ''): readonly string[] => plan(body(lines, head).replace('def case(x, w)', 'def case(x, w, gate, up)')).map(({ fusion, status }) => `${fusion.id} ${status}`);
    for (const norm of ['torch_npu.npu_rms_norm(x, w, 1e-6)[0]', 'F.rms_norm(x, x.shape[-1:], w, 1e-6).to(x.dtype)', 'F.layer_norm(x, x.shape[-1:], w)', '(torch_npu.npu_rms_norm(x, w, 1e-6)[0] if x.device.type == "npu" else F.rms_norm(x, x.shape[-1:], w, 1e-6))']) {
      assert.deepEqual(found(`return ${norm} * F.silu(gate.float())`), [], norm);
      assert.deepEqual(found(`y = ${norm}\nreturn (F.silu(gate) * y).to(x.dtype)`), [], norm);
      // Of the value that is activated a norm may come first, and a product between makes it another value.
      assert.deepEqual(found(`return F.silu(${norm}) * up`), ['swiglu advice'], norm);
      assert.deepEqual(found(`return F.silu(gate) * (${norm} @ up)`), ['swiglu advice'], norm);
    }
    // Spelled out in a way that is not replaced: there the norm is told of, and the gate is still none.
    assert.deepEqual(found('y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True))\nreturn F.silu(gate) * y'), ['rms-norm refused']);
    assert.deepEqual(found('return F.silu(gate) * up'), ['swiglu advice']);
  });

  it('advises on a causal convolution written as a loop over its taps, and on no other sum of a loop', () => {
    const found = (lines: string): readonly string[] => plan(body(lines)).map(({ fusion, status, startLine, endLine }) => `${fusion.id} ${status} ${startLine}-${endLine}`);
    assert.deepEqual(found('taps = w.shape[0]\nout = x * w[taps - 1]\nfor shift in range(1, taps):\n    out = out + F.pad(x, (0, 0, shift, -shift)) * w[taps - 1 - shift]\nreturn F.silu(out)'), ['causal-conv1d advice 8-11']);
    assert.deepEqual(found('k = w.shape[-1]\npadded = F.pad(x, (k - 1, 0))\nout = torch.zeros_like(x)\nfor j in range(k):\n    out += w[:, j] * padded[..., j : j + x.shape[-1]]\nreturn F.silu(out)'), ['causal-conv1d advice 8-12']);
    // Padded behind as well, it looks ahead; without a shift it is a weighted sum; of another tensor each turn it is something else.
    assert.deepEqual(found('out = x * w[0]\nfor i in range(1, w.shape[0]):\n    out = out + F.pad(x, (0, 0, 1, 1)) * w[i]\nreturn F.silu(out)'), []);
    assert.deepEqual(found('out = x * w[0]\nfor i in range(1, w.shape[0]):\n    out = out + x * w[i]\nreturn F.silu(out)'), []);
    assert.deepEqual(found('out = x * w[0]\nfor i in range(1, w.shape[0]):\n    out = out + F.pad(w, (0, 0, i, -i)) * w[i]\nreturn F.silu(out)'), []);
  });

  it('never edits an installed package', () => {
    const plans = plan(body(NORM), 'torch', '/usr/lib/python3/site-packages/models/model.py');
    assert.deepEqual(plans.map(({ status, reason }) => [status, reason]), [['refused', 'outside-workspace']]);
  });

  it('says nothing about code without a form', () => {
    assert.deepEqual(plan(body('return x @ w')), []);
  });

  it('has a sentence for every reason, remedy and promise', () => {
    for (const fusion of FUSIONS) {
      assert.ok(`fuse.remedy.${fusion.id}` in MESSAGES, fusion.id);
      assert.ok((fusion.nearMisses ?? []).every(({ reason }) => `fuse.reason.${reason}` in MESSAGES));
      assert.ok(Object.values(fusion.replacements ?? {}).every(({ promise }) => `fuse.promise.${promise}` in MESSAGES));
    }
    assert.ok(REFUSED.every(([, reason]) => `fuse.reason.${reason.split(' ')[1]}` in MESSAGES));
  });

  it('fuses the sample\'s norms on Ascend', () => {
    const [, text] = WORKSPACE_FILES[0];
    const fixable = plan(text, 'ascend').filter(({ status }) => status === 'fixable').map(({ fusion, startLine }) => `${fusion.id}:${startLine}`);
    assert.ok(fixable.includes('gated-rms-norm:29'), fixable.join(' '));
    assert.ok(fixable.some((one) => one.startsWith('zero-centred-rms-norm')), fixable.join(' '));
  });
});
