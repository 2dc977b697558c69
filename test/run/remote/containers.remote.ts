import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { EngineSession } from '../../../src/engine/session';
import { engineEnvironment } from '../../../src/node/environment';
import { runCapture } from '../../../src/run/captureRun';
import { explainRunFailure } from '../../../src/run/failure';
import { LogParser } from '../../../src/run/logParser';
import { attachRun, startRun, type Hosts, type Run } from '../../../src/run/run';
import type { ContainerSettings, RunSettings } from '../../../src/run/runSettings';
import { pathRules, tracebackPlaces } from '../../../src/run/tracebackPlaces';
import { FULL, hasEngine, IMAGES, startContainerLab, type ContainerLab, type EngineName } from '../lab/containerLab';
import { ARGUMENTS_AS_JSON, followToEnd, labHosts, NASTY, runToEnd } from '../lab/session';
import { HAS_SLURM, startSlurmLab, type SlurmLab } from '../lab/slurmLab';
import { addUser, startSshLab, until, type SshLab } from '../lab/sshLab';
import { pythonMounts, TORCH_PYTHON } from '../lab/torch';

/** A folder no shell passes on by chance. */
const FOLDER = 'it\'s $(id) "there"\n漢字';
const INSTALL: Readonly<Record<EngineName, string>> = { podman: 'sudo apt-get install podman crun busybox-static', docker: 'sudo apt-get install docker.io busybox-static' };

interface Case {
  readonly engine: EngineName;
  /** One that is there, or one made for the run. */
  readonly made: boolean;
  /** How it is entered, with the folder it is stood in. */
  readonly container: (folder?: string) => ContainerSettings;
}

/** Processes of a run, wherever they are: root sees into containers. */
const processesOf = (run: Run): string => spawnSync('sh', ['-c', 'grep -lF "FUSELENS_RUN_ID=$1" /proc/[0-9]*/environ 2>/dev/null', 'sh', run.id], { encoding: 'utf8' }).stdout;
const up = (run: Run): Promise<void> => until(async () => (await run.state()).logBytes > 0, 'the job did not come up');

/** Does the same for all of them at once, since they mostly wait; each that fails is named. */
async function together<T>(cases: readonly T[], name: (one: T) => string, test: (one: T) => Promise<void>): Promise<void> {
  const failed: string[] = [];
  await Promise.all(cases.map((one) => test(one).catch((error: unknown) => { failed.push(`${name(one)}: ${error instanceof Error ? error.message : String(error)}`); })));
  assert.equal(failed.join('\n'), '');
}

