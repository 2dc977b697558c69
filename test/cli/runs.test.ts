import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { runCommand } from '../../src/cli/runCommand';
import type { CliIo } from '../../src/cli/io';
import { until } from '../run/lab/sshLab';

interface Said { readonly code: number; readonly out: string; readonly err: string }

describe('fuselens run and its kin', () => {
  let folder: string;
  before(function () {
    if (process.platform === 'win32') {
      this.skip();
    }
    folder = mkdtempSync('/tmp/fl-cli-runs-');
  });
  after(() => { rmSync(folder, { recursive: true, force: true }); });

  async function cli(args: readonly string[], signal: AbortSignal = new AbortController().signal, onOut: (text: string) => void = () => undefined): Promise<Said> {
    const said = { out: '', err: '' };
    const io: CliIo = {
      out: (text) => { said.out += text; onOut(text); return Promise.resolve(); }, err: (text) => { said.err += text; }, columns: undefined, errIsTerminal: false,
      environment: { FUSELENS_RUNS: `${folder}/runs` }, signal,
    };
    return { code: await runCommand(args, io), ...said };
  }

  it('print what the command prints, and say in one sentence why it failed', async () => {
    const good = await cli(['run', '--', 'sh', '-c', 'echo "$1"; pwd', 'x', 'it\'s $(id)']);
    assert.deepEqual([good.code, good.out], [0, `it's $(id)\n${process.cwd()}\n`]);
    const bad = await cli(['run', '--env', 'A=b=c', '--setup', 'echo before', '--', 'sh', '-c', 'echo $A; echo "OSError: [Errno 28] No space left on device" >&2; exit 7']);
    assert.deepEqual([bad.code, bad.out.split('\n').slice(0, 2)], [1, ['before', 'b=c']]);
    assert.match(bad.err, /ended with exit code 7\. The disk is full/);
    const chinese = await cli(['run', '--lang', 'zh-cn', '--', 'no-such-program']);
    assert.match(chinese.err, /找不到程序 no-such-program/);
  });

  it('take settings from a file, with options over them, and refuse what is wrong before anything runs', async () => {
    const file = `${folder}/run.json`;
    writeFileSync(file, JSON.stringify({ launcher: 'command', command: 'sh', args: ['-c', `echo "$A $B" > '${folder}/made'`], env: { A: '1', B: '2' } }));
    assert.equal((await cli(['run', '--settings', file, '--env', 'B=3'])).code, 0);
    assert.equal(readFileSync(`${folder}/made`, 'utf8'), '1 3\n');
    assert.equal((await cli(['run', '--launcher', 'make', '--', 'x'])).code, 2);
    assert.equal((await cli(['run'])).code, 3);
    assert.equal((await cli(['run', '--env', 'nothing', '--', 'x'])).code, 3);
    const dry = await cli(['run', '--dry-run', '--partition', 'gpu', '--nodes', '2', '--', 'python', 'train.py']);
    assert.deepEqual(JSON.parse(dry.out), { launcher: 'slurm', command: 'python', args: ['train.py'], nodes: 2, slurm: { partition: 'gpu' } });
  });

  it('let go of a run when the terminal closes, attach to it, list it and stop it', async () => {
    const closed = new AbortController();
    const left = await cli(['run', '--name', 'long', '--', 'sh', '-c', 'echo up; sleep 600'], closed.signal, () => { closed.abort('SIGHUP'); });
    assert.equal(left.code, 130);
    assert.match(left.err, /goes on; fuselens attach/);
    const listed = JSON.parse((await cli(['runs', '--json'])).out) as readonly { readonly id: string; readonly name: string; readonly phase: string }[];
    assert.deepEqual([listed[0].name, listed[0].phase], ['long', 'running']);
    assert.match((await cli(['runs'])).out, new RegExp(`^${listed[0].id} +running`));
    const again = new AbortController();
    const attached = await cli(['attach', 'long'], again.signal, (text) => { if (text.includes('up')) { again.abort('SIGTERM'); } });
    assert.deepEqual([attached.code, attached.out], [130, 'up\n']);
    assert.equal((await cli(['stop', listed[0].id.slice(-8)])).code, 0);
    assert.match((await cli(['runs'])).out, /^\S+ +stopped/);
    assert.equal((await cli(['stop', 'no-such-run'])).code, 2);
  });

  it('stop a run at Ctrl+C', async () => {
    const pressed = new AbortController();
    const { code, err } = await cli(['run', '--', 'sh', '-c', 'echo up; sleep 600'], pressed.signal, () => { pressed.abort('SIGINT'); });
    assert.equal(code, 130);
    assert.match(err, /was stopped/);
    const [run] = JSON.parse((await cli(['runs', '--json'])).out) as readonly { readonly phase: string; readonly stopped: boolean }[];
    assert.deepEqual([run.phase, run.stopped], ['exited', true]);
  });

  it('start a run and leave', async () => {
    const { code, out } = await cli(['run', '--detach', '--', 'sh', '-c', 'exit 4']);
    assert.equal(code, 0);
    await until(async () => /exit 4/.test((await cli(['runs'])).out), 'the run did not end');
    const attached = await cli(['attach', out.trim(), '--from', 'end']);
    assert.deepEqual([attached.code, attached.out], [1, '']);
  });
});
