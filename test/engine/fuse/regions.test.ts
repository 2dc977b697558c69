import assert from 'node:assert/strict';
import type { Parser } from 'web-tree-sitter';
import { planFusions } from '../../../src/engine/fuse/planFusions';
import { parsePython } from '../../../src/engine/python/parsePython';
import { moduleScope, ModuleSet } from '../../../src/engine/python/program';
import { testParser } from '../pythonParser';
import { HEADER } from './spellings';

const BODY = (weight: string): string => `h = x.float()\n        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\n        return ${weight} * h.to(x.dtype)\n`;
/** The edited file: a class, and a layer and a model that use it. */
const MODEL = `${HEADER}class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        ${BODY('self.weight')}

class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attention_norm = Norm(dim)
        self.wq = nn.Linear(dim, dim)

    def forward(self, x):
        return self.wq(self.attention_norm(x))


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.layers = nn.ModuleList([Layer(dim) for _ in range(2)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Other(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        return self.norm(x)
`;
/** The same as a function. */
const FUNCTION = `${HEADER}def rms_norm(x, w):\n    ${BODY('w').replaceAll('        ', '    ')}\n\ndef scaled(x, w):\n    return 2 * rms_norm(x, w)\n\n\ndef other(x):\n    return x\n`;

/** Text of another file, and what it makes of the edit: a reason with its place, or only a caution (or nothing). */
type Case = readonly [name: string, other: string, expect: string];

const IMPORTED = 'import torch\nfrom model import Layer, Model, Norm, Other\n\n';

