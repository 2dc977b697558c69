import assert from 'node:assert/strict';
import type { Parser } from 'web-tree-sitter';
import { candidatesOf } from '../../../src/engine/attribution/candidates';
import { reversedTape } from '../../../src/engine/attribution/reversedTape';
import { TokenNames } from '../../../src/engine/chains/kernelSequence';
import { indexOf, pythonParser } from './parser';

const QUIET: ReadonlySet<string> = new Set(['input', 'parameter', 'view', 'phi', 'shape', 'hole']);

describe('the reversed tape of a forward', () => {
  let parser: Parser;
  before(async () => { parser = await pythonParser(); });

  /** Backward kernels of a forward whose every operator ran, those that need not come left out. */
  const backwardOf = (init: string, forward: string): readonly string[] => {
    const { program, scopes } = indexOf(parser, { 'm.py': `import torch\nfrom torch import nn\nclass M(nn.Module):\n    def __init__(self, d):\n        ${init}\n    def forward(self, x):\n${forward.replace(/^/gm, '        ')}\n` });
    const [{ graph }] = candidatesOf(program, scopes, 1);
    const names = new TokenNames();
    const path = graph.nodes.flatMap(({ op }, node) => (QUIET.has(op) ? [] : [{ op, node, turn: 0 }]));
    const { line } = reversedTape(path, graph, new Uint16Array(), names, { cuda: false });
    return [...line.tokens].map((token) => names.names[token]).filter((_, i) => line.skip[i] > 0.1);
  };
  const FC = 'self.fc = nn.Linear(d, d)';

  it('is that of its operators, last first', () => {
    assert.deepEqual(backwardOf(FC, 'return self.fc(x).exp().cos()'), ['sin', 'neg', 'mul', 'mul', 'matmul']);
  });

  it('goes on where the branch that did not run has no gradient, even when it was computed later', () => {
    assert.deepEqual(backwardOf(FC, 'y = self.fc(x).exp()\nt = torch.tanh(torch.arange(9))\nif self.choice > 1:\n    y = t\nreturn y.cos()'), ['sin', 'neg', 'mul', 'mul', 'matmul']);
  });

  it('holds a product for a weight that is chosen', () => {
    const products = (forward: string): number => backwardOf(`${FC}; self.w = nn.Parameter(torch.ones(d)); self.v = nn.Parameter(torch.ones(d))`, forward).filter((op) => op === 'mul').length;
    assert.equal(products('w = self.w\nreturn self.fc(x) * w.float()'), 2);
    assert.equal(products('w = self.v if self.offset else self.w\nreturn self.fc(x) * w.float()'), 2);
  });
});
