import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** The command of a process; '' where it has ended. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

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

    it(`ends what does not heed being asked, and what hides in a session of its own (${place})`, async function () {
      if (process.platform !== 'linux') {
        this.skip();
      }
      const alive = (seconds: string): readonly string[] => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid) === `sleep ${seconds}`);
      // Sleeps of lengths nobody else has.
      const [deaf, hidden] = [`${place.length}7301`, `${place.length}7302`];
      const started = Date.now();
      const stubborn = interpreter(`stubborn-${place.length}`, `trap '' TERM HUP INT; sleep ${deaf} & setsid sleep ${hidden} & echo "$1"; while :; do sleep 1; done`);
      assert.deepEqual(await runner(stubborn).run(job, { timeoutMs: 1500 }), { kind: 'timeout' });
      const stop = new AbortController();
      setTimeout(() => stop.abort(), 700);
      await assert.rejects(runner(stubborn).run(job, { ...LIMIT, signal: stop.signal }), Cancelled);
      // One that ends by itself, and leaves behind who holds its pipes.
      const parent = interpreter(`parent-${place.length}`, `setsid sleep ${hidden} & sleep ${deaf} & echo answer`);
      const outcome = await runner(parent).run(job, LIMIT);
      assert.ok(outcome.kind === 'ended' && outcome.exit === 0 && outcome.stdout === 'answer\n', JSON.stringify(outcome));
      assert.ok(Date.now() - started < 20_000, 'nobody is waited for that sleeps for hours');
      for (let wait = 0; wait < 20 && [...alive(deaf), ...alive(hidden)].length > 0; wait++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      assert.deepEqual([...alive(deaf), ...alive(hidden)], []);
    });

    it(`says that there is no such interpreter (${place})`, async () => {
      assert.deepEqual(await runner(path.join(folder, 'nowhere')).run(job, LIMIT), { kind: 'no-python' });
    });
  }

  it('keeps the last words of a flood, not all of it', async () => {
    const flood = interpreter('flood', 'head -c 200000000 /dev/zero | tr "\\0" x >&2; echo "the last words" >&2; echo answer');
    const before = process.memoryUsage().arrayBuffers;
    const outcome = await localPython(flood).run(job, LIMIT);
    assert.ok(outcome.kind === 'ended' && outcome.stdout === 'answer\n');
    assert.ok(outcome.stderr.endsWith('the last words\n') && outcome.stderr.length < 2 << 20, String(outcome.stderr.length));
    assert.ok(process.memoryUsage().arrayBuffers - before < 100e6);
  });

  it('makes one report of whatever became of Python', async () => {
    const code = async (body: string, options = LIMIT): Promise<string | undefined> => (await runVerify([{ subject: SUBJECT }], localPython(interpreter('odd', body)), options))[0].failure?.code;
    assert.equal(await code('echo "ValueError: odd" >&2; exit 1'), 'python-stopped');
    assert.equal(await code('echo "Segmentation fault" >&2; exit 139'), 'python-crashed');
    assert.equal(await code('kill -s SEGV $$'), 'python-crashed');
    assert.equal(await code('exit 0'), 'python-ended');
    assert.equal(await code('echo noise >&2; exit 7'), 'python-ended');
    assert.equal(await code('kill -9 $$'), 'out-of-memory');
    assert.equal(await code('echo "no answer"'), 'python-ended');
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
