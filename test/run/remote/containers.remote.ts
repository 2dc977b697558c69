import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { explainRunFailure } from '../../../src/run/failure';
import { attachRun, startRun, type Hosts, type Run } from '../../../src/run/run';
import type { ContainerSettings, RunSettings } from '../../../src/run/runSettings';
import { FULL, hasEngine, IMAGES, startContainerLab, type ContainerLab, type EngineName } from '../lab/containerLab';
import { followToEnd, labHosts, NASTY, runToEnd } from '../lab/session';
import { startSshLab, until, type SshLab } from '../lab/sshLab';

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
          const local = path.join(containers.work, FOLDER);
          writeFileSync(path.join(local, 'train.py'), 'def step():\n    raise ValueError("no step")\n\nstep()\n');
          const settings = job(container('live', `/work/${FOLDER}`), 'python3', `/work/${FOLDER}/train.py`);
          const { state, output } = await runToEnd(hosts, { ...settings, setup: ['export UNUSED=1'] });
          assert.equal(state.exit, 1);
          assert.match(output, /File "\/work\/it's \$\(id\) "there"/);
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
          const run = await startRun(hosts, job(container('live'), 'python3', '-c', 'import time\nfor i in range(40):\n    print("line", i, flush=True); time.sleep(0.1)\nraise SystemExit(6)'));
          const following = followToEnd(run);
          await up(run);
          lab.killConnections();
          const other = labHosts(lab);
          const again = await attachRun(other, 'lab', run.id);
          const results = await Promise.all([following, followToEnd(again)]);
          await other.dispose();
          for (const { output, state } of results) {
            assert.equal(output, Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join(''));
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
    });
  });
}
