import assert from 'node:assert/strict';
import path from 'node:path';
import { Language, Parser } from 'web-tree-sitter';
import { lowerFunction } from '../../../src/engine/python/lowering';
import type { OperatorGraph, Step } from '../../../src/engine/python/operatorGraph';
import { parsePython } from '../../../src/engine/python/parsePython';
import { moduleScope, ModuleSet } from '../../../src/engine/python/program';

/** Operators in the order they run, branches as `(a | b)`, loops as `[…]*`. */
function sequence(graph: OperatorGraph): string {
  const text = (steps: readonly Step[]): string => steps.map((step) => {
    switch (step.kind) {
      case 'operator': return graph.nodes[step.node].op === 'view' ? '' : graph.nodes[step.node].op;
      case 'call': return text(step.steps);
      case 'alternatives': return `(${step.branches.map(text).join(' | ')})`;
      case 'loop': return `[${text(step.steps)}]*`;
    }
  }).filter((part) => part !== '').join(' ');
  return text(graph.steps);
}

describe('lowering Python to operators', () => {
  let parser: Parser;

  before(async () => {
    await Parser.init();
    parser = new Parser();
    parser.setLanguage(await Language.load(path.resolve('node_modules/tree-sitter-python/tree-sitter-python.wasm')));
  });

  const lower = (source: string, name: string, owner?: string): OperatorGraph => {
    const scope = moduleScope('model.py', 'model', source, parsePython(parser, source));
    const set = new ModuleSet([scope]);
    const top = scope.names.get(owner ?? name);
    if (top?.kind === 'function') {
      return lowerFunction(set, scope, top.definition);
    }
    assert.ok(top?.kind === 'class');
    const method = top.definition.body.find((statement) => statement.kind === 'function' && statement.name === name);
    assert.ok(method?.kind === 'function');
    return lowerFunction(set, scope, method, top.definition);
  };

  const IMPORTS = 'import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n';

  const SPELLINGS: readonly (readonly [string, string])[] = [
    ['return torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * x', 'pow mean adds rsqrt mul'],
    ['return x * (x * x).mean(-1, keepdim=True).add(1e-6).rsqrt()', 'mul mean adds rsqrt mul'],
    ['return x / torch.sqrt(torch.mean(x ** 2, dim=-1) + eps)', 'pow mean adds sqrt div'],
    ['return 1 / torch.sqrt(x)', 'sqrt reciprocal'],
    ['return F.silu(x) * y', 'silu mul'],
    ['return x.float().to(y.dtype)', 'cast cast'],
    ['a, b = x.chunk(2, dim=-1)\n    return a * b.sigmoid()', 'sigmoid mul'],
    ['return F.softmax(x @ y.transpose(-1, -2) / 8, dim=-1, dtype=torch.float32)', 'matmul divs cast softmax'],
    ['if flag:\n        return x + y\n    return x - y', '(add | sub)'],
    ['for i in range(n):\n        x = x * y\n    return x', '[mul]*'],
    ['if y is None:\n        x = x + 1\n    return x.cos()', 'cos'],
    ['return (lambda t: t.exp())(x)', 'exp'],
    ['x += y\n    x *= 2\n    return -x', 'add muls neg'],
    ['out = []\n    out.append(x.sin())\n    out.append(y.cos())\n    return torch.cat(out, dim=0)', 'sin cos cat'],
    ['with torch.no_grad():\n        z = x.exp()\n    return z', 'exp'],
    ['return helper(x, unknown_library(y))', 'hole hole'],
    ['if (z := x.exp()).sum() > 0:\n        z = z + 1\n    return z', 'exp sum compare (adds | )'],
  ];
  for (const [body, expected] of SPELLINGS) {
    it(`reads ${JSON.stringify(body)}`, () => {
      assert.equal(sequence(lower(`${IMPORTS}def f(x, y, n: int, flag: bool, eps: float = 1e-6):\n    ${body}\n`, 'f')), expected);
    });
  }

  // A norm class may be patched: its body, or one fused kernel.
  it('follows methods, inheritance, module lists and tables', () => {
    const source = `${IMPORTS}
ACT2FN = {"silu": nn.SiLU(), "gelu": nn.GELU()}
class Norm(nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps
    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
    def forward(self, x):
        return self._norm(x.float()).type_as(x) * self.weight
class Base(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm = Norm(config.size)
        self.up = nn.Linear(8, 8)
        self.act = ACT2FN["silu"]
class Layer(Base):
    def __init__(self, config, index):
        super().__init__(config)
        self.down = nn.Linear(8, 8)
    def forward(self, x):
        return x + self.down(self.act(self.up(self.norm(x))))
class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = nn.ModuleList([Layer(config, i) for i in range(config.layers)])
    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = layer(x)
        return x
`;
    assert.equal(sequence(lower(source, 'forward', 'Model')), '[(cast pow mean adds rsqrt mul cast mul | hole) matmul silu matmul add]*');
  });

  it('gives every operator the place of its expression', () => {
    const source = `${IMPORTS}def f(x, w):\n    h = x.float()\n    return (w * h).to(x.dtype)\n`;
    const graph = lower(source, 'f');
    const texts = graph.nodes.filter((node) => ['cast', 'mul'].includes(node.op)).map((node) => source.slice(node.place.start, node.place.end));
    assert.deepEqual(texts, ['x.float()', '(w * h)', '(w * h).to(x.dtype)']);
  });

  it('keeps what surrounds broken syntax, and says where it broke', () => {
    const module = parsePython(parser, 'def good(x):\n    return x\n\nx = = 3\n\ndef also(x):\n    return x\n');
    assert.ok(module.errors.length > 0);
    assert.deepEqual(module.body.filter((statement) => statement.kind === 'function').map((statement) => (statement.kind === 'function' ? statement.name : '')), ['good', 'also']);
  });
});
