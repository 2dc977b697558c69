import assert from 'node:assert/strict';
import type { Parser } from 'web-tree-sitter';
import { lowerFunction } from '../../../src/engine/python/lowering';
import type { OperatorGraph, Step } from '../../../src/engine/python/operatorGraph';
import { parsePython } from '../../../src/engine/python/parsePython';
import { moduleScope, ModuleSet } from '../../../src/engine/python/program';
import { testParser } from '../pythonParser';

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

const IMPORTS = 'import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom dataclasses import dataclass\nfrom types import SimpleNamespace\nfrom typing import Literal, Optional\nfrom einops import rearrange, repeat, reduce\nfrom einops.layers.torch import Rearrange, Reduce\n';

/** What the dispatcher of PyTorch 2.13 showed for each equation: products, sums and batched products in order. */
const EQUATIONS: readonly (readonly [equation: string, launched: string])[] = [
  ['bhid,bhjd->bhij', 'bmm'], ['bhij,bhjd->bhid', 'bmm'], ['bld,dn->bldn', 'mul'], ['bld,bln,bld->bldn', 'mul mul'], ['bdn,bn->bd', 'bmm'], ['i,j->ij', 'mul'], ['bhid,bjd->bhij', 'bmm'], ['bij->b', 'sum'],
  ['bij,bjd,bdn->bin', 'bmm bmm'], ['ab,b->a', 'bmm'], ['ab,cd->ac', 'sum sum mul'], ['...ij,...jd->...id', 'bmm'], ['bd,bd->', 'bmm'], ['ab,ab->ab', 'mul'], ['ij,jk', 'bmm'],
];

/** A model's source, the class whose forward is read, and what it launches. */
const MODELS: readonly (readonly [title: string, source: string, launched: string])[] = [
  ['a buffer is a tensor: its products have two operands', `class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        cos, sin = table(size)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer(name="sin", tensor=sin)
    def forward(self, x):
        return x * self.cos[:4] + x * self.sin
`, 'mul mul add'],
  ['attributes by setattr and getattr', `class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        setattr(self, "first", nn.Linear(size, size))
    def forward(self, x):
        return getattr(self, "first")(x)
`, 'matmul'],
  ['a repeated block inside nn.Sequential, what stands beside it once', `class Block(nn.Module):
    def forward(self, x):
        return x + x.exp()
class Model(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), *[Block() for _ in range(depth)], nn.LayerNorm(4))
        self.more = nn.Sequential(*[Block() for _ in range(depth)])
    def forward(self, x):
        return self.more(self.net(x))
`, 'matmul [exp add]* layerNorm [exp add]*'],
  ['numbers that __init__ has as defaults do not say how often layers run', `class Model(nn.Module):
    def __init__(self, size, depth=2, scale=True, norm=nn.LayerNorm):
        super().__init__()
        self.scale = scale
        self.norm = norm(size)
        self.layers = nn.ModuleList([nn.Linear(size, size) for _ in range(depth)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        if self.scale:
            x = x.exp()
        return self.norm(x)
`, '[matmul]* (exp | ) layerNorm'],
  ['a cache that another method sets up', `class Cache(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("k", torch.zeros(size))
    def update(self, at, k):
        full = self.k
        full[:, at] = k
        return full
class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.cache = None
        self.down = nn.Linear(size, size)
    def setup(self, size):
        self.cache = Cache(size)
    def forward(self, x, at):
        x = self.down(x)
        if self.cache is not None:
            x = self.cache.update(at, x)
        return x.exp()
`, 'matmul (indexPut | ) exp'],
  ['a cache that code outside sets', `class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.extra = None
    def forward(self, x):
        if self.extra is not None:
            x = self.extra(x)
        return x
def prepare(model):
    model.extra = nn.Linear(4, 4)
`, '(matmul | )'],
  ['an attribute that stays None', `class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.extra = None
    def forward(self, x):
        if self.extra is not None:
            x = self.extra(x)
        return x.exp()
`, 'exp'],
  ['classes that a property of a dataclass chooses', `class Wide(nn.Module):
    def forward(self, x):
        return x.exp()
class Deep(nn.Module):
    def forward(self, x):
        return x.cos()
class Norm(nn.Module):
    def forward(self, x):
        return x.sin()
@dataclass
class Config:
    kind: Literal["Wide", "Deep"] = "Wide"
    norm: str = "Norm"
    size: int = 8
    @property
    def body(self):
        return Wide if self.kind == "Wide" else Deep
    @property
    def norm_class(self):
        if self.norm == "Norm":
            return Norm
        return nn.LayerNorm
class Model(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = config.norm_class(config.size)
        self.body = config.body()
    def forward(self, x):
        return self.body(self.norm(x))
`, '((sin | hole) | layerNorm) (exp | cos)'],
  ['numbers of a dataclass are numbers, what is said of nothing may be a tensor', `@dataclass
class Config:
    scale: float = 2.0
class Model(nn.Module):
    def __init__(self, config: Optional[Config] = None):
        super().__init__()
        self.scale = config.scale
    def forward(self, x):
        return x * self.scale
`, 'muls'],
  ['functions in a namespace, and attention by the names libraries give it', `from flash_attn import flash_attn_func
def attend(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)
api = SimpleNamespace(attend=attend)
class Model(nn.Module):
    def forward(self, x):
        return api.attend(x, x, x) + flash_attn_func(x, x, x, causal=True)
`, 'attention attention add'],
  ['a cache given to forward is no tensor', `class Model(nn.Module):
    def forward(self, x, kv_cache=None):
        start = 0 if kv_cache is None else kv_cache.position()
        return x[start:start + 4].exp()
`, 'exp'],
  ['a norm that may be absent', `class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm = nn.LayerNorm(4) if config.norm else None
    def forward(self, x):
        if self.norm is not None:
            x = self.norm(x)
        return x.exp()
`, '(layerNorm | ) exp'],
  ['class methods, and module dictionaries that grow', `class Block(nn.Module):
    @classmethod
    def build(cls, config):
        if config.sine:
            return Sine(config)
        return Cosine(config)
class Sine(Block):
    def __init__(self, config):
        super().__init__()
        self.up = nn.Linear(4, 4)
    def forward(self, x):
        return self.up(x).sin()
class Cosine(Block):
    def forward(self, x):
        return x.cos()
class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.parts = nn.ModuleDict(dict(first=nn.Linear(4, 4)))
        self.parts.update({"blocks": nn.ModuleList([Block.build(config) for _ in range(config.depth)])})
        self.parts["last"] = nn.LayerNorm(4)
        self.add_module("head", nn.Linear(4, 4))
    def forward(self, x):
        x = self.parts.first(x)
        for block in self.parts.blocks:
            x = block(x)
        return self.head(self.parts["last"](x))
`, 'matmul [(matmul sin | cos)]* layerNorm matmul'],
  ['named layers in order', `from collections import OrderedDict
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.mlp = nn.Sequential(OrderedDict([("up", nn.Linear(4, 4)), ("act", nn.GELU()), ("down", nn.Linear(4, 4))]))
        self.attention = nn.MultiheadAttention(4, 2)
    def forward(self, x):
        return self.mlp(self.attention(x, x, x, need_weights=False)[0])
`, 'matmul copy attention matmul matmul gelu matmul'],
  ['collectives, which run beside the kernels', `import torch.distributed as dist
class Model(nn.Module):
    def forward(self, x):
        x = x.exp()
        dist.all_reduce(x, op=dist.ReduceOp.SUM)
        return x.cos()
`, 'exp cos'],
  ['writing into a cache of unknown kind', `class Model(nn.Module):
    def forward(self, x, at, kv_caches):
        keys, values = kv_caches
        keys.index_copy_(1, at, x)
        return x.exp()
`, 'indexPut exp'],
  ['patterns of einops', `class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Sequential(Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=2, q=2), nn.Linear(4, 4))
    def forward(self, x):
        x = self.patches(x)
        q, k = map(lambda t: rearrange(t, "b n (h d) -> b h n d", h=2), (x, x))
        x = q + repeat(k, "b 1 n d -> b h n d", h=2)
        return reduce(x, "b h n d -> b h", "mean").exp()
`, 'matmul add mean exp'],
];

