import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
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

for (const engine of ['podman', 'docker'] as const) {
  describe(`containers of ${engine}, over ssh`, () => {
    let containers: ContainerLab;
    let lab: SshLab;
    let hosts: Hosts;
    before(async function () {
      if (!hasEngine(engine)) {
        console.log(`      left out: needs root and ${engine}; to run it: ${INSTALL[engine]}, then sudo npm run test:remote`);
        this.skip();
      }
      containers = await startContainerLab([engine]);
      mkdirSync(path.join(containers.work, FOLDER));
      lab = await startSshLab({ serverPrefix: containers.serverPrefix, environment: containers.environment });
      hosts = labHosts(lab);
      containers.engine(engine, 'run', '-d', '--network=host', '--name', 'live', ...FULL, '-v', `${containers.work}:/work`, IMAGES.full, 'sleep', 'infinity');
      containers.engine(engine, 'run', '-d', '--network=host', '--name', 'small', IMAGES.small, 'sleep', '3600');
      containers.engine(engine, 'run', '-d', '--network=host', '--name', 'bare', IMAGES.bare, '/bin/sleep', '3600');
      containers.engine(engine, 'create', '--network=host', '--name', 'idle', IMAGES.small, 'sleep', '3600');
    });
    after(async () => {
      await hosts?.dispose();
      await lab?.dispose();
      await containers?.dispose();
    });
    const inside = (name: string, folder = '/'): ContainerSettings => ({ prefix: [engine, 'exec', name], path: folder });
    const made = (folder = '/', image: string = IMAGES.full): ContainerSettings => ({ prefix: [engine, 'run', '--rm', '--network=host', ...FULL, '-v', `${containers.work}:/work`, image], path: folder });
    const job = (exec: ContainerSettings, ...argv: readonly string[]): RunSettings => ({ host: 'lab', launcher: 'command', exec, command: argv[0], args: argv.slice(1) });
    /** What every engine is asked in both ways: a container that is there, and one made for the run. */
    const ways = [['one that is there', inside], ['one made for the run', (_name: string, folder?: string) => made(folder)]] as const;
    /** Processes of a run, wherever they are: root sees into containers. */
    const processesOf = (run: Run): string => spawnSync('sh', ['-c', 'grep -lF "FUSELENS_RUN_ID=$1" /proc/[0-9]*/environ 2>/dev/null', 'sh', run.id], { encoding: 'utf8' }).stdout;
    const up = (run: Run): Promise<void> => until(async () => (await run.state()).logBytes > 0, 'the job did not come up');
    const why = async (settings: RunSettings): Promise<string> => {
      const { state, output } = await runToEnd(hosts, settings);
      assert.notEqual(state.exit, 0, output);
      return explainRunFailure(output, state.exit, { host: 'lab', transport: false }).code;
    };

    for (const [way, container] of ways) {
      describe(way, () => {
        it('gives output and exit code, 255 too', async () => {
          for (const code of [0, 7, 255]) {
            const { state, output } = await runToEnd(hosts, job(container('live'), 'sh', '-c', `echo out; echo err >&2; exit ${code}`));
            assert.deepEqual([output, state.phase, state.exit], ['out\nerr\n', 'exited', code]);
          }
        });

        it('is given every argument, value and folder as it is, in namespaces of its own', async () => {
          const values = Object.fromEntries(NASTY.map((value, i) => [`FL_${i}`, value]));
          const script = `import json, os, sys
print(json.dumps([sys.argv[1:], [os.environ.get(f"FL_{i}") for i in range(${NASTY.length})], os.getcwd(), sum(name.isdigit() for name in os.listdir("/proc"))]))`;
          const { state, output } = await runToEnd(hosts, { ...job(container('live', `/work/${FOLDER}`), 'python3', '-c', script, ...NASTY), env: values });
          assert.equal(state.exit, 0, output);
          const [args, given, folder, processes] = JSON.parse(output) as [string[], string[], string, number];
          assert.deepEqual(args, NASTY);
          assert.deepEqual(given, NASTY);
          assert.equal(folder, `/work/${FOLDER}`);
          assert.ok(processes < 20, `${processes} processes are seen`);
        });

        it('names its files as this machine does when it fails', async () => {
          const local = path.join(containers.work, 'project 漢字');
          mkdirSync(local, { recursive: true });
          writeFileSync(path.join(local, 'train.py'), 'def step():\n    raise ValueError("no step")\n\nstep()\n');
          const settings = job(container('live', '/work/project 漢字'), 'python3', '/work/project 漢字/train.py');
          const { state, output } = await runToEnd(hosts, settings);
          assert.equal(state.exit, 1);
          const parser = new LogParser();
          const found = [...parser.push(output), ...parser.end()].flatMap((event) => (event.kind === 'traceback' ? [event] : []));
          const [place, ...more] = tracebackPlaces(found, { rules: pathRules(settings, local), roots: [local], exists: existsSync });
          assert.deepEqual([place?.file, place?.line, place?.message, more], [path.join(local, 'train.py'), 2, 'ValueError: no step', []], output);
        });

        it('is stopped with what hides in sessions of its own and ignores TERM', async () => {
          const hide = `import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"], start_new_session=True)
print("up", flush=True); time.sleep(600)`;
          const run = await startRun(hosts, job(container('live'), 'python3', '-c', hide));
          await up(run);
          const began = Date.now();
          const { left, exit } = await run.stop({ graceSeconds: 2 });
          assert.deepEqual([left, exit], [[], 137]);
          assert.equal(processesOf(run), '');
          // The default grace is 40 s: what was asked for has to arrive inside, too.
          assert.ok(Date.now() - began < 30_000, `${Date.now() - began} ms`);
          const state = await run.state();
          assert.deepEqual([state.phase, state.stopped], ['exited', true]);
        });

        it('ends by TERM where nothing handles it, and by the job\'s own choice where it does', async () => {
          const plain = await startRun(hosts, job(container('live'), 'python3', '-c', 'import time; print("up", flush=True); time.sleep(600)'));
          const careful = await startRun(hosts, job(container('live'), 'python3', '-c', 'import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: (print("bye", flush=True), sys.exit(9)))\nprint("up", flush=True)\ntime.sleep(600)'));
          await Promise.all([up(plain), up(careful)]);
          const [first, second] = await Promise.all([plain.stop(), careful.stop()]);
          assert.deepEqual([first.exit, first.left, second.exit, second.left], [143, [], 9, []]);
          assert.equal((await followToEnd(careful)).output, 'up\nbye\n');
        });

        it('goes on when every connection is killed, and is found again', async () => {
          const run = await startRun(hosts, job(container('live'), 'python3', '-c', 'import time\nfor i in range(20):\n    print("line", i, flush=True); time.sleep(0.1)\nraise SystemExit(6)'));
          const following = followToEnd(run);
          await up(run);
          lab.killConnections();
          const other = labHosts(lab);
          const again = await attachRun(other, 'lab', run.id);
          const results = await Promise.all([following, followToEnd(again)]);
          await other.dispose();
          for (const { output, state } of results) {
            assert.equal(output, Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join(''));
            assert.equal(state.exit, 6);
          }
        });

        it('has the files of the run in front of PYTHONPATH, and loses them afterwards', async () => {
          const { run, state, output } = await runToEnd(hosts, { ...job(container('live'), 'python3', '-c', 'import fl_given; print(fl_given.VALUE, __import__("os").environ["PYTHONPATH"])'), env: { PYTHONPATH: '/before' } }, {
            files: [{ path: 'helper/fl_given.py', content: 'VALUE = "it\'s $HOME 漢字"\n' }],
            add: ({ filesFolder }) => ({ prependPaths: { PYTHONPATH: `${filesFolder}/helper` } }),
          });
          assert.equal(state.exit, 0, output);
          assert.equal(output, `it's $HOME 漢字 /tmp/fuselens-${run.id}/helper:/before\n`);
          assert.equal(containers.engine(engine, 'exec', 'live', 'sh', '-c', 'ls -d /tmp/fuselens-* 2>/dev/null || :'), '');
        });
      });
    }

    it('one made for the run is gone after it, however it ended', async () => {
      const run = await startRun(hosts, job(made(), 'sleep', '600'));
      await until(() => containers.engine(engine, 'ps', '-q', '--filter', `label=fuselens.run=${run.id}`) !== '', 'the container did not come up');
      await run.stop();
      await until(() => containers.engine(engine, 'ps', '-aq', '--filter', `label=fuselens.run=${run.id}`) === '', 'the container is still there');
    });

    it('an image with nothing but BusyBox runs, is stopped whole, and says what it lacks', async () => {
      for (const exec of [inside('small'), made('/', IMAGES.small)]) {
        const { state, output } = await runToEnd(hosts, job({ ...exec, prefix: exec.prefix.filter((word) => word !== FULL[1] && word !== FULL[0] && !word.endsWith(':/work')) }, 'sh', '-c', 'echo "$1"; exit 5', 'x', FOLDER));
        assert.deepEqual([output, state.exit], [`${FOLDER}\n`, 5]);
      }
      const run = await startRun(hosts, job(inside('small'), 'sh', '-c', 'setsid sh -c "trap : TERM; while :; do sleep 0.2; done" & echo up; wait'));
      await up(run);
      const { left } = await run.stop({ graceSeconds: 2 });
      assert.deepEqual(left, []);
      assert.equal(processesOf(run), '');
      assert.equal(await why(job(inside('small'), 'python3', 'train.py')), 'error.run-no-python');
    });

    it('each way to fail is one sentence', async () => {
      assert.equal(await why(job(inside('bare'), 'true')), 'error.run-container-no-shell');
      assert.equal(await why(job(inside('no-such-container'), 'true')), 'error.run-container-gone');
      assert.equal(await why(job(inside('idle'), 'true')), 'error.run-container-gone');
      containers.engine(engine, 'pause', 'small');
      assert.equal(await why(job(inside('small'), 'true')), 'error.run-container-gone');
      containers.engine(engine, 'unpause', 'small');
      const wrong = (...options: readonly string[]): Promise<string> => why(job({ prefix: [engine, 'run', '--rm', '--network=host', ...options, IMAGES.small], path: '/' }, 'true'));
      assert.equal(await wrong('--name', 'live'), 'error.run-container-name');
      assert.equal(await wrong('--device', '/dev/davinci0'), 'error.run-container-device');
      assert.equal(await wrong('--mount', 'type=bind,src=/no/such folder,dst=/x'), 'error.run-container-mount');
      assert.equal(await wrong('-u', 'nobody-of-that-name'), 'error.run-container-user');
      assert.equal(await wrong('--no-such-option'), 'error.run-container');
      assert.equal(await why(job({ prefix: [engine, 'run', '--rm', 'no-such-host.invalid/image:1'], path: '/' }, 'true')), 'error.run-container-image');
      assert.equal(await why(job({ prefix: [engine, 'run', '--rm', '--network=host', IMAGES.bare], path: '/' }, 'true')), 'error.run-container-no-shell');
      // One that wants a terminal or goes its own way could not be followed: it is not even started.
      for (const option of ['-it', '-d']) {
        await assert.rejects(startRun(hosts, job({ prefix: [engine, 'exec', option, 'live'] }, 'true')), /task\.problem\.container-(terminal|detached)/);
      }
    });

    if (engine === 'docker') {
      it('a service that is away, or for others only, is told apart', async () => {
        const away = { ...inside('live'), prefix: ['docker', '--host', 'unix:///no/such.sock', 'exec', 'live'] };
        assert.equal(await why(job(away, 'true')), 'error.run-container-daemon');
        const user = addUser(lab, 'flrunner', '/bin/bash');
        try {
          assert.equal(await why({ ...job(inside('live'), 'true'), host: 'lab-flrunner' }), 'error.run-container-allowed');
        } finally {
          user.remove();
        }
      });
    }

    it('the environment of the job is noted with the run, as setup and env made it', async () => {
      const { run } = await runToEnd(hosts, { ...job(inside('live'), 'python3', '-c', 'pass'), env: { OMP_NUM_THREADS: '3' }, setup: ['export NCCL_DEBUG="it\'s on"'] });
      const environment = readFileSync(path.join(run.folder, 'environment'), 'utf8');
      const inContainer = containers.engine(engine, 'exec', 'live', 'python3', '-c', 'import sys; print(sys.version.split()[0])');
      for (const line of ['OMP_NUM_THREADS=3', 'NCCL_DEBUG=it\'s on', `python=${inContainer}`]) {
        assert.ok(environment.split('\n').includes(line), environment);
      }
    });

    const shares = engine === 'podman';
    it(`a capture comes back from a container that shares ${shares ? 'its folder' : 'nothing'}`, async function () {
      if (TORCH_PYTHON === undefined) {
        console.log('      left out: no Python with PyTorch; npm run test:torch -- --prepare installs it');
        this.skip();
      }
      const script = `import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    model(torch.ones(2, 4)).sum().backward(); optimizer.step(); optimizer.zero_grad()
`;
      const mounts = [...FULL, ...pythonMounts(TORCH_PYTHON)];
      const here = mkdtempSync('/tmp/fl-capture-');
      const shared = path.join(containers.work, 'shared');
      mkdirSync(shared, { recursive: true });
      const exec = shares
        ? { prefix: [engine, 'run', '--rm', '--network=host', ...mounts, '-v', `${containers.work}:/work`, IMAGES.full], path: '/work/shared' }
        : { prefix: [engine, 'exec', 'apart'], path: '/root' };
      if (!shares) {
        containers.engine(engine, 'run', '-d', '--network=host', '--name', 'apart', ...mounts, IMAGES.full, 'sleep', 'infinity');
      }
      try {
        const [pass, ...more] = await runCapture(hosts, { host: 'lab', launcher: 'command', exec, workdir: shared, command: TORCH_PYTHON, args: ['-c', script], capture: { steps: [2, 3] } }, {
          workspace: here, session: () => new EngineSession(engineEnvironment({})),
        });
        assert.deepEqual([pass.state.exit, more], [0, []]);
        assert.equal(pass.output, path.join(here, 'outputs', pass.run.id));
        assert.deepEqual(pass.inspection.ranks.map(({ steps }) => steps), [[2, 3]]);
        assert.equal(existsSync(path.join(shared, 'outputs', pass.run.id)), shares);
      } finally {
        rmSync(here, { recursive: true, force: true });
      }
    });
  });
}

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
    const failed = await runToEnd(hosts, job(prefix, { args: ['-c', `pwd; ${REPORT}`, 'sh', FOLDER, '6'] }));
    assert.match(failed.output, /^\/work$/m);
    assert.ok(failed.output.includes(`0 of 1: ${FOLDER}\n`), failed.output);
    assert.equal(failed.state.exit, 6);
    // Slurm 22 tells these tasks no number: better none than all rank 0.
    const several = await runToEnd(hosts, job(prefix, { procs: 1, nodes: 2, args: ['-c', REPORT, 'sh', 'x', '0'] }));
    assert.ok(/^0 of 2: x\n1 of 2: x\n$/.test(several.output.split('\n').sort().join('\n')) || explainRunFailure(several.output, several.state.exit, { transport: false }).code === 'error.run-slurm-numbers', several.output);
    const gone = await runToEnd(hosts, job(['srun', '--container', '/no/such'], { args: ['-c', 'true'] }));
    assert.equal(explainRunFailure(gone.output, gone.state.exit, { transport: false }).code, 'error.run-slurm-launch', gone.output);
  });

  it('srun\'s own run without a job of ours around them, and are stopped', async () => {
    const { setup: _, ...settings } = job(['env', ...Object.entries(slurm.environment).map(([name, value]) => `${name}=${value}`), 'srun', '--container', containers.bundle()], { launcher: 'command' });
    const { state, output } = await runToEnd(hosts, { ...settings, args: ['-c', 'pwd; exit 6'] });
    assert.match(output, /^\/work$/m);
    assert.equal(state.exit, 6, output);
    const run = await startRun(hosts, { ...settings, args: ['-c', 'echo up; sleep 600'] });
    await until(async () => (await run.state()).logBytes > 0, 'the job did not come up');
    await run.stop();
    await until(() => spawnSync('squeue', ['-h'], { encoding: 'utf8', env: { ...process.env, ...slurm.environment } }).stdout.trim() === '', 'the job is still there');
  });

  it('those of docker get rank and arguments in each task', async () => {
    for (const prefix of [['docker', 'exec', 'live'], made()]) {
      const { state, output } = await runToEnd(hosts, job(prefix, { nodes: 2, procs: 1, args: ['-c', REPORT, 'sh', FOLDER, '0'] }));
      assert.equal(state.exit, 0, output);
      assert.deepEqual(output.match(/\d of \d/g)?.sort(), ['0 of 2', '1 of 2']);
      assert.equal(output.split(FOLDER).length, 3, output);
      const once = await runToEnd(hosts, job(prefix, { args: ['-c', 'exit "$1"', 'sh', '4'] }));
      assert.equal(once.state.exit, 4, once.output);
    }
  });

  it('are ended with the job, where it runs', async () => {
    for (const [prefix, spread] of [[['docker', 'exec', 'live'], {}], [['docker', 'exec', 'live'], { nodes: 2, procs: 1 }], [made(), {}], [['srun', '--container', containers.bundle()], {}]] as const) {
      const run = await startRun(hosts, job(prefix, { ...spread, args: ['-c', 'setsid sleep 600 & echo up; sleep 600'] }));
      await until(async () => (await run.state()).logBytes > 0, 'the job did not come up');
      await run.stop({ graceSeconds: 10 });
      const state = await run.state();
      assert.deepEqual([state.phase, state.stopped], ['exited', true]);
      assert.equal(spawnSync('sh', ['-c', 'grep -lF "FUSELENS_RUN_ID=$1" /proc/[0-9]*/environ 2>/dev/null', 'sh', run.id], { encoding: 'utf8' }).stdout, '', prefix.join(' '));
    }
  });
});
