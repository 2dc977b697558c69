import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runCommand } from '../../src/cli/runCommand';
import { HEADER, SPELLINGS } from '../engine/fuse/spellings';

/** An installed package, its patch module, and what both compute under PyTorch. */
const PYTHON = process.env.FUSELENS_PYTHON ?? 'python3';

const CHECK = `
import sys, warnings
sys.path[:0] = [SITE, OWN]
import torch
from models import use, norms

torch.manual_seed(1)
x = torch.randn(2, 3, 64, dtype=torch.bfloat16)
module = norms.Case(64).to(torch.bfloat16)
early = use.gelu
before = [module(x), use.gelu(x), use.run(x)]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import fuselens_patch_norms as patch
after = [module(x), use.gelu(x), use.run(x)]
print(patch.applied, norms.Case.forward.__module__, use.gelu is not early, len(caught))
print(max(((a.float() - b.float()).norm() / a.float().norm()).item() for a, b in zip(before, after)) <= 2 ** -7)
`;

if (process.env.FUSELENS_TORCH === '1') {
  describe('patch modules under PyTorch', function () {
    this.timeout(120_000);
    let folder: string;
    before(() => { folder = mkdtempSync(path.join(os.tmpdir(), 'fuselens-patch-')); });
    after(() => { rmSync(folder, { recursive: true }); });

    const run = (site: string, own: string): readonly string[] => {
      const script = path.join(folder, 'check.py');
      writeFileSync(script, CHECK.replace('SITE', JSON.stringify(site)).replace('OWN', JSON.stringify(own)));
      const result = spawnSync(PYTHON, [script], { encoding: 'utf8' });
      assert.equal(result.status, 0, result.stderr);
      return result.stdout.trim().split('\n');
    };

    it('replace methods and functions by name when imported, and nothing once the installed file is another', async () => {
      const site = path.join(folder, 'lib', 'python3.11', 'site-packages');
      const own = path.join(folder, 'own');
      mkdirSync(path.join(site, 'models'), { recursive: true });
      const norms = path.join(site, 'models', 'norms.py');
      const [norm] = SPELLINGS;
      const gelu = SPELLINGS.find(({ name }) => name === 'tanh, the constant computed');
      writeFileSync(norms, `${HEADER}${norm.python}\n\n${gelu?.python ?? ''}`);
      writeFileSync(path.join(site, 'models', '__init__.py'), '');
      // Imported by name before the patch comes.
      writeFileSync(path.join(site, 'models', 'use.py'), 'from . import norms\nfrom .norms import case\n\n\ndef run(x):\n    return case(x)\n\n\ndef __getattr__(name):\n    if name == "gelu":\n        return case\n    raise AttributeError(name)\n');
      const said: string[] = [];
      const io = { out: () => Promise.resolve(), err: (text: string) => { said.push(text); }, columns: 80, errIsTerminal: false, environment: {}, signal: new AbortController().signal };
      assert.equal(await runCommand(['fuse', norms, '--patch', own, '--backend', 'torch'], io), 0, said.join(''));
      assert.deepEqual(run(site, own), ['True fuselens_patch_norms True 0', 'True']);
      appendFileSync(norms, '# another version\n');
      assert.deepEqual(run(site, own), ['False models.norms False 1', 'True']);
    });
  });
}
