import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Parser } from 'web-tree-sitter';
import type { Candidate } from '../../../src/engine/attribution/candidates';
import { gatherHints, HintOrder } from '../../../src/engine/attribution/sourceHints';
import { indexSources, type SourceIndex } from '../../../src/engine/python/sourceIndex';
import { nodeFilePort } from '../../../src/node/filePort';
import type { SourceHints } from '../../../src/protocol/fingerprints';
import { pythonParser } from './parser';

const MODEL = 'import torch\nfrom torch import nn\n\n\nclass NAME(nn.Module):\n    def forward(self, x):\n        return x * 2\n';
const FILES: Readonly<Record<string, string>> = {
  'train.py': 'import torch\nfrom pkg.far import build\n\nif __name__ == "__main__":\n    build()\n',
  'other.py': 'import torch\n\nif __name__ == "__main__":\n    pass\n',
  'pkg/far.py': 'import torch\nfrom .models import reached\n',
  'pkg/models/reached.py': MODEL.replace('NAME', 'Reached'),
  'pkg/models/configured.py': MODEL.replace('NAME', 'ConfiguredForCausalLM'),
  'pkg/models/opened.py': MODEL.replace('NAME', 'Opened'),
  'pkg/models/plain.py': MODEL.replace('NAME', 'Plain'),
  'lib/site-packages/thing/packaged.py': MODEL.replace('NAME', 'Packaged'),
  'README.md': 'Start with `torchrun --nproc-per-node 8 train.py --size 3`.\n',
  'checkpoint/config.json': '{ "model_type": "configured", "architectures": ["ConfiguredForCausalLM"] }',
};

describe('hints that put equals in order', () => {
  let parser: Parser;
  let folder: string;
  let index: SourceIndex;

  before(async () => {
    parser = await pythonParser();
    folder = await mkdtemp(path.join(os.tmpdir(), 'fuselens-hints-'));
    for (const [name, text] of Object.entries(FILES)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), text);
    }
    index = await indexSources(nodeFilePort(), [folder], parser, { packages: true });
  });

  after(() => rm(folder, { recursive: true, force: true }));

  const candidates = (): Candidate[] => index.scopes.flatMap((scope) => [...scope.names.values()].flatMap((name) => (name.kind === 'class' ? [{ scope, owner: name.definition } as unknown as Candidate] : [])));
  const ordered = (hints: SourceHints): readonly string[] => {
    const order = new HintOrder(index.program, hints);
    return candidates().sort((a, b) => a.scope.file.localeCompare(b.scope.file)).sort((a, b) => order.compare(a, b)).map(({ scope }) => path.basename(scope.file, '.py'));
  };

  it('lie in the folders: the script of the README, the model of a config', async () => {
    const found = await gatherHints(nodeFilePort(), [folder], index.scopes);
    assert.deepEqual(found.entries, [path.join(folder, 'train.py')]);
    assert.deepEqual(found.models, ['configured', 'ConfiguredForCausalLM']);
  });

  it('without a README are the files that can be started; a launch configuration names one', async () => {
    const port = nodeFilePort();
    await rm(path.join(folder, 'README.md'));
    assert.deepEqual([...(await gatherHints(port, [folder], index.scopes)).entries ?? []].sort(), ['other.py', 'train.py'].map((name) => path.join(folder, name)));
    await mkdir(path.join(folder, '.vscode'));
    await writeFile(path.join(folder, '.vscode', 'launch.json'), '{ "configurations": [{ "type": "debugpy", "program": "${workspaceFolder}/other.py" }] }');
    assert.deepEqual((await gatherHints(port, [folder], index.scopes)).entries, [path.join(folder, 'other.py')]);
  });

  it('go by reach, then configuration, then the editor, then own code before packages', () => {
    const hints = { entries: [path.join(folder, 'train.py')], models: ['configured'], open: [path.join(folder, 'pkg', 'models', 'opened.py')] };
    assert.deepEqual(ordered(hints), ['reached', 'configured', 'opened', 'plain', 'packaged']);
    assert.deepEqual(ordered({ ...hints, entries: [] }), ['configured', 'opened', 'plain', 'reached', 'packaged']);
    assert.deepEqual(ordered({ ...hints, entries: [], models: ['ConfiguredForCausalLM'] })[0], 'configured');
    assert.deepEqual(ordered({ open: hints.open }), ['opened', 'configured', 'plain', 'reached', 'packaged']);
    assert.deepEqual(ordered({}), ['configured', 'opened', 'plain', 'reached', 'packaged']);
  });
});
