import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { WORKSPACE_FILES } from '../../../src/engine/sample/workspace/files';
import type { VerifyReport } from '../../../src/protocol/verify';
import { addUser, startSshLab, until, type LabUser, type SshLab } from '../lab/sshLab';
import { TORCH_PYTHON } from '../lab/torch';

const CLI = path.resolve(import.meta.dirname, '../../../dist/cli.js');
const MODEL = 'q35_npu_old.py';

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The command itself, as in a terminal, on the sample's model: nothing of it lies on the host, and nothing stays there. */
describe('fuselens verify over ssh, with PyTorch on the CPU', function () {
  this.timeout(300_000);
  let lab: SshLab;
  let folder: string;
  const here = (...names: readonly string[]): string => path.join(folder, 'here', ...names);

  before(async function () {
    if (TORCH_PYTHON === undefined) {
      console.log('      left out: no Python with PyTorch; npm run test:torch -- --prepare installs it');
      this.skip();
    }
    folder = mkdtempSync('/tmp/fl-verify-');
    // Only this user can look into the workspace; what stands in for interpreters is for all.
    chmodSync(folder, 0o755);
    mkdirSync(here(), { mode: 0o700 });
    WORKSPACE_FILES.forEach(([name, text]) => { writeFileSync(here(name), text); });
    lab = await startSshLab();
  });
  after(async () => {
    await lab?.dispose();
    if (folder !== undefined) {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  /** Line of the model, counted here and not by what is tested. */
  function lineOf(text: string, after: string): number {
    const lines = readFileSync(here(MODEL), 'utf8').split('\n');
    const at = lines.findIndex((line, i) => i > lines.findIndex((one) => one.includes(after)) && line.includes(text));
    assert.ok(at > 0, text);
    return at + 1;
  }

  const start = (args: readonly string[], environment: NodeJS.ProcessEnv = { FUSELENS_SSH_CONFIG: lab.sshArguments[1] }): ChildProcess => spawn(process.execPath, [CLI, 'verify', ...args], { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });

  function ended(child: ChildProcess): Promise<Ended> {
    const parts = { out: '', err: '' };
    child.stdout?.on('data', (chunk: Buffer) => { parts.out += chunk.toString(); });
    child.stderr?.on('data', (chunk: Buffer) => { parts.err += chunk.toString(); });
    return new Promise((resolve) => { child.once('close', (code) => { resolve({ code, ...parts }); }); });
  }

  const verify = (...args: readonly string[]): Promise<Ended> => ended(start(args));

  async function report(...args: readonly string[]): Promise<VerifyReport> {
    const { code, out, err } = await verify(...args, '--json');
    assert.equal(code, 0, `${err}${out}`);
    return JSON.parse(out) as VerifyReport;
  }

  /** An interpreter that leaves word where it ran, and with what beside it. */
  function interpreter(name: string, command: string): { readonly file: string; readonly ran: () => readonly string[] } {
    const file = path.join(folder, name);
    const word = path.join(folder, `${name}.ran`);
    writeFileSync(word, '');
    chmodSync(word, 0o666);
    writeFileSync(file, `#!/bin/sh\n{ pwd; echo $$; ls; } > '${word}'\n${command}\n`);
    chmodSync(file, 0o755);
    return { file, ran: () => readFileSync(word, 'utf8').trim().split('\n') };
  }

  function assertGone([workingFolder]: readonly string[]): void {
    assert.match(workingFolder, /^\/.+/, 'it did not run');
    assert.equal(existsSync(workingFolder), false, `${workingFolder} stays behind`);
  }

  const contents = (): readonly (readonly [string, number, string])[] => readdirSync(here()).sort().map((name) => [name, statSync(here(name)).mtimeMs, readFileSync(here(name), 'utf8')]);

  const FORMS = [
    { backend: 'ascend', text: 'torch.rsqrt', after: 'class GatedRMSNorm', fusion: 'gated-rms-norm', references: ['torch_npu'] },
    { backend: 'torch', text: 'torch.rsqrt', after: 'class GatedRMSNorm', fusion: 'gated-rms-norm', references: [] },
    { backend: 'torch', text: 'torch.rsqrt', after: 'class ZeroCentredRMSNorm', fusion: 'zero-centred-rms-norm', references: [] },
  ] as const;
  for (const { backend, text, after: below, fusion, references } of FORMS) {
    it(`reports what it reports here: ${fusion} for ${backend}`, async () => {
      const place = `${here(MODEL)}:${lineOf(text, below)}`;
      const before = contents();
      const { file, ran } = interpreter(`python-${backend}-${fusion}`, `exec '${TORCH_PYTHON ?? ''}' "$@"`);
      const there = await report(place, '--backend', backend, '--host', 'lab', '--python', file);
      const local = await report(place, '--backend', backend, '--python', file);
      assert.deepEqual([there.verdict, there.fusion, there.host, local.host, there.references, there.whole], ['verified', fusion, 'lab', null, references, true]);
      assert.deepEqual(new Set(there.rows.map(({ dtype }) => dtype)), new Set(['bfloat16', 'float16', 'float32']));
      assert.ok(there.rows.every(({ gradient }) => gradient !== null), 'gradients too');
      // The inputs are the same random ones, so the figures are.
      assert.deepEqual({ ...there, host: null }, local);
      assert.deepEqual(contents(), before);
      assertGone(ran());
    });
  }

  it('says in words where it ran, and what only stood in', async () => {
    const { code, out } = await verify(`${here(MODEL)}:${lineOf('torch.rsqrt', 'class GatedRMSNorm')}`, '--backend', 'ascend', '--host', 'lab', '--python', TORCH_PYTHON ?? '');
    assert.equal(code, 0, out);
    assert.match(out, /It ran on lab: “here” means that host\./);
    assert.match(out, /torch_npu is not installed here: a reference in plain PyTorch, written from its documentation, stood in/);
    const bare = await verify(`${here(MODEL)}:${lineOf('torch.rsqrt', 'class GatedRMSNorm')}`, '--backend', 'ascend', '--host', 'lab', '--python', TORCH_PYTHON ?? '', '--no-reference');
    assert.equal(bare.code, 2);
    assert.match(bare.out, /torch_npu is not installed here, and no reference shall stand in/);
  });

  it('takes further arguments of ssh as the editor has them', async () => {
    const { code, out, err } = await ended(start([`${here(MODEL)}:${lineOf('torch.rsqrt', 'class GatedRMSNorm')}`, '--host', 'lab', '--python', TORCH_PYTHON ?? ''], { FUSELENS_SSH_ARGUMENTS: lab.sshArguments.join('\n') }));
    assert.equal(code, 0, `${err}${out}`);
  });

  it('tells a host without PyTorch, without Python, and one that lets nobody in', async () => {
    const place = `${here(MODEL)}:${lineOf('torch.rsqrt', 'class GatedRMSNorm')}`;
    const { file, ran } = interpreter('python-bare', 'unset PYTHONPATH\nexec python3 -S "$@"');
    const bare = await verify(place, '--host', 'lab', '--python', file);
    assert.equal(bare.code, 2);
    assert.match(bare.out, /^ {4}The Python at \S+ has no PyTorch: install it there, or set fuselens\.python\.path, or --python, to an interpreter that has it\.\n {4}It ran on lab:/m);
    assertGone(ran());
    const none = await verify(place, '--host', 'lab', '--python', path.join(folder, 'nowhere'));
    assert.equal(none.code, 2);
    assert.match(none.out, /There is no Python at “.*nowhere” on lab: name one with --python/);
    lab.configure('Host lab-stranger\n User fuselens-nobody');
    const stranger = await verify(place, '--host', 'lab-stranger', '--python', file);
    assert.equal(stranger.code, 2);
    assert.match(stranger.err, /lab-stranger could not be used: /);
  });

  it('ends what runs there, and tidies up, when it is cancelled or the connection goes', async () => {
    const place = `${here(MODEL)}:${lineOf('torch.rsqrt', 'class GatedRMSNorm')}`;
    const cuts: readonly (readonly [string, (child: ChildProcess) => void])[] = [['cancelled', (child) => child.kill('SIGTERM')], ['cut', () => { lab.killConnections(); }]];
    for (const [name, cut] of cuts) {
      const { file, ran } = interpreter(`python-${name}`, 'exec sleep 250');
      const child = start([place, '--host', 'lab', '--python', file]);
      const end = ended(child);
      await until(() => ran().length > 2, 'Python did not start');
      const [workingFolder, pid] = ran();
      cut(child);
      const { code, err } = await end;
      assert.notEqual(code, 0, err);
      if (name === 'cut') {
        assert.match(err, /lab could not be used: /);
      }
      await until(() => spawnSync('kill', ['-0', pid]).status !== 0, `${name}: it goes on there`);
      await until(() => !existsSync(workingFolder), `${name}: ${workingFolder} stays behind`);
    }
  });

  describe('as an ordinary user', () => {
    let user: LabUser | undefined;
    before(function () {
      if (process.getuid?.() !== 0) {
        this.skip();
      }
      user = addUser(lab, 'flverify', '/bin/bash');
    });
    after(() => user?.remove());

    /** What lets that user import PyTorch: the environment itself, or its packages for another interpreter of the same version. */
    function usable(name: string): { readonly python: string; readonly setup: readonly string[] } | undefined {
      const site = spawnSync(TORCH_PYTHON ?? '', ['-c', 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))'], { encoding: 'utf8' }).stdout.trim();
      return [{ python: TORCH_PYTHON ?? '', setup: [] }, { python: '/usr/bin/python3', setup: [`export PYTHONPATH='${site}'`] }]
        .find(({ python, setup }) => spawnSync('runuser', ['-u', name, '--', 'sh', '-c', [...setup, `'${python}' -c 'import torch'`].join('\n')]).status === 0);
    }

    it('needs no file of the workspace, and leaves none of its own', async function () {
      const found = user === undefined ? undefined : usable(user.name);
      if (user === undefined || found === undefined) {
        console.log('      left out: no other user can read the Python with PyTorch');
        this.skip();
      }
      const { name, home } = user;
      const own = (): string => spawnSync('sh', ['-c', 'find "$1" | sort; find /tmp -maxdepth 1 -user "$2"', 'sh', home, name], { encoding: 'utf8' }).stdout;
      assert.notEqual(spawnSync('runuser', ['-u', name, '--', 'cat', here(MODEL)]).status, 0, 'the user can read the workspace');
      const before = own();
      const place = `${here(MODEL)}:${lineOf('torch.rsqrt', 'class GatedRMSNorm')}`;
      const there = await report(place, '--backend', 'ascend', '--host', `lab-${name}`, '--python', found.python, ...found.setup.flatMap((line) => ['--setup', line]));
      const local = await report(place, '--backend', 'ascend', '--python', TORCH_PYTHON ?? '');
      assert.equal(there.verdict, 'verified');
      assert.deepEqual(there.rows, local.rows);
      assert.equal(own(), before);
    });
  });
});
