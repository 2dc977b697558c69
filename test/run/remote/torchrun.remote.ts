import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import * as path from 'node:path';
import { explainRunFailure } from '../../../src/run/failure';
import { attachRun, startRun, type Hosts } from '../../../src/run/run';
import { followToEnd, labHosts, runToEnd } from '../lab/session';
import { startSshLab, until, type SshLab } from '../lab/sshLab';
import { TORCH_PYTHON } from '../lab/torch';

const SOURCE = path.resolve(import.meta.dirname, '../lab/sum_ranks.py');

describe('torchrun over ssh', () => {
  let lab: SshLab;
  let hosts: Hosts;
  before(async function () {
    if (TORCH_PYTHON === undefined || process.getuid?.() !== 0) {
      this.skip();
    }
    lab = await startSshLab();
    hosts = labHosts(lab);
    cpSync(SOURCE, `${lab.folder}/sum_ranks.py`);
    // Two names of one machine, which share a home folder, as the hosts of a cluster do.
    lab.configure('Host lab-second\n User root');
  });
  after(async () => {
    await hosts?.dispose();
    await lab?.dispose();
  });
  const command = (...args: readonly string[]): { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> } => ({ command: TORCH_PYTHON ?? '', args: [`${lab.folder}/sum_ranks.py`, ...args], env: { OMP_NUM_THREADS: '1' } });

  it('runs ranks on one node', async () => {
    const { state, output } = await runToEnd(hosts, { host: 'lab', launcher: 'torchrun', procs: 2, ...command('it\'s $x') });
    assert.equal(state.exit, 0, output);
    assert.deepEqual(output.split('\n').filter((line) => line.startsWith('rank')).sort(), ['rank 0 of 2: 3 it\'s $x', 'rank 1 of 2: 3 it\'s $x']);
  });

  it('runs ranks on several hosts that meet at the first, as one run', async () => {
    const run = await startRun(hosts, { launcher: 'torchrun', host: 'lab', nodes: ['lab', 'lab-second'], procs: 1, ...command('x') });
    const { state, output } = await followToEnd(run);
    assert.equal(state.exit, 0, output);
    assert.deepEqual(output.split('\n').filter((line) => line.startsWith('rank')).sort(), ['rank 0 of 2: 3 x', 'rank 1 of 2: 3 x']);
    assert.deepEqual((await attachRun(hosts, 'lab', run.id)).hosts, ['lab', 'lab-second']);
  });

  it('names the rank that failed', async () => {
    const { state, output } = await runToEnd(hosts, { host: 'lab', launcher: 'torchrun', procs: 2, ...command('x', '3') });
    assert.equal(state.exit, 1);
    const { code, args } = explainRunFailure(output, state.exit, { transport: false, host: 'lab' });
    assert.deepEqual([code, args.rank, args.code], ['error.run-rank-failed', '1', '3']);
  });

  it('is stopped with its ranks, which are in sessions of their own', async () => {
    const program = 'import torch.distributed as d, time; d.init_process_group("gloo"); print("up", flush=True); time.sleep(600)';
    const run = await startRun(hosts, { host: 'lab', launcher: 'torchrun', procs: 2, command: TORCH_PYTHON ?? '', args: [await scriptOf(hosts, program)] });
    await until(async () => (await followText(hosts, run.folder)).split('up').length > 2, 'the ranks did not come up', 120);
    const { left } = await run.stop();
    assert.deepEqual(left, []);
    assert.equal(spawnSync('sh', ['-c', 'grep -lF "FUSELENS_RUN_ID=$1" /proc/[0-9]*/environ 2>/dev/null', 'sh', run.id], { encoding: 'utf8' }).stdout, '');
  });
});

async function scriptOf(hosts: Hosts, text: string): Promise<string> {
  const file = '/tmp/fl-torchrun-wait.py';
  await hosts.shell('lab').run(`cat > ${file}`, { input: text });
  return file;
}

async function followText(hosts: Hosts, folder: string): Promise<string> {
  return (await hosts.shell('lab').exec(['cat', `${folder}/log`])).stdout;
}
