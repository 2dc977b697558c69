import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Parser } from 'web-tree-sitter';
import { FUSIONS } from '../../../src/engine/fusions';
import { readWorkspaceFusions, type WorkspaceFusions } from '../../../src/engine/fusions/workspaceFusions';
import { FuseDesk } from '../../../src/engine/fuse/fuseDesk';
import { applyEdits } from '../../../src/engine/fuse/plan';
import { nodeFilePort } from '../../../src/node/filePort';
import { MESSAGES } from '../../../src/protocol/text';
import { testParser } from '../pythonParser';
import { HEADER } from './spellings';

/** relu(x)² · w + eps · x: no form of the catalogue. */
const FUSION = {
  id: 'squared-relu-gate', title: 'Squared ReLU gate', family: 'elementwise', remedy: 'Ask the kernels team.',
  forms: [{ name: 'plain', python: ['def eager(x, weight, eps: float):', '    h = F.relu(x)', '    return h * h * weight + eps'] }],
  replacements: { ascend: { python: 'our_ops.squared_relu({x}, {weight}, {eps})', import: 'our_ops', requires: 'our-ops 1.2', promise: 'rounding' } },
};

const USER = `${HEADER}class Gate(nn.Module):\n    def forward(self, x):\n        activated = torch.relu(x)\n        return self.scale * torch.square(activated) + self.eps\n`.replace('    def forward', '    def __init__(self, dim, eps):\n        super().__init__()\n        self.eps = eps\n        self.scale = nn.Parameter(torch.ones(dim))\n\n    def forward');

describe('fusions of a workspace', () => {
  let parser: Parser;
  let workspace: string;
  before(async () => { parser = await testParser(); });
  beforeEach(() => { workspace = mkdtempSync(path.join(os.tmpdir(), 'fuselens-own-')); });
  afterEach(() => { rmSync(workspace, { recursive: true }); });

  const write = (name: string, content: unknown): string => {
    const folder = path.join(workspace, '.fuselens', 'fusions');
    mkdirSync(folder, { recursive: true });
    const file = path.join(folder, name);
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  };
  const read = (): Promise<WorkspaceFusions> => readWorkspaceFusions(nodeFilePort(), [workspace], parser, FUSIONS.map(({ id }) => id));

  it('finds, replaces and imports what the file says, on any spelling', async () => {
    write('gate.json', FUSION);
    const desk = new FuseDesk(nodeFilePort(), () => Promise.resolve(parser));
    const file = path.join(workspace, 'gate.py');
    const answer = await desk.answer({ file, text: USER, sources: [workspace], fusionFolders: [workspace] }, undefined, 'ascend');
    assert.deepEqual(answer.problems, []);
    assert.deepEqual(answer.entries.map(({ fusion, status, reason, requires }) => [fusion, status, reason, requires]), [['squared-relu-gate', 'fixable', undefined, 'our-ops 1.2']]);
    const edited = applyEdits(USER, answer.entries[0].edits);
    assert.equal(edited, USER.replace('from torch import nn\n', 'from torch import nn\nimport our_ops\n').replace(/ {8}activated[\s\S]*$/, '        return our_ops.squared_relu(x, self.scale, self.eps)\n'));
    // No replacement for the device: the workspace's own advice.
    const [advice] = (await desk.answer({ file, text: USER, sources: [workspace], fusionFolders: [workspace] }, undefined, 'cuda')).entries;
    assert.deepEqual([advice.status, advice.note, advice.remedy], ['advice', 'Ask the kernels team.', undefined]);
    // Folders that are not named (not trusted) add nothing.
    assert.deepEqual((await desk.answer({ file, text: USER, sources: [workspace] }, undefined, 'ascend')).entries, []);
  });

  it('reads a file again when it changed', async () => {
    write('gate.json', '{');
    const desk = new FuseDesk(nodeFilePort(), () => Promise.resolve(parser));
    assert.equal((await desk.fusions([workspace])).problems.length, 1);
    write('gate.json', FUSION);
    write('more.json', { ...FUSION, id: 'another' });
    assert.deepEqual((await desk.fusions([workspace])).fusions.map(({ id }) => id), ['squared-relu-gate', 'another']);
  });

  const replaced = (python: string, more: object = {}): object => ({ ...FUSION, replacements: { ascend: { ...FUSION.replacements.ascend, python, ...more } } });
  const WRONG: readonly (readonly [name: string, problem: string, content: unknown])[] = [
    ['no JSON', 'no-json', '{ "id": '],
    ['a list', 'no-id', []],
    ['a file name as id', 'no-id', { ...FUSION, id: '../up' }],
    ['no form', 'no-forms', { ...FUSION, forms: [] }],
    ['a form that is text', 'no-forms', { ...FUSION, forms: ['def eager(x): return x'] }],
    ['no Python', 'form-not-understood', { ...FUSION, forms: [{ python: 'def eager(x:\n    return x' }] }],
    ['another function', 'form-not-understood', { ...FUSION, forms: [{ python: 'def lazy(x):\n    return x * x + x' }] }],
    ['a call nobody knows', 'form-not-understood', { ...FUSION, forms: [{ python: 'def eager(x, weight, eps: float):\n    return mystery(x) * weight + eps' }] }],
    ['one operator', 'form-not-understood', { ...FUSION, forms: [{ python: 'def eager(x, weight):\n    return x * weight' }] }],
    ['a role that is none', 'replacement-not-understood', replaced('our_ops.f({y})')],
    ['no expression', 'replacement-not-understood', replaced('import os')],
    ['two lines', 'replacement-not-understood', replaced('our_ops.f({x})\nprint({x})')],
    ['an import that is none', 'replacement-not-understood', replaced('our_ops.f({x})', { import: 'os; print()' })],
    ['a backend nobody has', 'replacement-not-understood', { ...FUSION, replacements: { tpu: FUSION.replacements.ascend } }],
    ['a name of the catalogue', 'taken', { ...FUSION, id: 'rms-norm' }],
    ['too much', 'unreadable', { ...FUSION, title: 'x'.repeat(70_000) }],
  ];
  for (const [name, problem, content] of WRONG) {
    it(`names the file, and adds nothing: ${name}`, async () => {
      const file = write('wrong.json', content);
      const { fusions, problems } = await read();
      assert.deepEqual([fusions.length, problems.map(({ code, args }) => [code, args?.file])], [0, [[`fuse.workspace.${problem}`, file]]]);
      assert.ok(`fuse.workspace.${problem}` in MESSAGES);
    });
  }

  it('tells folders that hold none', async () => {
    assert.deepEqual(await read(), { fusions: [], problems: [], empty: [path.join(workspace, '.fuselens', 'fusions')] });
  });
});