describe('containers of podman and docker, over ssh', () => {
  const engines = (['podman', 'docker'] as const).filter(hasEngine);
  let containers: ContainerLab;
  let lab: SshLab;
  let hosts: Hosts;
  before(async function () {
    for (const engine of (['podman', 'docker'] as const).filter((name) => !hasEngine(name))) {
      console.log(`      left out: needs root and ${engine}; to run it: ${INSTALL[engine]}, then sudo npm run test:remote`);
    }
    if (engines.length === 0) {
      this.skip();
    }
    containers = await startContainerLab(engines);
    mkdirSync(path.join(containers.work, FOLDER));
    lab = await startSshLab({ serverPrefix: containers.serverPrefix, environment: containers.environment });
    hosts = labHosts(lab);
    for (const engine of engines) {
      containers.engine(engine, 'run', '-d', '--network=host', '--name', 'live', ...FULL, '-v', `${containers.work}:/work`, IMAGES.full, 'sleep', 'infinity');
      containers.engine(engine, 'run', '-d', '--network=host', '--name', 'small', IMAGES.small, 'sleep', '3600');
      containers.engine(engine, 'run', '-d', '--network=host', '--name', 'bare', IMAGES.bare, '/bin/sleep', '3600');
      containers.engine(engine, 'create', '--network=host', '--name', 'idle', IMAGES.small, 'sleep', '3600');
    }
  });
  after(async () => {
    await hosts?.dispose();
    await lab?.dispose();
    await containers?.dispose();
  });
  const inside = (engine: EngineName, name: string, folder = '/'): ContainerSettings => ({ prefix: [engine, 'exec', name], path: folder });
  const made = (engine: EngineName, folder = '/'): ContainerSettings => ({ prefix: [engine, 'run', '--rm', '--network=host', ...FULL, '-v', `${containers.work}:/work`, IMAGES.full], path: folder });
  const small = (engine: EngineName, ...options: readonly string[]): ContainerSettings => ({ prefix: [engine, 'run', '--rm', '--network=host', ...options, IMAGES.small], path: '/' });
  const job = (exec: ContainerSettings, ...argv: readonly string[]): RunSettings => ({ host: 'lab', launcher: 'command', exec, command: argv[0], args: argv.slice(1) });
  const why = async (settings: RunSettings): Promise<string> => {
    const { state, output } = await runToEnd(hosts, settings);
    assert.notEqual(state.exit, 0, output);
    return explainRunFailure(output, state.exit, { host: 'lab', transport: false }).code;
  };
  const cases = engines.flatMap((engine): readonly Case[] => [
    { engine, made: false, container: (folder) => inside(engine, 'live', folder) }, { engine, made: true, container: (folder) => made(engine, folder) },
  ]);
  const inAll = (test: (given: Case) => Promise<void>): Promise<void> => together(cases, (one) => `${one.engine} ${one.made ? 'run' : 'exec'}`, test);
  const inBoth = (test: (engine: EngineName) => Promise<void>): Promise<void> => together(engines, (engine) => engine, test);

  for (const engine of ['podman', 'docker'] as const) {
    it(`${engine} is there`, function () {
      if (!engines.includes(engine)) {
        this.skip();
      }
      assert.match(containers.engine(engine, 'ps', '--format', '{{.Names}}'), /^live$/m);
    });
  }

  it('give output and exit code, 255 too', () => inAll(async ({ container }) => {
    for (const code of [0, 255]) {
      const { state, output } = await runToEnd(hosts, job(container(), 'sh', '-c', `echo out; echo err >&2; exit ${code}`));
      assert.deepEqual([output, state.phase, state.exit], ['out\nerr\n', 'exited', code]);
    }
  }));

  it('are given every argument, value and folder as it is, in namespaces of their own', () => inAll(async ({ container }) => {
    const values = Object.fromEntries(NASTY.map((value, i) => [`FL_${i}`, value]));
    const script = `import json, os, sys
print(json.dumps([sys.argv[1:], [os.environ.get(f"FL_{i}") for i in range(${NASTY.length})], os.getcwd(), sum(name.isdigit() for name in os.listdir("/proc"))]))`;
    const { state, output } = await runToEnd(hosts, { ...job(container(`/work/${FOLDER}`), 'python3', '-c', script, ...NASTY), env: values });
    assert.equal(state.exit, 0, output);
    const [args, given, folder, processes] = JSON.parse(output) as [string[], string[], string, number];
    assert.deepEqual(args, NASTY);
    assert.deepEqual(given, NASTY);
    assert.equal(folder, `/work/${FOLDER}`);
    assert.ok(processes < 30, `${processes} processes are seen`);
  }));

  it('have their files named as this machine does when the job fails', async () => {
    const local = path.join(containers.work, 'project 漢字');
    mkdirSync(local);
    writeFileSync(path.join(local, 'train.py'), 'def step():\n    raise ValueError("no step")\n\nstep()\n');
    await inAll(async ({ container }) => {
      const settings = job(container('/work/project 漢字'), 'python3', '/work/project 漢字/train.py');
      const { state, output } = await runToEnd(hosts, settings);
      assert.equal(state.exit, 1);
      const parser = new LogParser();
      const found = [...parser.push(output), ...parser.end()].flatMap((event) => (event.kind === 'traceback' ? [event] : []));
      const [place, ...more] = tracebackPlaces(found, { rules: pathRules(settings, local), roots: [local], exists: existsSync });
      assert.deepEqual([place?.file, place?.line, place?.message, more], [path.join(local, 'train.py'), 2, 'ValueError: no step', []], output);
    });
  });

  it('are stopped with what hides in sessions of its own and ignores TERM', () => inAll(async (given) => {
    const hide = `import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"], start_new_session=True)
print("up", flush=True); time.sleep(600)`;
    const run = await startRun(hosts, job(given.container(), 'python3', '-c', hide));
    await up(run);
    const began = Date.now();
    const { left, exit } = await run.stop({ graceSeconds: 2 });
    assert.deepEqual([left, exit], [[], 137]);
    assert.equal(processesOf(run), '');
    // Where no time is given it is 40 s: what was asked for has to arrive inside, too.
    assert.ok(Date.now() - began < 35_000, `${Date.now() - began} ms`);
    const state = await run.state();
    assert.deepEqual([state.phase, state.stopped], ['exited', true]);
    if (given.made) {
      await until(() => containers.engine(given.engine, 'ps', '-aq', '--filter', `label=fuselens.run=${run.id}`) === '', 'the container is still there');
    }
  }));

  it('end by TERM where nothing handles it, and by the job\'s own choice where it does', () => inAll(async ({ container }) => {
    const plain = await startRun(hosts, job(container(), 'python3', '-c', 'import time; print("up", flush=True); time.sleep(600)'));
    const careful = await startRun(hosts, job(container(), 'python3', '-c', 'import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: (print("bye", flush=True), sys.exit(9)))\nprint("up", flush=True)\ntime.sleep(600)'));
    await Promise.all([up(plain), up(careful)]);
    const [first, second] = await Promise.all([plain.stop(), careful.stop()]);
    assert.deepEqual([first.exit, first.left, second.exit, second.left], [143, [], 9, []]);
    assert.equal((await followToEnd(careful)).output, 'up\nbye\n');
  }));

  it('go on when every connection is killed, and are found again', async () => {
    const runs = await Promise.all(cases.map(({ container }) => startRun(hosts, job(container(), 'python3', '-c', 'import time\nfor i in range(40):\n    print("line", i, flush=True); time.sleep(0.1)\nraise SystemExit(6)'))));
    const following = runs.map((run) => followToEnd(run));
    await Promise.all(runs.map((run) => up(run)));
    lab.killConnections();
    const other = labHosts(lab);
    const results = await Promise.all([...following, ...runs.map(async ({ id }) => followToEnd(await attachRun(other, 'lab', id)))]);
    await other.dispose();
    for (const { output, state } of results) {
      assert.equal(output, Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join(''));
      assert.equal(state.exit, 6);
    }
  });

  it('have the files of the run in front of PYTHONPATH, and lose them afterwards', () => inAll(async ({ engine, container }) => {
    const { run, state, output } = await runToEnd(hosts, { ...job(container(), 'python3', '-c', 'import fl_given; print(fl_given.VALUE, __import__("os").environ["PYTHONPATH"])'), env: { PYTHONPATH: '/before' } }, {
      files: [{ path: 'helper/fl_given.py', content: 'VALUE = "it\'s $HOME 漢字"\n' }],
      add: ({ filesFolder }) => ({ prependPaths: { PYTHONPATH: `${filesFolder}/helper` } }),
    });
    assert.equal(state.exit, 0, output);
    assert.equal(output, `it's $HOME 漢字 /tmp/fuselens-${run.id}/helper:/before\n`);
    assert.equal(containers.engine(engine, 'exec', 'live', 'sh', '-c', `ls -d /tmp/fuselens-${run.id} 2>/dev/null || :`), '');
  }));

  it('have their environment noted with the run, as setup and env made it', () => inAll(async ({ engine, container }) => {
    const { run } = await runToEnd(hosts, { ...job(container(), 'sleep', '3'), env: { OMP_NUM_THREADS: '3' }, setup: ['export NCCL_DEBUG="it\'s on"'] });
    const environment = readFileSync(path.join(run.folder, 'environment'), 'utf8');
    const version = containers.engine(engine, 'exec', 'live', 'python3', '-c', 'import sys; print(sys.version.split()[0])');
    for (const line of ['OMP_NUM_THREADS=3', 'NCCL_DEBUG=it\'s on', `python=${version}`]) {
      assert.ok(environment.split('\n').includes(line), environment);
    }
  }));

  it('with nothing but BusyBox run, are stopped whole, and say what they lack', () => inBoth(async (engine) => {
    for (const exec of [inside(engine, 'small'), small(engine)]) {
      const { state, output } = await runToEnd(hosts, job(exec, 'sh', '-c', 'echo "$1"; exit 5', 'x', FOLDER));
      assert.deepEqual([output, state.exit], [`${FOLDER}\n`, 5]);
    }
    const run = await startRun(hosts, job(inside(engine, 'small'), 'sh', '-c', 'setsid sh -c "trap : TERM; while :; do sleep 0.2; done" & echo up; wait'));
    await up(run);
    const { left } = await run.stop({ graceSeconds: 1 });
    assert.deepEqual(left, []);
    assert.equal(processesOf(run), '');
    assert.equal(await why(job(inside(engine, 'small'), 'python3', 'train.py')), 'error.run-no-python');
  }));

  it('say in one sentence why they do not run', () => inBoth(async (engine) => {
    containers.engine(engine, 'run', '-d', '--network=host', '--name', 'paused', IMAGES.small, 'sleep', '3600');
    containers.engine(engine, 'pause', 'paused');
    const wrong = (...options: readonly string[]): RunSettings => job(small(engine, ...options), 'true');
    const expected: readonly (readonly [RunSettings, string])[] = [
      [job(inside(engine, 'bare'), 'true'), 'error.run-container-no-shell'],
      [job({ prefix: [engine, 'run', '--rm', '--network=host', IMAGES.bare], path: '/' }, 'true'), 'error.run-container-no-shell'],
      [job(inside(engine, 'no-such-container'), 'true'), 'error.run-container-gone'],
      [job(inside(engine, 'idle'), 'true'), 'error.run-container-gone'],
      [job(inside(engine, 'paused'), 'true'), 'error.run-container-gone'],
      [wrong('--name', 'live'), 'error.run-container-name'],
      [wrong('--device', '/dev/davinci0'), 'error.run-container-device'],
      [wrong('--mount', 'type=bind,src=/no/such folder,dst=/x'), 'error.run-container-mount'],
      [wrong('-u', 'nobody-of-that-name'), 'error.run-container-user'],
      [wrong('--no-such-option'), 'error.run-container'],
      [job({ prefix: [engine, 'run', '--rm', 'no-such-host.invalid/image:1'], path: '/' }, 'true'), 'error.run-container-image'],
    ];
    const found = await Promise.all(expected.map(([settings]) => why(settings)));
    assert.deepEqual(found, expected.map(([, code]) => code));
    // One that wants a terminal or goes its own way could not be followed: it is not even started.
    for (const option of ['-it', '-d']) {
      await assert.rejects(startRun(hosts, job({ prefix: [engine, 'exec', option, 'live'] }, 'true')), /task\.problem\.container-(terminal|detached)/);
    }
    containers.engine(engine, 'unpause', 'paused');
  }));

  it('of a service that is away, or for others only, say which of the two; its group sees and stops its own', async function () {
    if (!engines.includes('docker')) {
      this.skip();
    }
    assert.equal(await why(job({ prefix: ['docker', '--host', 'unix:///no/such.sock', 'exec', 'live'], path: '/' }, 'true')), 'error.run-container-daemon');
    const user = addUser(lab, 'flrunner', '/bin/bash');
    try {
      assert.equal(await why({ ...job(inside('docker', 'live'), 'true'), host: 'lab-flrunner' }), 'error.run-container-allowed');
      // From outside this user sees none of the processes, which are root's.
      execFileSync('usermod', ['-aG', 'docker', 'flrunner']);
      const other = labHosts(lab);
      const hide = 'trap "" TERM; setsid sh -c "trap : TERM; while :; do sleep 0.2; done" & echo up; while :; do sleep 0.2; done';
      await together([inside('docker', 'live'), made('docker'), { prefix: ['docker', 'run', '--init', '--rm', '--network=host', IMAGES.small], path: '/' }], ({ prefix }) => prefix.join(' '), async (exec) => {
        const run = await startRun(other, { ...job(exec, 'sh', '-c', hide), host: 'lab-flrunner' });
        await up(run);
        const { left, exit } = await run.stop({ graceSeconds: 1 });
        assert.deepEqual([left, exit, processesOf(run)], [[], 137, '']);
      });
      await other.dispose();
    } finally {
      user.remove();
    }
  });

  it('give back a capture, whether they share their folder or nothing', async function () {
    if (TORCH_PYTHON === undefined) {
      console.log('      left out: no Python with PyTorch; npm run test:torch -- --prepare installs it');
      this.skip();
    }
    const python = TORCH_PYTHON;
    const script = `import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    model(torch.ones(2, 4)).sum().backward(); optimizer.step(); optimizer.zero_grad()
`;
    const mounts = [...FULL, ...pythonMounts(python)];
    const here = mkdtempSync('/tmp/fl-capture-');
    const shared = path.join(containers.work, 'shared');
    mkdirSync(shared);
    try {
      await inBoth(async (engine) => {
        const shares = engine === 'podman';
        const exec = shares
          ? { prefix: [engine, 'run', '--rm', '--network=host', ...mounts, '-v', `${containers.work}:/work`, IMAGES.full], path: '/work/shared' }
          : { prefix: [engine, 'exec', 'apart'], path: '/root' };
        if (!shares) {
          containers.engine(engine, 'run', '-d', '--network=host', '--name', 'apart', ...mounts, IMAGES.full, 'sleep', 'infinity');
        }
        const [pass, ...more] = await runCapture(hosts, { host: 'lab', launcher: 'command', exec, workdir: shared, command: python, args: ['-c', script], capture: { steps: [2, 3] } }, {
          workspace: here, session: () => new EngineSession(engineEnvironment({})),
        });
        assert.deepEqual([pass.state.exit, more], [0, []]);
        assert.equal(pass.output, path.join(here, 'outputs', pass.run.id));
        assert.deepEqual(pass.inspection.ranks.map(({ steps }) => steps), [[2, 3]]);
        assert.equal(existsSync(path.join(shared, 'outputs', pass.run.id)), shares);
      });
    } finally {
      rmSync(here, { recursive: true, force: true });
    }
  });
});