const CLASSES: Readonly<Record<string, readonly Case[]>> = {
  'compiled elsewhere': [
    ['an object of it', `${IMPORTED}norm = Norm(8)\nfast = torch.compile(norm)\n`, 'compiled-there train.py:5'],
    ['a model that uses it, in main()', `${IMPORTED}def main():\n    model = Model(8).to("cuda")\n    model = torch.compile(model, dynamic=True)\n\n\nif __name__ == "__main__":\n    main()\n`, 'compiled-there train.py:6'],
    ['below the guard of a script', `${IMPORTED}if __name__ == "__main__":\n    model = torch.compile(Model(8))\n`, 'compiled-there train.py:5'],
    ['as a method', `${IMPORTED}model = Model(8)\nmodel.compile(mode="max-autotune")\n`, 'compiled-there train.py:5'],
    ['forward of the class, through a module', 'import torch\nimport model\n\nmodel.Norm.forward = torch.compile(model.Norm.forward)\n', 'compiled-there train.py:4'],
    ['imported from torch', `from torch import compile\n${IMPORTED}fast = compile(Layer(8))\n`, 'compiled-there train.py:5'],
    ['torch.jit.script', `${IMPORTED}fast = torch.jit.script(Model(8).eval())\n`, 'compiled-there train.py:4'],
    ['a wrapper around the model', `${IMPORTED}model = torch.nn.parallel.DistributedDataParallel(Model(8))\nmodel = torch.compile(model)\n`, 'compiled-there train.py:5'],
    ['by a decorator on what makes and runs it', `${IMPORTED}@torch.compile(fullgraph=True)\ndef step(x):\n    return Model(8)(x)\n`, 'compiled-there train.py:4'],
    ['by a partial decorator', `import functools\n${IMPORTED}@functools.partial(torch.compile, dynamic=True)\ndef step(x):\n    return Model(8)(x)\n`, 'compiled-there train.py:5'],
    ['by a decorator on the forward of a class that holds it', `${IMPORTED}class Wrapped(torch.nn.Module):\n    def __init__(self):\n        self.inner = Model(8)\n\n    @torch.compile\n    def forward(self, x):\n        return self.inner(x)\n`, 'compiled-there train.py:8'],
    ['near miss: only under a condition', `${IMPORTED}model = Model(8)\nif ARGS.compile:\n    model = torch.compile(model)\n`, 'compile'],
    ['near miss: only in one branch of an expression', `${IMPORTED}model = Model(8)\nmodel = torch.compile(model) if ARGS.compile else model\n`, 'compile'],
    ['near miss: something else', `${IMPORTED}fast = torch.compile(Other(8))\n`, 'compile'],
    ['near miss: what nobody can tell', `${IMPORTED}def prepare(model):\n    return torch.compile(model)\n`, 'compile'],
    ['near miss: a regular expression', `import re\n${IMPORTED}words = re.compile("Norm")\n`, ''],
    ['near miss: a class of the same name in another package', 'import torch\nfrom apex import Norm\n\nfast = torch.compile(Norm(8))\n', 'compile'],
    ['near miss: another module with an attribute of the name', `${IMPORTED}class Block(torch.nn.Module):\n    def __init__(self):\n        self.attention_norm = torch.nn.LayerNorm(8)\n        self.fast = torch.compile(self.attention_norm)\n`, 'compile'],
  ],
  'autocast elsewhere': [
    ['an object of it is called', `${IMPORTED}norm = Norm(8)\nwith torch.autocast("cuda", dtype=torch.bfloat16):\n    y = norm(x)\n`, 'autocast-there train.py:5'],
    ['an attribute that holds it is called', `${IMPORTED}def run(layer, x):\n    with torch.autocast("cuda"):\n        return layer.attention_norm(x)\n`, 'autocast-there train.py:5'],
    ['in a decorated function', `${IMPORTED}@torch.autocast(device_type="npu")\ndef run(layer, x):\n    return layer.attention_norm(x)\n`, 'autocast-there train.py:4'],
    ['near miss: the whole step', `${IMPORTED}model = Model(8)\nwith torch.autocast("cuda", dtype=torch.bfloat16):\n    loss = model(x).sum()\n`, 'autocast'],
    ['near miss: switched off', `${IMPORTED}norm = Norm(8)\nwith torch.autocast("cuda", enabled=False):\n    y = norm(x)\n`, 'autocast'],
    ['near miss: only made there', `${IMPORTED}with torch.autocast("cuda"):\n    norm = Norm(8)\n`, 'autocast'],
    ['near miss: another norm', `${IMPORTED}def run(self, x):\n    with torch.autocast("cuda"):\n        return self.norm(x)\n`, 'autocast'],
  ],
  'sharded elsewhere': [
    ['by a plan that names it', `${IMPORTED}def apply_tp(model, mesh):\n    plan = {\n        "layers.*.attention.wq": ColwiseParallel(),\n        "layers.*.attention_norm": SequenceParallel(),\n    }\n    parallelize_module(model, mesh, plan)\n`, 'dtensor-there train.py:7'],
    ['by a style with a name', `${IMPORTED}norm_plan = SequenceParallel(sequence_dim=1)\nparallelize_module(model, mesh, {"attention_norm": norm_plan})\n`, 'dtensor-there train.py:5'],
    ['by a key that is added', `${IMPORTED}plan = {}\nplan["layers.0.attention_norm"] = tp.SequenceParallel()\n`, 'dtensor-there train.py:5'],
    ['by a key with a number', `${IMPORTED}for i in range(2):\n    plan[f"layers.{i}.attention_norm"] = SequenceParallel()\n`, 'dtensor-there train.py:5'],
    ['by itself', `${IMPORTED}for layer in model.layers:\n    parallelize_module(layer.attention_norm, mesh, SequenceParallel())\n`, 'dtensor-there train.py:5'],
    ['its weight', `${IMPORTED}for layer in model.layers:\n    layer.attention_norm.weight = nn.Parameter(distribute_tensor(layer.attention_norm.weight, mesh))\n`, 'dtensor-there train.py:5'],
    ['near miss: the linears beside it', `${IMPORTED}parallelize_module(model, mesh, {"layers.*.wq": ColwiseParallel(), "layers.*.wo": RowwiseParallel()})\n`, 'dtensor'],
    ['near miss: a key of a table that is no plan', `${IMPORTED}from torch.distributed.tensor.parallel import SequenceParallel\nsizes = {"attention_norm": 8}\n`, 'dtensor'],
    ['near miss: FSDP', `${IMPORTED}from torch.distributed.fsdp import fully_shard\nfully_shard(Model(8))\n`, ''],
  ],
};

