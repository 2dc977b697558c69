import assert from 'node:assert/strict';
import type { Parser } from 'web-tree-sitter';
import { importedFiles } from '../../../src/engine/attribution/importedFiles';
import { followedForwards } from '../../../src/engine/attribution/spelledLayers';
import { indexOf, pythonParser } from './parser';

const HEAD = 'import torch\nfrom torch import nn\nimport torch.nn.functional as F\n';

describe('forwards with what they call in place, by name alone', () => {
  let parser: Parser;
  before(async () => { parser = await pythonParser(); });

  const forwards = (files: Readonly<Record<string, string>>, file = Object.keys(files)[0]): readonly string[] => {
    const { program, scopes } = indexOf(parser, files);
    const scope = scopes.find((entry) => entry.file.endsWith(`/${file}`));
    assert.ok(scope !== undefined);
    return followedForwards(scope, (from) => importedFiles(program, from)).map((ops) => ops.join(' '));
  };
  const model = (init: string, forward: string, more = ''): string => `${HEAD}${more}class M(nn.Module):\n    def __init__(self, d, act_layer=nn.GELU, norm_layer=partial(nn.LayerNorm, eps=1e-6)):\n${init.replace(/^/gm, '        ')}\n    def forward(self, x):\n${forward.replace(/^/gm, '        ')}\n`;

  const CASES: readonly (readonly [string, string, string])[] = [
    ['modules of the library', model('self.norm1 = nn.LayerNorm(d)\nself.fc1 = nn.Linear(d, d)\nself.drop = nn.Identity()', 'return self.drop(self.fc1(self.norm1(x))) + x'), 'layerNorm matmul add'],
    ['parameters by their defaults', model('self.norm = norm_layer(d)\nself.act = act_layer()', 'return self.act(self.norm(x))'), 'layerNorm gelu'],
    ['sequences, and parts of them that have a name', model('first = nn.Linear(d, d)\nself.mlp = nn.Sequential(first, act_layer(), nn.Linear(d, d))', 'return self.mlp(x) * x'), 'matmul gelu matmul mul'],
    ['one class or the other', model('norm = nn.LayerNorm if d else nn.RMSNorm\nself.norm = norm(d)', 'return self.norm(x)'), 'layerNorm rmsNorm'],
    ['own classes, their methods, functions of the file', model('self.attn = A()', 'return norm(self.attn(x))', 'def norm(x):\n    return F.layer_norm(x)\nclass A(nn.Module):\n    def forward(self, x):\n        return self.scores(x).softmax(-1) @ x\n    def scores(self, x):\n        return x @ x.T\n'), 'matmul softmax matmul layerNorm'],
    ['lists, looped over, indexed, appended to', model('self.layers = nn.ModuleList([nn.Linear(d, d) for _ in range(2)])\nself.others = nn.ModuleList()\nself.others.append(nn.Sequential(nn.LayerNorm(d), nn.SiLU()))', 'for i, layer in enumerate(self.layers):\n    x = layer(x).tanh()\nfor part in self.others: x = part(x)\nreturn self.layers[0](x)'), 'matmul tanh layerNorm silu matmul'],
    ['what is inherited', model('self.norm = nn.LayerNorm(d)', 'return self.inner(x).exp()', 'class B(nn.Module):\n    def inner(self, x):\n        return self.norm(x).cos()\n').replace('class M(nn.Module)', 'class M(B)'), 'layerNorm cos exp'],
    ['a name nothing is known of, as its name sounds', model('self.q_proj = build()\nself.other = config.thing', 'return self.k_proj(x) + self.other(x) + self.act(x)'), 'matmul add silu add'],
  ];
  for (const [what, text, expected] of CASES) {
    it(what, () => assert.equal(forwards({ 'm.py': text }).slice(-1)[0], expected));
  }

  it('classes of files it imports, and what those import in turn', () => {
    assert.deepEqual(forwards({
      'app/model.py': `${HEAD}from .block import Block\nclass M(nn.Module):\n    def __init__(self):\n        self.blocks = nn.Sequential(*[Block() for _ in range(4)])\n    def forward(self, x):\n        return self.blocks(x)\n`,
      'app/block.py': `${HEAD}from .parts.mlp import Mlp\nclass Block(nn.Module):\n    def __init__(self, mlp_layer=Mlp):\n        self.norm = nn.LayerNorm(4)\n        self.mlp = mlp_layer()\n    def forward(self, x):\n        return x + self.mlp(self.norm(x))\n`,
      'app/parts/mlp.py': `${HEAD}class Mlp(nn.Module):\n    def forward(self, x):\n        return F.gelu(x @ self.w)\n`,
    }), ['layerNorm matmul gelu add']);
  });

  it('end, where classes hold one another and names stand for many names', () => {
    const names = Array.from({ length: 50 }, (_, i) => `n${i}`);
    const text = `${HEAD}${['A', 'B'].map((name, i) => `class ${name}(nn.Module):\n    def __init__(self):\n${names.map((part) => `        ${part} = f(${names.join(', ')})\n`).join('')}        self.x = f(${names.join(', ')}, ${['B', 'A'][i]}())\n    def forward(self, v):\n        return self.x(v).exp()\n`).join('')}`;
    assert.ok(forwards({ 'm.py': text }).every((ops) => ops.length < 10_000));
  });
});
