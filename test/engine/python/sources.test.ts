import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Parser } from 'web-tree-sitter';
import { Explainer } from '../../../src/engine/explainer';
import { lowerFunction } from '../../../src/engine/python/lowering';
import type { OperatorGraph } from '../../../src/engine/python/operatorGraph';
import { parsePython } from '../../../src/engine/python/parsePython';
import { UnreadableInput } from '../../../src/engine/profile/problems';
import { moduleScope, ModuleSet } from '../../../src/engine/python/program';
import { indexSources, SourceIndexer, notebookText } from '../../../src/engine/python/sourceIndex';
import { nodeFilePort } from '../../../src/node/filePort';
import { rankOf } from '../analysis/rankBuilder';
import { pythonParser } from '../attribution/parser';

const HEAD = 'import torch\nimport torch.nn.functional as F\n';

describe('Python as it lies on disk', () => {
  let parser: Parser;
  let folder: string;

  before(async () => {
    parser = await pythonParser();
    folder = await mkdtemp(path.join(os.tmpdir(), 'fuselens-sources-'));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  const lower = (text: string, name = 'f'): OperatorGraph => {
    const scope = moduleScope('m.py', 'm', text, parsePython(parser, text));
    const top = scope.names.get(name);
    assert.ok(top?.kind === 'function');
    return lowerFunction(new ModuleSet([scope]), scope, top.definition);
  };
  const ops = (graph: OperatorGraph): readonly string[] => graph.nodes.map((node) => node.op).filter((op) => !['input', 'parameter', 'view', 'phi', 'shape'].includes(op));

  it('reads what stands round a comment of very many lines at its own places', () => {
    const before = `${HEAD}def g(x):\n    return F.silu(x)\n\n`;
    const after = 'def f(x):\n    return F.relu(x)\n';
    const text = `${before}${'    # größer 中\n'.repeat(3000)}${after}`;
    const { body, errors } = parsePython(parser, text);
    assert.deepEqual(errors, []);
    assert.deepEqual(body.slice(-1).map(({ start, end }) => text.slice(start, end)), [after.trimEnd()]);
    assert.deepEqual([ops(lower(text)), ops(lower(text, 'g'))], [['relu'], ['silu']]);
  });

  const TEXTS: readonly (readonly [string, string, readonly string[]])[] = [
    ['tabs', `${HEAD}def f(x):\n\tif x is not None:\n\t\tx = x.exp()\n\treturn x.cos()\n`, ['exp', 'cos']],
    ['CRLF', `${HEAD}def f(x):\n    x = x.exp()\n    return x.cos()\n`.replaceAll('\n', '\r\n'), ['exp', 'cos']],
    ['a byte order mark', `\uFEFF${HEAD}def f(x):\n    return x.exp()\n`, ['exp']],
    ['match', `${HEAD}def f(x, kind):\n    match kind:\n        case "a":\n            x = x.exp()\n        case ["b", *_] | {"c": 1}:\n            x = x.cos()\n        case _:\n            x = x.sin()\n    return x\n`, ['exp', 'cos', 'sin']],
    ['walrus', `${HEAD}def f(x):\n    if (y := x.exp()) is not None:\n        return y.cos()\n    return y\n`, ['exp', 'cos']],
    ['decorators', `${HEAD}@torch.jit.script\n@(lambda g: g)\ndef f(x):\n    return x.exp()\n`, ['exp']],
    ['async, type hints and defaults', `${HEAD}async def f(x: "torch.Tensor", *, n: int = 3, **kw) -> "tuple[int, ...]":\n    return (await g(x)).exp()\n`, ['exp']],
    ['generic syntax of new Pythons', `${HEAD}type Pair[T] = tuple[T, T]\ndef f[T](x: T):\n    return x.exp()\n`, ['exp']],
    ['several statements in a line', `${HEAD}def f(x): y = x.exp(); return y.cos()\n`, ['exp', 'cos']],
    ['no line break at the end', `${HEAD}def f(x):\n    return x.exp()`, ['exp']],
    ['words outside the basic plane before the code', `${HEAD}# 🚀🚀 快\ndef f(x):\n    s = "𝔘"; return x.exp()\n`, ['exp']],
  ];

  for (const [what, text, wanted] of TEXTS) {
    it(`reads ${what}`, () => {
      const found = ops(lower(text)).filter((op) => op !== 'hole');
      assert.deepEqual(found, wanted);
    });
  }

  it('gives places in UTF-16 after characters outside the basic plane', () => {
    const text = `${HEAD}def f(x):\n    s = "𝔘𝔘"; return x.exp()\n`;
    const node = lower(text).nodes.find(({ op }) => op === 'exp');
    assert.equal(text.slice(node?.place.start, node?.place.end), 'x.exp()');
  });

  it('ends recursion, mutual calls and endless loops', () => {
    const text = `${HEAD}def g(x):\n    return f(x).cos()\ndef f(x):\n    while True:\n        x = g(x)\n    return x\n`;
    const graph = lower(text);
    assert.ok(graph.nodes.length < 100);
    assert.ok(graph.holes.some(({ reason }) => reason.startsWith('recursive')));
  });

  it('reads a file of 20,000 lines, and cuts a function that has no end', () => {
    const functions = Array.from({ length: 4000 }, (_, i) => `def f${i}(x, y):\n    a = x * y\n    b = a + ${i}\n    return b.exp()\n`).join('\n');
    assert.deepEqual(ops(lower(HEAD + functions, 'f3999')), ['mul', 'adds', 'exp']);
    const endless = `${HEAD}def f(x):\n${Array.from({ length: 25_000 }, () => '    x = x * x\n').join('')}    return x\n`;
    assert.ok(lower(endless).cut);
  });

  it('keeps both sides of attributes set under a branch, and repeats lists that a loop fills', () => {
    const text = `${HEAD}import torch.nn as nn\nclass A(nn.Module):\n    def forward(self, x):\n        return x.exp()\nclass B(nn.Module):\n    def forward(self, x):\n        return x.cos()\nclass M(nn.Module):\n    def __init__(self, config):\n        layers = []\n        for i in range(config.n):\n            layers.append(A() if config.a else B())\n        self.layers = nn.ModuleList(layers)\n        if config.b:\n            self.last = A()\n        else:\n            self.last = B()\n    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return self.last(x)\n`;
    const scope = moduleScope('m.py', 'm', text, parsePython(parser, text));
    const model = scope.names.get('M');
    assert.ok(model?.kind === 'class');
    const forward = model.definition.body.find((statement) => statement.kind === 'function' && statement.name === 'forward');
    assert.ok(forward?.kind === 'function');
    const graph = lowerFunction(new ModuleSet([scope]), scope, forward, model.definition);
    assert.deepEqual(ops(graph), ['exp', 'cos', 'exp', 'cos']);
    assert.deepEqual(graph.steps.map(({ kind }) => kind), ['loop', 'alternatives']);
  });

  it('reads cells of notebooks', () => {
    const cells = [{ cell_type: 'markdown', source: 'text' }, { cell_type: 'code', source: ['%load_ext x\n', 'import torch\n'] }, { cell_type: 'code', source: '!ls\ndef f(x):\n    return x.exp()\n' }];
    const text = notebookText(JSON.stringify({ cells }));
    assert.ok(text !== undefined);
    assert.deepEqual(ops(lower(text)), ['exp']);
    assert.equal(notebookText('{"cells": 3'), undefined);
  });

  it('indexes folders: frameworks only, no environments, a cap, open documents over the disk', async () => {
    await mkdir(path.join(folder, 'venv'), { recursive: true });
    await mkdir(path.join(folder, 'pkg'), { recursive: true });
    await Promise.all([
      writeFile(path.join(folder, 'plain.py'), 'print(1)\n'), writeFile(path.join(folder, 'venv', 'a.py'), 'import torch\n'), writeFile(path.join(folder, 'pkg', 'model.py'), `${HEAD}def f(x):\n    return x.exp()\n`),
      writeFile(path.join(folder, 'pkg', 'broken.py'), 'import torch\ndef f(:\n  )(\n'), writeFile(path.join(folder, 'pkg', 'binary.py'), Buffer.from([0, 255, 254, 116, 111, 114, 99, 104])),
    ]);
    const port = nodeFilePort();
    const index = await indexSources(port, [folder], parser);
    assert.deepEqual(index.scopes.map((scope) => path.basename(scope.file)).sort(), ['binary.py', 'broken.py', 'model.py']);
    assert.equal(index.passedOver, 1);
    assert.ok(index.scopes.some(({ file, module }) => file.endsWith('broken.py') && module.errors.length > 0));
    const model = path.join(folder, 'pkg', 'model.py');
    const overlaid = await indexSources(port, [folder], parser, { overlay: new Map([[model, `${HEAD}def f(x):\n    return x.cos()\n`]]) });
    assert.ok(overlaid.scopes.some((scope) => scope.file === model && scope.text.includes('cos')));
    assert.ok((await indexSources(port, [folder], parser, { cap: 1 })).capped);
  });

  it('reads again only what changed, and parses only what is asked for', async () => {
    const root = await mkdtemp(path.join(folder, 'again-'));
    const [first, second] = ['first.py', 'second.py'].map((name) => path.join(root, name));
    await writeFile(first, `${HEAD}def f(x):\n    return x.exp()\n`);
    await writeFile(second, `${HEAD}def f(x):\n    return x.sin()\n`);
    let read: string[] = [];
    let parsed = 0;
    const port = nodeFilePort();
    const counting = { ...port, read: (file: string, offset: number, length: number) => { read.push(path.basename(file)); return port.read(file, offset, length); } };
    const counted = new Proxy(parser, { get: (target, key) => (key === 'parse' ? (text: string) => { parsed++; return target.parse(text); } : Reflect.get(target, key, target) as unknown) });
    const indexer = new SourceIndexer(counting, counted);

    const before = await indexer.index([root]);
    assert.deepEqual([read.sort(), parsed], [['first.py', 'second.py'], 0]);
    assert.deepEqual([...before.scopes[0].names.keys()], ['torch', 'F', 'f']);
    assert.equal(parsed, 1);

    read = [];
    await writeFile(second, `${HEAD}def other(x):\n    return x.cos() + 1\n`);
    const after = await indexer.index([root]);
    assert.deepEqual(read, ['second.py']);
    assert.equal(after.scopes[0].source, before.scopes[0].source);
    assert.ok(after.scopes[1].names.has('other'));
    assert.equal(parsed, 2);

    read = [];
    const overlaid = await indexer.index([root], { overlay: new Map([[first, `${HEAD}def open(x):\n    return x\n`]]) });
    assert.ok(overlaid.scopes[0].names.has('open'));
    assert.deepEqual(read, []);
    const closed = await indexer.index([root]);
    assert.ok(closed.scopes[0].names.has('f'), 'the disk counts again once the document is closed');
  });

  it('finds names a package hands on, and of packages of one name the nearest', async () => {
    const root = await mkdtemp(path.join(folder, 'near-'));
    for (const [project, op] of [['one', 'exp'], ['two', 'cos']] as const) {
      await mkdir(path.join(root, project, 'layers'), { recursive: true });
      await writeFile(path.join(root, project, 'layers', '__init__.py'), 'from .block import Block\n');
      await writeFile(path.join(root, project, 'layers', 'block.py'), `${HEAD}class Block(torch.nn.Module):\n    def forward(self, x):\n        return x.${op}()\n`);
      await writeFile(path.join(root, project, 'model.py'), `${HEAD}from layers import Block\nclass Model(torch.nn.Module):\n    def __init__(self):\n        self.block = Block()\n    def forward(self, x):\n        return self.block(x)\n`);
    }
    const { program, scopes } = await indexSources(nodeFilePort(), [root], parser);
    for (const [project, op] of [['one', 'exp'], ['two', 'cos']]) {
      const scope = scopes.find(({ file }) => file === path.join(root, project, 'model.py'));
      const top = scope?.names.get('Model');
      assert.ok(scope !== undefined && top?.kind === 'class');
      const forward = top.definition.body.find((statement) => statement.kind === 'function' && statement.name === 'forward');
      assert.ok(forward?.kind === 'function');
      assert.deepEqual(lowerFunction(program, scope, forward, top.definition).nodes.map((node) => node.op).filter((name) => name !== 'input'), [op]);
    }
  });

  it('names the files of a package from above it, so that its own imports lead home', async () => {
    const root = await mkdtemp(path.join(folder, 'site-'));
    await mkdir(path.join(root, 'pkg', 'models'), { recursive: true });
    await Promise.all(['pkg', 'pkg/models'].map((part) => writeFile(path.join(root, part, '__init__.py'), '')));
    await writeFile(path.join(root, 'pkg', 'norms.py'), `${HEAD}def norm(x):\n    return x.rsqrt()\n`);
    await writeFile(path.join(root, 'pkg', 'models', 'model.py'), `${HEAD}from pkg.norms import norm\n\ndef f(x):\n    return norm(x)\n`);
    for (const start of ['pkg', 'pkg/models']) {
      const { scopes, program } = await indexSources(nodeFilePort(), [path.join(root, start)], parser);
      const model = scopes.find(({ file }) => file.endsWith('model.py'));
      assert.equal(model?.name, 'pkg.models.model');
      assert.equal(program.resolve('pkg.norms', 0, model)?.file, start === 'pkg' ? path.join(root, 'pkg', 'norms.py') : undefined);
    }
  });

  it('searches installed packages when asked, after the workspace', async () => {
    const root = await mkdtemp(path.join(folder, 'env-'));
    const site = path.join(root, 'env', 'lib', 'python3.11', 'site-packages');
    await mkdir(path.join(site, 'pkg'), { recursive: true });
    await mkdir(path.join(root, 'env', 'bin'));
    await mkdir(path.join(root, 'work'));
    await writeFile(path.join(site, 'pkg', '__init__.py'), '');
    await writeFile(path.join(site, 'pkg', 'norms.py'), `${HEAD}def norm(x):\n    return x.rsqrt()\n`);
    await writeFile(path.join(root, 'work', 'mine.py'), `${HEAD}def f(x):\n    return x\n`);
    const explainer = new Explainer(nodeFilePort(), () => Promise.resolve(parser));
    const rank = rankOf({ events: [] });
    const files = async (packages?: { readonly interpreter: string; readonly names: readonly string[] }): Promise<readonly string[] | undefined> => {
      const { index } = await explainer.explain(rank, { sources: [path.join(root, 'work')], ...(packages === undefined ? {} : { packages }) });
      return index?.scopes.map(({ file }) => path.basename(file));
    };
    assert.deepEqual(await files(), ['mine.py']);
    assert.deepEqual(await files({ interpreter: path.join(root, 'env', 'bin', 'python3'), names: ['pkg', 'missing', '../..'] }), ['mine.py', 'norms.py']);
    assert.deepEqual(await files({ interpreter: path.join(root, 'nowhere'), names: ['pkg'] }), ['mine.py']);
  });

  it('walks so many folders and no more, goes round no links, and passes over a file that may not be read', async function () {
    const root = await mkdtemp(path.join(folder, 'linked-'));
    for (const name of ['a/deep', 'b']) {
      await mkdir(path.join(root, name), { recursive: true });
    }
    await writeFile(path.join(root, 'a', 'deep', 'model.py'), `${HEAD}def f(x):\n    return x.exp()\n`);
    const port = nodeFilePort();
    assert.ok(!(await indexSources(port, [root], parser, { folderCap: 4 })).capped);
    const short = await indexSources(port, [root], parser, { folderCap: 2 });
    assert.ok(short.capped && short.files === 0);
    assert.ok((await indexSources(port, [root, root], parser, { folderCap: 4 })).capped, 'over all roots');
    const forbidden = { ...port, read: (file: string) => Promise.reject(new UnreadableInput({ code: 'error.file-unreadable', args: { file, reason: 'EACCES' } })) };
    assert.equal((await indexSources(forbidden, [root], parser)).passedOver, 1);
    try {
      await symlink(root, path.join(root, 'a', 'deep', 'up'), 'dir');
      await symlink(path.join(root, 'b'), path.join(root, 'a', 'toB'), 'dir');
      await symlink(path.join(root, 'a'), path.join(root, 'b', 'toA'), 'dir');
    } catch {
      this.skip();
    }
    const linked = await indexSources(port, [root], parser);
    assert.ok(!linked.capped && linked.files <= 3, String(linked.files));
  });
});
