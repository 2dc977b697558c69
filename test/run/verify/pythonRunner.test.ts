import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Cancelled } from '../../../src/engine/profile/problems';
import type { VerifySubject } from '../../../src/protocol/verify';
import { MESSAGES } from '../../../src/protocol/text';
import { openShell } from '../../../src/run/shell';
import { pythonFolder } from '../../../src/run/pythonFolder';
import { modulePlace } from '../../../src/run/verify/modulePlace';
import { hostPython, localPython, type PythonRunner } from '../../../src/run/verify/pythonRunner';
import { runVerify } from '../../../src/run/verify/runVerify';

const SUBJECT: VerifySubject = { file: '/project/model.py', function: 'case', startLine: 1, endLine: 2, fusion: 'l2-norm', backend: 'torch', promise: 'rounding', original: 'a', fused: 'b', roles: {} };
const LIMIT = { timeoutMs: 60_000 };

/** Stand-ins for an interpreter: shell scripts, which see what a Python would. */
describe('running Python for a verification', function () {
  this.timeout(30_000);
  if (process.platform === 'win32') {
    return;
  }
  const folder = mkdtempSync(path.join(os.tmpdir(), 'fuselens-runner-'));
  after(() => rmSync(folder, { recursive: true }));
  const interpreter = (name: string, body: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, `#!/bin/sh\n${body}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const echo = interpreter('echo', 'cat "$4"; cat "$5"; pwd; ls; echo "$PYTHONDONTWRITEBYTECODE $1 $2 $3"');
  const job = { files: new Map([['main.py', 'print()\n'], ['part/one.py', 'é'.repeat(70_000)], ['ask.json', '{"a": 1}\n']]), script: 'main.py', args: ['ask.json'] };

  const places: readonly (readonly [string, (python: string) => PythonRunner])[] = [['here', (python) => localPython(python)], ['through a shell', (python) => hostPython(openShell(undefined), python)]];
  for (const [place, runner] of places) {
    it(`gives it its files in a folder that goes away, and no bytecode (${place})`, async () => {
      const outcome = await runner(echo).run(job, LIMIT);
      assert.ok(outcome.kind === 'ended' && outcome.exit === 0, JSON.stringify(outcome));
      const lines = outcome.stdout.trim().split('\n');
      assert.deepEqual([lines[0], lines[1]], ['print()', '{"a": 1}']);
      assert.deepEqual(lines.slice(3), ['ask.json', 'main.py', 'part', '1 -B -W ignore']);
      assert.notEqual(lines[2], process.cwd());
      assert.equal(existsSync(lines[2]), false, 'the folder stays behind');
    });

    it(`tells a limit from a cancel, and ends what runs (${place})`, async () => {
      const mark = path.join(folder, `ran-${place.length}`);
      const slow = interpreter(`slow-${place.length}`, `sleep 3; touch ${mark}`);
      assert.deepEqual(await runner(slow).run(job, { timeoutMs: 300 }), { kind: 'timeout' });
      const stop = new AbortController();
      setTimeout(() => stop.abort(), 200);
      await assert.rejects(runner(slow).run(job, { ...LIMIT, signal: stop.signal }), Cancelled);
      await new Promise((resolve) => setTimeout(resolve, 3500));
      assert.equal(existsSync(mark), false, 'it went on');
    });

    it(`says that there is no such interpreter (${place})`, async () => {
      assert.deepEqual(await runner(path.join(folder, 'nowhere')).run(job, LIMIT), { kind: 'no-python' });
    });
  }

  it('makes one report of whatever became of Python', async () => {
    const code = async (body: string, options = LIMIT): Promise<string | undefined> => (await runVerify([{ subject: SUBJECT }], localPython(interpreter('odd', body)), options))[0].failure?.code;
    assert.equal(await code('echo "Segmentation fault" >&2; exit 139'), 'python-stopped');
    assert.equal(await code('kill -9 $$'), 'out-of-memory');
    assert.equal(await code('echo "no answer"'), 'python-stopped');
    assert.equal(await code('sleep 9', { timeoutMs: 200 }), 'timeout');
    const [{ failure }] = await runVerify([{ subject: SUBJECT }], localPython(path.join(folder, 'nowhere')), LIMIT);
    assert.deepEqual(failure, { code: 'no-python', args: { python: path.join(folder, 'nowhere'), host: '' } });
  });

  it('has a sentence for each failure the helper names, and none without one', async () => {
    const source = [...await pythonFolder('verify')].filter(([name]) => !name.startsWith('reference/')).map(([, text]) => text).join('\n');
    const raised = new Set([...source.matchAll(/VerifyFailure\(\s*"([a-z-]+)"/g)].map(([, name]) => name));
    assert.ok(raised.size > 10);
    assert.deepEqual([...raised].filter((name) => !(`verify.failure.${name}` in MESSAGES)), []);
  });

  it('imports a file under the name its packages give it', () => {
    const root = path.join(folder, 'tree');
    for (const name of ['pkg/__init__.py', 'pkg/sub/__init__.py', 'pkg/sub/model.py', 'plain/my-model.py']) {
      const file = path.join(root, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, '');
    }
    assert.deepEqual(modulePlace(path.join(root, 'pkg/sub/model.py')), { module: 'pkg.sub.model', root, packageFolder: path.join(root, 'pkg/sub') });
    assert.deepEqual(modulePlace(path.join(root, 'pkg/__init__.py')).module, 'pkg');
    assert.deepEqual(modulePlace(path.join(root, 'plain/my-model.py')), { module: 'my_model', root: path.join(root, 'plain'), packageFolder: path.join(root, 'plain') });
  });

  it('ships every file of the helper', async () => {
    const names = [...(await pythonFolder('verify')).keys()];
    assert.ok(names.includes('verify.py') && names.includes('fuselens_verify/main.py') && names.includes('reference/torch_npu.py'), names.join(' '));
    const allowed = readFileSync(path.join(import.meta.dirname, '../../../scripts/package.mjs'), 'utf8');
    assert.match(allowed, /media\\\/python\\\/\[A-Za-z0-9_\/\]\+\\\.py/);
    assert.ok(names.every((name) => /^[A-Za-z0-9_/]+\.py$/.test(name)));
  });
});