describe('containers under Slurm, over ssh', () => {
  let containers: ContainerLab;
  let lab: SshLab;
  let slurm: SlurmLab;
  let hosts: Hosts;
  before(async function () {
    if (!hasEngine('docker') || !HAS_SLURM) {
      console.log(`      left out: needs root, docker and Slurm; to run it: ${INSTALL.docker} slurm-wlm munge, then sudo npm run test:remote`);
      this.skip();
    }
    containers = await startContainerLab(['docker']);
    lab = await startSshLab({ environment: containers.environment });
    slurm = await startSlurmLab();
    hosts = labHosts(lab);
    containers.engine('docker', 'run', '-d', '--network=host', '--name', 'live', ...FULL, '-v', `${containers.work}:/work`, IMAGES.full, 'sleep', 'infinity');
  });
  after(async () => {
    await hosts?.dispose();
    await slurm?.dispose();
    await lab?.dispose();
    await containers?.dispose();
  });
  const job = (prefix: readonly string[], more: Partial<RunSettings>): RunSettings => ({ host: 'lab', launcher: 'slurm', setup: slurm.setup, exec: { prefix, path: '/work' }, command: 'sh', ...more });
  const REPORT = 'printf "%s of %s: %s\\n" "$RANK" "$WORLD_SIZE" "$1"; exit "$2"';
  const made = (): readonly string[] => ['docker', 'run', '--rm', '--network=host', ...FULL, '-v', `${containers.work}:/work`, IMAGES.full];

  it('srun\'s own, of an OCI bundle, gets arguments and folder and gives its code', async () => {
    const prefix = ['srun', '--container', containers.bundle()];
    const { state, output } = await runToEnd(hosts, job(prefix, { args: [...ARGUMENTS_AS_JSON.slice(1), ...NASTY], command: 'python3' }));
    assert.equal(state.exit, 0, output);
    assert.deepEqual(JSON.parse(output.trim().split('\n').at(-1) ?? ''), NASTY);
    const [failed, several, gone] = await Promise.all([
      runToEnd(hosts, job(prefix, { args: ['-c', `pwd; ${REPORT}`, 'sh', FOLDER, '6'] })),
      runToEnd(hosts, job(prefix, { procs: 1, nodes: 2, args: ['-c', REPORT, 'sh', 'x', '0'] })),
      runToEnd(hosts, job(['srun', '--container', '/no/such'], { args: ['-c', 'true'] })),
    ]);
    assert.match(failed.output, /^\/work$/m);
    assert.ok(failed.output.includes(`0 of 1: ${FOLDER}\n`), failed.output);
    assert.equal(failed.state.exit, 6);
    // Slurm 22 tells these tasks no number: better none than all rank 0.
    assert.ok(/^0 of 2: x\n1 of 2: x\n$/.test(several.output.split('\n').sort().join('\n')) || explainRunFailure(several.output, several.state.exit, { transport: false }).code === 'error.run-slurm-numbers', several.output);
    assert.equal(explainRunFailure(gone.output, gone.state.exit, { transport: false }).code, 'error.run-slurm-launch', gone.output);
  });

  it('srun\'s own run without a job of ours around them, and are stopped', async () => {
    const { setup: _, ...settings } = job(['env', ...Object.entries(slurm.environment).map(([name, value]) => `${name}=${value}`), 'srun', '--container', containers.bundle()], { launcher: 'command' });
    const { state, output } = await runToEnd(hosts, { ...settings, args: ['-c', 'pwd; exit 6'] });
    assert.match(output, /^\/work$/m);
    assert.equal(state.exit, 6, output);
    const run = await startRun(hosts, { ...settings, args: ['-c', 'echo up; sleep 600'] });
    await up(run);
    await run.stop();
    await until(() => spawnSync('squeue', ['-h'], { encoding: 'utf8', env: { ...process.env, ...slurm.environment } }).stdout.trim() === '', 'the job is still there');
  });

  it('those of docker get rank and arguments in each task', async () => {
    await together([['docker', 'exec', 'live'], made()], (prefix) => prefix.join(' '), async (prefix) => {
      const { state, output } = await runToEnd(hosts, job(prefix, { nodes: 2, procs: 1, args: ['-c', REPORT, 'sh', FOLDER, '0'] }));
      assert.equal(state.exit, 0, output);
      assert.deepEqual(output.match(/\d of \d/g)?.sort(), ['0 of 2', '1 of 2']);
      assert.equal(output.split(FOLDER).length, 3, output);
      const once = await runToEnd(hosts, job(prefix, { args: ['-c', 'exit "$1"', 'sh', '4'] }));
      assert.equal(once.state.exit, 4, once.output);
    });
  });

  it('are ended with the job, where it runs', async () => {
    const all: readonly (readonly [readonly string[], Partial<RunSettings>])[] = [[['docker', 'exec', 'live'], {}], [['docker', 'exec', 'live'], { nodes: 2, procs: 1 }], [made(), {}], [['srun', '--container', containers.bundle()], {}]];
    await together(all, ([prefix, spread]) => `${prefix.join(' ')} ${JSON.stringify(spread)}`, async ([prefix, spread]) => {
      const run = await startRun(hosts, job(prefix, { ...spread, args: ['-c', 'setsid sleep 600 & echo up; sleep 600'] }));
      await up(run);
      await run.stop({ graceSeconds: 10 });
      const state = await run.state();
      assert.deepEqual([state.phase, state.stopped], ['exited', true]);
      assert.equal(processesOf(run), '');
    });
  });
});