const FUNCTIONS: readonly Case[] = [
  ['compiled, imported', 'import torch\nfrom model import rms_norm\n\nfast = torch.compile(rms_norm)\n', 'compiled-there train.py:4'],
  ['compiled, through a package', 'import torch\nimport model as ops\n\nfast = torch.jit.script(ops.rms_norm)\n', 'compiled-there train.py:4'],
  ['compiled with what calls it', 'import torch\nfrom model import scaled\n\nfast = torch.compile(scaled)\n', 'compiled-there train.py:4'],
  ['called under autocast', 'import torch\nfrom model import rms_norm\n\nwith torch.cuda.amp.autocast():\n    y = rms_norm(x, w)\n', 'autocast-there train.py:4'],
  ['near miss: another function', 'import torch\nfrom model import other, rms_norm\n\nfast = torch.compile(other)\n', 'compile'],
  ['near miss: one of the name elsewhere', 'import torch\nfrom apex import rms_norm\n\nfast = torch.compile(rms_norm)\n', 'compile'],
];

/** Told by what other files of the workspace say of the code. */
describe('regions that other files put code into', () => {
  let parser: Parser;
  before(async () => { parser = await testParser(); });

  const plan = (model: string, other: string, allow: readonly string[] = []): ReturnType<typeof planFusions>[number] => {
    const scopes = Object.entries({ model, train: other }).map(([name, text]) => moduleScope(`/project/${name}.py`, name, text, parsePython(parser, text)));
    const plans = planFusions(scopes[0], new ModuleSet(scopes), 'torch', parser, { allow });
    assert.equal(plans.length, 1, plans.map(({ startLine }) => startLine).join());
    return plans[0];
  };

  for (const [what, cases] of [...Object.entries(CLASSES).map(([name, rows]) => [name, rows, MODEL] as const), ['a function', FUNCTIONS, FUNCTION] as const].map(([name, rows, model]) => [name, rows.map((row) => [...row, model] as const)] as const)) {
    describe(what, () => {
      for (const [name, other, expect, model] of cases) {
        it(name, () => {
          const { status, reason, reasonPlace, cautions, edits } = plan(model, other);
          if (!expect.includes(' ')) {
            assert.deepEqual([status, reason, cautions], ['fixable', undefined, expect === '' ? [] : [expect]]);
            return;
          }
          assert.deepEqual([status, edits, `${reason ?? ''} ${reasonPlace ?? ''}`], ['refused', [], expect]);
          // Who knows better can have the edit, with the caution.
          const waived = expect.split('-there')[0];
          const allowed = plan(model, other, [waived]);
          assert.deepEqual([allowed.status, allowed.reason, allowed.cautions], ['fixable', undefined, [waived === 'compiled' ? 'compile' : waived]]);
          assert.equal(plan(model, other, ['compiled', 'autocast', 'dtensor'].filter((one) => one !== waived)).status, 'refused');
        });
      }
    });
  }

  it('in the file itself: a method that its class calls under autocast', () => {
    const own = `${HEADER}class Norm(nn.Module):\n    def _norm(self, x):\n        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)\n\n    def forward(self, x):\n        with torch.autocast("cuda"):\n            return self._norm(x)\n`;
    const { status, reason, reasonPlace } = plan(own, 'import torch\n');
    assert.deepEqual([status, reason, reasonPlace], ['refused', 'autocast-there', `model.py:${own.split('\n').findIndex((line) => line.includes('autocast')) + 1}`]);
  });

  it('waives what stands in the file itself, too', () => {
    const { status, cautions } = plan(MODEL.replace('class Norm', '@torch.compile\nclass Norm'), '', ['compiled']);
    assert.deepEqual([status, cautions], ['fixable', ['compile']]);
  });
});
