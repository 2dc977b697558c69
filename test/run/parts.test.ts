import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { IgnoreRules } from '../../src/run/ignoreRules';
import { containerKind, containerProgram, labelledPrefix, uselessOption, withInput } from '../../src/run/containerPrefix';
import { portOf, torchrunArgv } from '../../src/run/launchers';
import { selectProfileFiles } from '../../src/run/profileFiles';
import type { RunState } from '../../src/run/run';
import { explainRunEnd } from '../../src/run/runEnd';
import { parseState, worstState } from '../../src/run/runState';
import { checkSettings, readSettings } from '../../src/run/settingsFile';
import { arrayTasks, sbatchOptions } from '../../src/run/slurm';
import { containerStop } from '../../src/run/stopScript';

describe('ignore rules', () => {
  it('are git\'s, as git itself says', () => {
    const folder = mkdtempSync('/tmp/fl-ignore-');
    try {
      execFileSync('git', ['init', '-q', folder]);
      const files = ['a.log', 'keep.log', 'b/a.log', 'b/c/d.txt', 'b/c/secret', 'build/x', 'b/build/x', 'docs/build/y', 'deep/x/y/z.tmp', 'deep/x/only.tmp', '#hash', '!bang', 'sp ace ', 'x.py', 'foo', 'b/foo', 'data/in/a.bin', 'data/out/a.bin', 'ü.log'];
      for (const file of files) {
        mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
        writeFileSync(path.join(folder, file), '');
      }
      const top = '*.log\n!keep.log\n/build/\nb/c/*\n!b/c/secret\n\\#hash\n\\!bang\n**/y/*.tmp\ndata/*\n!data/in/\n/foo\n# comment\n\n';
      writeFileSync(path.join(folder, '.gitignore'), top);
      writeFileSync(path.join(folder, 'b/.gitignore'), '!a.log\nfoo\n');
      const rules = new IgnoreRules();
      rules.add('', top);
      rules.add('b', '!a.log\nfoo\n');
      const taken: string[] = [];
      const visit = (at: string): void => {
        for (const entry of readdirSync(path.join(folder, at), { withFileTypes: true })) {
          const name = at === '' ? entry.name : `${at}/${entry.name}`;
          if (!rules.ignores(name, entry.isDirectory())) {
            if (entry.isDirectory()) {
              visit(name);
            } else {
              taken.push(name);
            }
          }
        }
      };
      visit('');
      const git = spawnSync('git', ['-C', folder, 'ls-files', '-z', '--others', '--exclude-standard'], { encoding: 'utf8' }).stdout.split('\0').filter((name) => name !== '');
      assert.deepEqual(taken.sort(), git.sort());
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('of the run have the last word', () => {
    const rules = new IgnoreRules(['!keep.log', '*.csv']);
    rules.add('', '*.log\n');
    assert.deepEqual(['keep.log', 'a.log', 'a.csv', 'a.py'].map((file) => rules.ignores(file, false)), [false, true, true, false]);
    assert.ok(rules.ignores('.git', true) && rules.ignores('sub/__pycache__', true));
  });
});

describe('launchers', () => {
  it('start torchrun in the Python that was named', () => {
    const run = (command: string, ...args: readonly string[]): string => torchrunArgv({ launcher: 'torchrun', command, procs: 2 }, [command, ...args]).join(' ');
    assert.equal(run('train.py', '--x'), 'torchrun --standalone --nproc-per-node 2 train.py --x');
    assert.equal(run('/venv/bin/python3', 'train.py'), '/venv/bin/python3 -m torch.distributed.run --standalone --nproc-per-node 2 train.py');
    assert.equal(run('python', '-m', 'pkg.train'), 'python -m torch.distributed.run --standalone --nproc-per-node 2 -m pkg.train');
    assert.equal(run('xtuner', 'train'), 'torchrun --standalone --nproc-per-node 2 --no-python xtuner train');
  });
  it('let several hosts meet at the first', () => {
    const argv = torchrunArgv({ launcher: 'torchrun', command: 'train.py', procs: 8 }, ['train.py'], { id: 'r', endpoint: 'h:1', nodes: 2, node: 1 });
    assert.equal(argv.join(' '), 'torchrun --nnodes 2 --rdzv-backend c10d --rdzv-id r --rdzv-endpoint h:1 --rdzv-conf is_host=false --nproc-per-node 8 train.py');
    assert.ok(portOf('x') >= 20000 && portOf('x') < 30000 && portOf('x') === portOf('x'));
  });
  it('read arrays as Slurm does', () => {
    assert.deepEqual(arrayTasks('0-7%4'), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert.deepEqual(arrayTasks('1,3,5-9:2'), [1, 3, 5, 7, 9]);
    assert.deepEqual(['', 'a', '5-3', '1-9:0', '0-99999999'].map((array) => arrayTasks(array)), [undefined, undefined, undefined, undefined, undefined]);
  });
  it('give Slurm whole arguments, the user\'s last', () => {
    const options = sbatchOptions({ launcher: 'slurm', command: 'x', nodes: 2, procs: 8, slurm: { partition: 'a b', time: '01:00:00', gpusPerNode: 8, arguments: ['--comment=it\'s $x', '--nodes=3'] } }, 'na me', '/home/50%/x');
    assert.deepEqual(options.slice(0, 4), ['--job-name=na me', '--output=/home/50%%/x/log', '--open-mode=append', '--chdir=/home/50%/x']);
    assert.deepEqual(options.slice(-2), ['--comment=it\'s $x', '--nodes=3']);
    assert.ok(['--no-requeue', '--nodes=2', '--ntasks-per-node=8', '--partition=a b', '--gpus-per-node=8'].every((option) => options.includes(option)));
  });
  it('know containers that are there from containers that are made', () => {
    const kind = (...prefix: readonly string[]): string => containerKind({ prefix });
    assert.deepEqual([kind('docker', 'exec', 'run'), kind('env', 'DOCKER_HOST=ssh://x', 'docker', 'run', 'exec'), kind('docker', 'compose', 'run', 'trainer'), kind('kubectl', 'run', 'x'), kind('apptainer', 'exec', 'image.sif'), kind('env', 'A=b', 'srun', '--container', '/b')], ['exec', 'run', 'run', 'exec', 'exec', 'srun']);
    const program = (...prefix: readonly string[]): readonly string[] => containerProgram({ prefix });
    assert.deepEqual([program('sudo', 'docker', '--context', 'x', 'run', 'image'), program('docker', 'compose', '-f', 'a.yml', 'run', 'trainer'), program('docker-compose', '-f', 'a.yml', 'run', 'trainer')], [['sudo', 'docker', '--context', 'x'], ['docker'], ['docker']]);
    const option = (...prefix: readonly string[]): string | undefined => uselessOption({ prefix });
    assert.deepEqual([option('docker', 'exec', '-it', 'x'), option('podman', 'run', '--detach', 'x'), option('kubectl', 'exec', '-ti', 'pod', '--'), option('docker', 'run', '-i', '--ipc=host', '-v', '/a:/b', '-e', 'tt', 'x'), option('kubectl', 'exec', 'pod', '--', 'timeout', '-t', '5'), option('nsenter', '-t', '5')], ['-it', '--detach', '-ti', undefined, undefined, undefined]);
    assert.deepEqual([withInput({ prefix: ['docker', 'exec', 'x'] }), withInput({ prefix: ['docker', 'exec', '-i', 'x'] }), withInput({ prefix: ['docker', 'compose', 'exec', 'x'] }), withInput({ prefix: ['nsenter', '-p'] })], [['docker', 'exec', '-i', 'x'], ['docker', 'exec', '-i', 'x'], ['docker', 'compose', 'exec', 'x'], ['nsenter', '-p']]);
    assert.deepEqual([kind('docker', 'exec', 'train'), kind('/usr/bin/podman', 'run', '--rm', 'image'), kind('sudo', 'docker', 'run', 'image'), kind('kubectl', 'exec', 'pod', '--'), kind('srun', '--container-image=x')], ['exec', 'run', 'run', 'exec', 'srun']);
    assert.deepEqual(labelledPrefix({ prefix: ['docker', 'run', '--rm', 'image'] }, 'id'), ['docker', 'run', '--label', 'fuselens.run=id', '--rm', 'image']);
    assert.match(containerStop({ prefix: ['sudo', 'docker', 'run', 'image'] }, 'id') ?? '', /'sudo' 'docker' ps -q --filter 'label=fuselens\.run=id'/);
  });
});

describe('states', () => {
  it('are read from lines, and what is not understood is left out', () => {
    assert.deepEqual(parseState('nonsense\nphase=exited\nexit=7\nbytes=12\nelapsed=3\nstopped=1\n'), { phase: 'exited', exit: 7, logBytes: 12, elapsedSeconds: 3, stopped: true });
    assert.deepEqual(parseState(''), { phase: 'starting', logBytes: 0 });
    assert.deepEqual(parseState('phase=running\nqueue.job=7\nqueue.state=PENDING\nqueue.reason=None\nqueue.start=N/A'), { phase: 'queued', logBytes: 0, queue: { job: '7', state: 'PENDING' } });
    assert.deepEqual(parseState('phase=running\ntasks=4\ntasksRunning=1\ntask.1=0\ntaskState.1=COMPLETING|n1|None\ntaskState.2=RUNNING|n2|None\ntaskState.3=PENDING||JobArrayTaskLimit\ntask.x=\n').tasks, {
      total: 4, running: 1, exits: { 1: 0 }, live: { 2: { state: 'RUNNING', nodes: 'n2' }, 3: { state: 'PENDING', reason: 'JobArrayTaskLimit', explanation: { code: 'run.queue.JobArrayTaskLimit', args: {} } } },
    });
    assert.equal(parseState('phase=queued\nqueue.job=7\nqueue.state=PENDING\nqueue.reason=QOSMaxJobsPerUserLimit').queue?.explanation?.code, 'run.queue.QOS');
    assert.equal(parseState('phase=queued\nqueue.job=7\nqueue.reason=ReqNodeNotAvail, UnavailableNodes:n3').queue?.explanation?.code, 'run.queue.ReqNodeNotAvail');
  });
  it('of several hosts are one: the code of who failed first, not of whom it took along', () => {
    const one = (phase: 'running' | 'exited' | 'lost', exit?: number): Parameters<typeof worstState>[0][number] => ({ phase, logBytes: 1, ...(exit === undefined ? {} : { exit }) });
    assert.deepEqual(worstState([one('exited', 143), one('exited', 5)]), { phase: 'exited', exit: 5, logBytes: 2 });
    assert.equal(worstState([one('exited', 0), one('running')]).phase, 'running');
    assert.equal(worstState([one('exited', 0), one('lost')]).phase, 'lost');
  });
});

describe('the end of a run', () => {
  const code = (state: string, more: Partial<RunState> = {}, tail = ''): string | undefined => explainRunEnd({ phase: 'exited', exit: 143, logBytes: 0, queue: { job: '7', state }, ...more }, tail, 'id')?.code;

  it('is told as Slurm tells it, where it was Slurm who ended it', () => {
    assert.deepEqual(['TIMEOUT', 'OUT_OF_MEMORY', 'NODE_FAIL', 'PREEMPTED', 'CANCELLED'].map((state) => code(state)), ['error.run-slurm-timeout', 'error.run-slurm-memory', 'error.run-slurm-node', 'error.run-slurm-preempted', 'error.run-slurm-cancelled']);
    assert.equal(code('CANCELLED', { stopped: true }), undefined);
    assert.equal(code('COMPLETED', { exit: 0 }), undefined);
    assert.equal(code('FAILED', { exit: 1 }, "ModuleNotFoundError: No module named 'torch'"), 'error.run-no-torch');
    assert.equal(code('FAILED', { phase: 'lost' }), 'error.run-lost');
  });

  it('of an array names the tasks that failed, in order, and not endlessly', () => {
    const failed = explainRunEnd({ phase: 'exited', exit: 2, logBytes: 0, tasks: { total: 3, running: 0, exits: { 10: 2, 2: 1, 3: 0 }, live: {} } }, '', 'id');
    assert.deepEqual(failed, { code: 'error.run-array-failed', args: { count: 2, total: 3, list: '2 (1), 10 (2)' }, raw: '' });
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [i, 1]));
    assert.match(String(explainRunEnd({ phase: 'exited', exit: 1, logBytes: 0, tasks: { total: 40, running: 0, exits: many, live: {} } }, '', 'id')?.args.list), /^0 \(1\), .*, 7 \(1\) …$/);
  });
});

describe('profile files', () => {
  const file = (name: string): { readonly path: string; readonly bytes: number; readonly modified: number } => ({ path: name, bytes: 1, modified: 1 });
  it('leave behind what the tables say as well, and never take checkpoints', () => {
    const files = ['r/ASCEND_PROFILER_OUTPUT/kernel_details.csv', 'r/ASCEND_PROFILER_OUTPUT/trace_view.json', 'r/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db', 'r/PROF_0/host/x', 'r/FRAMEWORK/torch.op_range', 'r/profiler_info_0.json', 'k/a.pt.trace.json', 'k/model.pt', 'k/model.safetensors', 'n/x.nsys-rep', 'n/x.sqlite', 'only/ASCEND_PROFILER_OUTPUT/trace_view.json', 'train.py'].map(file);
    const { wanted, leftThere } = selectProfileFiles(files, 'analysis');
    assert.deepEqual(wanted.map(({ path: name }) => name), ['r/ASCEND_PROFILER_OUTPUT/kernel_details.csv', 'r/profiler_info_0.json', 'k/a.pt.trace.json', 'n/x.sqlite', 'only/ASCEND_PROFILER_OUTPUT/trace_view.json']);
    assert.deepEqual(leftThere.map(({ path: name }) => name), ['r/ASCEND_PROFILER_OUTPUT/trace_view.json', 'r/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db', 'r/PROF_0/host/x', 'r/FRAMEWORK/torch.op_range', 'n/x.nsys-rep']);
    assert.equal(selectProfileFiles(files, 'trace').wanted.length, 10);
  });
});

describe('run settings', () => {
  it('are checked by name and kind, and nothing is passed over', () => {
    assert.deepEqual(checkSettings({ launcher: 'command', command: 'x', args: ['a'], env: { A: 'b' }, capture: { steps: [3, 5] } }), []);
    const wrong = (settings: unknown): string => checkSettings(settings).map(({ code }) => code).join();
    assert.notEqual(wrong({ launcher: 'make', command: 'x' }), '');
    assert.notEqual(wrong({ launcher: 'command', command: 'x', hosst: 'y' }), '');
    assert.notEqual(wrong({ launcher: 'command' }), '');
    assert.notEqual(wrong({ launcher: 'torchrun', command: 'x', nodes: 2 }), '');
    assert.notEqual(wrong({ launcher: 'command', command: 'x', env: { 'A;rm': 'b' } }), '');
    assert.notEqual(wrong({ launcher: 'command', command: 'x\0y' }), '');
    assert.notEqual(wrong([]), '');
    assert.throws(() => readSettings('{', 'run.json'), /error\.run-settings/);
  });
});
