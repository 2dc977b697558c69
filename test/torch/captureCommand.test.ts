import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { EngineSession } from '../../src/engine/session';
import { engineEnvironment } from '../../src/node/environment';
import { findStacksTwin } from '../../src/run/captureManifest';
import { caseFolder, removeCases } from './captureHarness';

/** `fuselens capture` from outside: two gloo ranks under torchrun, with and without stacks, opened by our own engine. */
const PYTHON = process.env.FUSELENS_PYTHON ?? 'python3';
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const MAIN = path.resolve(import.meta.dirname, '../../src/cli/main.ts');

interface Said {
  readonly pass: string;
  readonly profile: string | null;
  readonly exit: number | null;
  readonly commit: string | null;
  readonly ranks: readonly { readonly rank: number; readonly steps: readonly number[]; readonly stacks: boolean }[];
  readonly findings: readonly { readonly code: string }[];
}

function workspace(): string {
  const folder = path.join(caseFolder(), 'it\'s a $HOME');
  mkdirSync(folder);
  copyFileSync(path.join(import.meta.dirname, 'capture_cases.py'), path.join(folder, 'train.py'));
  return folder;
}

function capture(cwd: string, options: readonly string[], command: readonly string[], env: Readonly<Record<string, string>> = {}): { readonly code: number | null; readonly said: readonly Said[]; readonly err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', TSX, MAIN, 'capture', '--json', ...options, '--', ...command], { cwd, encoding: 'utf8', env: { ...process.env, HOME: path.dirname(cwd), XDG_CACHE_HOME: path.join(path.dirname(cwd), 'cache'), ...env } });
  return { code: status, said: stdout === '' ? [] : JSON.parse(stdout) as readonly Said[], err: stderr };
}

const TORCHRUN = [PYTHON, '-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', '2', 'train.py', 'ranks'];
const codes = ({ findings }: Said): readonly string[] => findings.map(({ code }) => code);
const ONLY_HOST = ['capture.found.no-device-events'];

if (process.env.FUSELENS_TORCH === '1') {
  describe('fuselens capture', function () {
    this.timeout(300_000);
    after(removeCases);

    it('records two ranks of torchrun, steps 3 to 5, once without and once with stacks, as a pair that finds itself', async () => {
      const folder = workspace();
      spawnSync('git', ['init', '-q'], { cwd: folder });
      spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '-q', '--allow-empty', '-m', 'x'], { cwd: folder });
      const { code, said, err } = capture(folder, ['--steps', '3-5', '--stacks', '--shapes'], TORCHRUN);
      assert.equal(code, 0, err);
      const ranks = (stacks: boolean): Said['ranks'] => [0, 1].map((rank) => ({ rank, label: '', steps: [3, 4, 5], stacks }));
      assert.deepEqual(said.map(({ pass, exit, ranks: found }) => ({ pass, exit, ranks: found.map(({ rank, steps, stacks }) => ({ rank, label: '', steps, stacks })) })), [
        { pass: 'timing', exit: 0, ranks: ranks(false) }, { pass: 'stacks', exit: 0, ranks: ranks(true) },
      ]);
      assert.deepEqual(said.map(codes), [ONLY_HOST, ONLY_HOST]);
      assert.match(said[0].commit ?? '', /^[0-9a-f]{40}$/);
      const [timing, stacks] = said.map(({ profile }) => profile ?? '');
      assert.equal(await findStacksTwin(timing), stacks);
      const record = JSON.parse(readFileSync(path.join(path.dirname(timing), 'fuselens-run.json'), 'utf8')) as { readonly provenance: { readonly commit: string; readonly changedFiles: readonly string[] }; readonly environment: Readonly<Record<string, string>> };
      assert.equal(record.provenance.commit, said[0].commit);
      assert.deepEqual(record.provenance.changedFiles, ['train.py']);
      assert.match(record.environment.torch, /^2\./);
      const session = new EngineSession(engineEnvironment({}));
      const summary = await session.call('open', { path: timing });
      assert.deepEqual(summary.ranks.map(({ rank, group }) => ({ rank, group })), [0, 1].map((rank) => ({ rank, group: 'step-3' })));
    });

    it('says that a command failed, and with --one-pass runs it once', () => {
      const folder = workspace();
      const { code, said, err } = capture(folder, ['--steps', '3-5', '--stacks', '--one-pass'], [PYTHON, 'train.py', 'fails']);
      assert.equal(code, 1, err);
      assert.deepEqual(said.map(({ pass, exit, ranks }) => ({ pass, exit, stacks: ranks.map(({ stacks }) => stacks) })), [{ pass: 'only', exit: 1, stacks: [true] }]);
      assert.ok(codes(said[0]).includes('capture.found.partial'));
      assert.match(err, /RuntimeError: out of luck/);
    });

    it('exits with 2 when nothing was recorded', () => {
      const { code, said } = capture(workspace(), ['--steps', '3'], [PYTHON, '-I', 'train.py', 'plain']);
      assert.equal(code, 2);
      assert.deepEqual(codes(said[0]), ['capture.found.nothing']);
    });

    it('contract: puts nsys in front of the command, whose processes open its window at the asked steps', () => {
      const folder = workspace();
      const tools = path.join(path.dirname(folder), 'tools');
      mkdirSync(tools);
      writeFileSync(path.join(tools, 'nsys'), `#!/bin/sh\nwhile [ "\${1#--}" != "$1" ] || [ "$1" = profile ]; do printf '%s\\n' "$1" >> '${tools}/arguments'; shift; done\nexec "$@"\n`);
      chmodSync(path.join(tools, 'nsys'), 0o755);
      // Without a GPU the calls are only told, in the order in which they were made.
      const calls = path.join(tools, 'calls');
      writeFileSync(path.join(folder, 'nsys_train.py'), [
        'import torch', `tell = lambda name: lambda *a: open(${JSON.stringify(calls)}, "a").write(" ".join([name, *map(str, a)]) + "\\n")`,
        'torch.cuda.synchronize = tell("synchronize")', 'torch.cuda.profiler.start = tell("start")', 'torch.cuda.profiler.stop = tell("stop")',
        'torch.cuda.nvtx.range_push = tell("push")', 'torch.cuda.nvtx.range_pop = tell("pop")', 'import runpy, sys', 'sys.argv = ["train.py", "plain"]', 'runpy.run_path("train.py", run_name="__main__")',
      ].join('\n'));
      const { err } = capture(folder, ['--steps', '3-4', '--method', 'nsys'], [PYTHON, 'nsys_train.py'], { PATH: `${tools}:${process.env.PATH ?? ''}` });
      assert.ok(existsSync(calls), err);
      assert.deepEqual(readFileSync(calls, 'utf8').trim().split('\n'), ['synchronize', 'start', 'push ProfilerStep#3', 'pop', 'push ProfilerStep#4', 'pop', 'synchronize', 'stop']);
      const given = readFileSync(path.join(tools, 'arguments'), 'utf8');
      assert.match(given, /--output=.*\/outputs\/[^/]+\/profiling_time\/step-3\/report_%h_%p/);
      assert.equal(readdirSync(path.join(folder, 'outputs')).length, 1);
    });
  });
}