/** What may be a tensor or a number: either operator explains the kernel. */
const EITHER: readonly (readonly [body: string, op: string, either: boolean])[] = [['x * 2', 'muls', false], ['x * len(y)', 'muls', false], ['x * imported', 'muls', true], ['x + config.shift', 'adds', true], ['x * y', 'mul', false]];

describe('spellings that models of many projects share', () => {
  let parser: Parser;
  before(async () => {
    parser = await testParser();
  });

  const lower = (source: string, owner?: string): OperatorGraph => {
    const text = IMPORTS + source;
    const scope = moduleScope('model.py', 'model', text, parsePython(parser, text));
    const set = new ModuleSet([scope]);
    const top = scope.names.get(owner ?? 'f');
    if (top?.kind === 'function') {
      return lowerFunction(set, scope, top.definition);
    }
    assert.ok(top?.kind === 'class');
    const forward = top.definition.body.find((statement) => statement.kind === 'function' && statement.name === 'forward');
    assert.ok(forward?.kind === 'function');
    return lowerFunction(set, scope, forward, top.definition, { anySizes: true });
  };

  for (const [equation, launched] of EQUATIONS) {
    it(`reads einsum ${equation}`, () => {
      const names = [...equation.split('->')[0].split(',').keys()].map((i) => `x${i}`).join(', ');
      assert.equal(sequence(lower(`def f(${names}):\n    return torch.einsum("${equation}", ${names})\n`)), launched);
      // einops has words for axes, and the pattern last.
      const words = equation.replace(/[a-z]/g, (letter) => `axis_${letter} `);
      assert.equal(sequence(lower(`import einops\ndef f(${names}):\n    return einops.einsum(${names}, "${words}")\n`)), launched);
    });
  }

  for (const [title, source, launched] of MODELS) {
    it(`reads ${title}`, () => {
      const graph = lower(source, 'Model');
      assert.deepEqual(graph.holes, []);
      assert.equal(sequence(graph), launched);
    });
  }

  it('keeps what many branches leave small', () => {
    const rounds = Array.from({ length: 24 }, (_, i) => `        if config.a${i}:\n            self.part = Part() if config.b${i} else self.part\n        else:\n            self.part = self.part or self.other\n        self.other = self.part if config.c${i} else self.other\n`).join('');
    const graph = lower(`class Part(nn.Module):\n    def forward(self, x):\n        return x.exp()\nclass Model(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n        self.part = nn.GELU()\n        self.other = nn.SiLU()\n${rounds}    def forward(self, x):\n        return self.part(x)\n`, 'Model');
    assert.ok(graph.nodes.length < 100);
    assert.equal(graph.cut, false);
  });

  for (const [body, op, either] of EITHER) {
    it(`reads ${body} as ${either ? 'either form' : op}`, () => {
      const graph = lower(`from settings import imported, config\ndef f(x, y):\n    return ${body}\n`);
      assert.deepEqual(graph.nodes.filter((node) => node.op === op).map((node) => node.attributes.eitherForm ?? false), [either]);
    });
  }
});
