import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { startSshLab, until, type SshLab } from '../lab/sshLab';
import { RECORDED_STEP } from '../lab/recordedStep';

const cli = path.join(import.meta.dirname, '../../../dist/cli.js');

/** Leaves a trace as a profiler would; the first pass waits for a file. Each pass says that it ran. */
const TWICE = `import os, shutil, sys, time
out = os.environ['FUSELENS_CAPTURE']
stacks = out.endswith('-stacks')
open('ran', 'a').write('stacks\\n' if stacks else 'times\\n')
print('pass for stacks' if stacks else 'pass for times', flush=True)
while not stacks and not os.path.exists('gate'):
    time.sleep(0.1)
if os.path.exists('fail'):
    sys.exit(5)
folder = os.path.join(out, 'profiling_time', 'step-5')
os.makedirs(folder)
shutil.copy('recorded.json', os.path.join(folder, 'rank0_there_1.pt.trace.json'))
`;

interface Listed {
  readonly id: string;
  readonly phase: string;
  readonly exit: number | null;
}
interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

describe('attaching to a capture in two passes that nobody followed', () => {
  let lab: SshLab;
  let place: string;
  before(async function () {
    if (!existsSync(cli)) {
      this.skip();
    }
    lab = await startSshLab();
    place = mkdtempSync('/tmp/fl-attach-');
  });
  after(async () => {
    await lab?.dispose();
    rmSync(place, { recursive: true, force: true });
  });

  const environment = (): NodeJS.ProcessEnv => ({ ...process.env, FUSELENS_SSH_ARGUMENTS: lab.sshArguments.join('\n'), XDG_CACHE_HOME: path.join(place, 'cache'), FUSELENS_RUNS: path.join(place, 'runs here') });
  function run(args: readonly string[], cwd: string): Said {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { cwd, encoding: 'utf8', env: environment() });
    return { code: status, out: stdout, err: stderr };
  }
  const runs = (host: readonly string[]): readonly Listed[] => JSON.parse(run(['runs', '--json', ...host], place).out) as readonly Listed[];

  /** A capture whose command line was killed in its first pass, by its id. */
  async function leftAlone(folder: string, host: readonly string[], options: readonly string[] = []): Promise<string> {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'twice.py'), TWICE);
    writeFileSync(path.join(folder, 'recorded.json'), JSON.stringify(RECORDED_STEP));
    const before = new Set(runs(host).map(({ id }) => id));
    const child = spawn(process.execPath, [cli, 'capture', '--stacks', '--steps', '5', ...host, ...options, '--', 'python3', 'twice.py'], { cwd: folder, stdio: 'ignore', env: environment() });
    await until(() => existsSync(path.join(folder, 'ran')), 'the first pass did not start');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const [made] = runs(host).filter(({ id }) => !before.has(id));
    assert.equal(made.phase, 'running');
    return made.id;
  }

  it('goes on with the second pass over ssh, once, and brings and names what both left', async () => {
    const there = path.join(place, `there's $x`);
    const here = path.join(place, 'here');
    mkdirSync(here);
    const host = ['--host', 'lab'];
    const id = await leftAlone(there, host, ['--workdir', there]);
    writeFileSync(path.join(there, 'gate'), '');
    const { code, out, err } = run(['attach', id, ...host], here);
    assert.equal(code, 0, err);
    assert.equal(out, 'pass for times\npass for stacks\n');
    assert.match(err, new RegExp(`Run ${id}-stacks \\(pass for stacks\\): python3 twice\\.py`));
    for (const [what, folder] of [['Durations', id], ['Stacks', `${id}-stacks`]]) {
      assert.ok(err.includes(`${what}: ${here}/outputs/${folder}/profiling_time\n`), err);
      assert.deepEqual(readdirSync(path.join(here, 'outputs', folder, 'profiling_time', 'step-5')), ['rank0_there_1.pt.trace.json']);
    }
    assert.equal(readFileSync(path.join(there, 'ran'), 'utf8'), 'times\nstacks\n');
    // Whoever comes later sees both again, and nothing runs.
    const again = run(['attach', id, ...host], here);
    assert.deepEqual([again.code, again.out], [0, 'pass for times\npass for stacks\n']);
    assert.ok(again.err.includes(`Stacks: ${here}/outputs/${id}-stacks/profiling_time\n`), again.err);
    assert.equal(readFileSync(path.join(there, 'ran'), 'utf8'), 'times\nstacks\n');
    assert.deepEqual(runs(host).map((one) => one.id).sort(), [id, `${id}-stacks`]);
  });

  it('waits for the first pass, and leaves the second out where it failed', async () => {
    const there = path.join(place, 'failing');
    const host = ['--host', 'lab'];
    const id = await leftAlone(there, host, ['--workdir', there]);
    writeFileSync(path.join(there, 'fail'), '');
    writeFileSync(path.join(there, 'gate'), '');
    const { code, out, err } = run(['attach', id, ...host], place);
    assert.deepEqual([code, out], [1, 'pass for times\n']);
    assert.match(err, /ended with exit code 5/);
    assert.ok(!runs(host).some((one) => one.id === `${id}-stacks`));
  });

  it('runs the second pass of a run of this machine where the first ran, from wherever it is attached to', async () => {
    const folder = path.join(place, 'mine');
    const id = await leftAlone(folder, [], ['--out', path.join(folder, 'its output')]);
    const elsewhere = path.join(place, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(path.join(folder, 'gate'), '');
    const { code, err } = run(['attach', id], elsewhere);
    assert.equal(code, 0, err);
    assert.ok(err.includes(`Durations: ${folder}/its output/profiling_time\n`) && err.includes(`Stacks: ${folder}/its output-stacks/profiling_time\n`), err);
    assert.equal(readFileSync(path.join(folder, 'ran'), 'utf8'), 'times\nstacks\n');
    assert.deepEqual(readdirSync(elsewhere), []);
  });
});
