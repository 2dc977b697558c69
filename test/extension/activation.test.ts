import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { performance } from 'node:perf_hooks';
import * as vscode from 'vscode';

interface Manifest {
  readonly contributes?: { readonly commands?: readonly { readonly command: string }[] };
  readonly activationEvents?: readonly string[];
}

function extension(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension('fuselens.fuselens');
  assert.ok(found, 'the extension is not installed');
  return found;
}

function manifest(): Manifest {
  return extension().packageJSON as Manifest;
}

describe('activation', () => {
  it('activates', async () => {
    const start = performance.now();
    const api: unknown = await extension().activate();
    const total = performance.now() - start;
    assert.equal(extension().isActive, true);
    const own = typeof api === 'object' && api !== null && 'activationMs' in api && typeof api.activationMs === 'number' ? api.activationMs.toFixed(1) : 'unknown';
    console.log(`      activate() of our own: ${own} ms; asked by the suite: ${total.toFixed(1)} ms`);
  });

  it('loads its main bundle quickly, and without the engine', () => {
    // A copy, so that the module is really loaded again; only reported, since a clock is no test.
    const bundle = path.join(extension().extensionPath, 'dist/extension.js');
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fuselens-'));
    try {
      const copy = path.join(folder, 'extension.js');
      fs.copyFileSync(bundle, copy);
      const start = performance.now();
      // eslint-disable-next-line @typescript-eslint/no-require-imports
      const loaded: unknown = require(copy);
      console.log(`      module load: ${(performance.now() - start).toFixed(1)} ms of ${(fs.statSync(bundle).size / 1024).toFixed(0)} kB`);
      assert.ok(typeof loaded === 'object' && loaded !== null && 'activate' in loaded);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });

  it('registers every command of the manifest', async () => {
    const commands = manifest().contributes?.commands ?? [];
    assert.ok(commands.length > 0);
    const registered = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(commands.map(({ command }) => command).filter(command => !registered.has(command)), []);
  });

  it('never activates on every event', () => {
    assert.ok(!(manifest().activationEvents ?? []).includes('*'));
  });
});
