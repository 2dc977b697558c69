import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { RunFailure } from '../../../src/run/failure';
import { explainRunEnd } from '../../../src/run/runEnd';
import { listRuns, startRun, type Hosts } from '../../../src/run/run';
import type { RunSettings } from '../../../src/run/runSettings';
import { ARGUMENTS_AS_JSON, followToEnd, labHosts, NASTY, runToEnd } from '../lab/session';
import { HAS_SLURM, startSlurmLab, type SlurmLab } from '../lab/slurmLab';
import { startSshLab, until, type SshLab } from '../lab/sshLab';

describe('Slurm with four virtual nodes, over ssh', () => {
  let lab: SshLab;
  let slurm: SlurmLab;
  let hosts: Hosts;
  before(async function () {
    if (process.getuid?.() !== 0 || !HAS_SLURM) {
      this.skip();
    }
    lab = await startSshLab();
    slurm = await startSlurmLab();
    hosts = labHosts(lab);
  });
  after(async () => {
    await hosts?.dispose();
    await slurm?.dispose();
    await lab?.dispose();
  });
  const job = (more: Omit<RunSettings, 'launcher' | 'host'>): RunSettings => ({ host: 'lab', launcher: 'slurm', setup: slurm.setup, ...more });
  const shell = (script: string, more: Partial<RunSettings> = {}): RunSettings => job({ command: 'sh', args: ['-c', script], ...more });

  it('runs a job with nasty arguments and tells its code and state', async () => {
    const { state, output } = await runToEnd(hosts, job({ command: ARGUMENTS_AS_JSON[0], args: [...ARGUMENTS_AS_JSON.slice(1), ...NASTY] }));
    assert.equal(state.exit, 0, output);
    assert.deepEqual(JSON.parse(output.trim().split('\n').at(-1) ?? ''), NASTY);
    assert.equal(state.queue?.state, 'COMPLETED');
  });

  it('tells how a job failed', async () => {
    const failed = await runToEnd(hosts, shell('echo no; exit 42'));
    assert.deepEqual([failed.state.exit, failed.state.queue?.state, failed.state.queue?.reason, failed.state.queue?.explanation?.code], [42, 'FAILED', 'NonZeroExitCode', 'run.queue.NonZeroExitCode']);
    assert.equal(failed.output, 'no\n');
    const missing = await runToEnd(hosts, shell('true', { workdir: '/no/such folder' }));
    assert.equal(missing.state.exit, 96);
    assert.match(missing.output, /no folder \/no\/such folder/);
  });

  it('spreads tasks over nodes, with what PyTorch needs to know', async () => {
    const { state, output } = await runToEnd(hosts, shell('echo "$RANK of $WORLD_SIZE, local $LOCAL_RANK on $SLURMD_NODENAME, $MASTER_ADDR:$MASTER_PORT"', { nodes: 2, procs: 2, env: { MASTER_PORT: '23456' } }));
    assert.equal(state.exit, 0, output);
    assert.deepEqual(output.trim().split('\n').filter((line) => line.includes(' of ')).sort(), ['0 of 4, local 0 on n1, 127.0.0.1:23456', '1 of 4, local 1 on n1, 127.0.0.1:23456', '2 of 4, local 0 on n2, 127.0.0.1:23456', '3 of 4, local 1 on n2, 127.0.0.1:23456']);
  });

  it('runs arrays, task by task, with a limit', async () => {
    const { state, output } = await runToEnd(hosts, shell('echo task $SLURM_ARRAY_TASK_ID; sleep 1; exit $((SLURM_ARRAY_TASK_ID % 3))', { slurm: { array: '1-4,7%2' } }));
    assert.deepEqual(state.tasks, { total: 5, running: 0, exits: { 1: 1, 2: 2, 3: 0, 4: 1, 7: 1 }, live: {} });
    assert.equal(state.exit, 2);
    assert.deepEqual(output.trim().split('\n').sort(), ['[1] task 1', '[2] task 2', '[3] task 3', '[4] task 4', '[7] task 7']);
  });

  it('tells what waits, why, and behind how many; and cancels what waits', async () => {
    const all = await startRun(hosts, shell('sleep 600', { nodes: 4, slurm: { arguments: ['--exclusive'] } }));
    await until(async () => (await all.state()).phase === 'running', 'the first job did not start');
    const second = await startRun(hosts, shell('true', { nodes: 4, slurm: { arguments: ['--exclusive'] } }));
    const third = await startRun(hosts, shell('true', { nodes: 4, slurm: { arguments: ['--exclusive'] } }));
    await until(async () => (await third.state()).queue?.reason !== undefined, 'no reason');
    const state = await third.state();
    assert.equal(state.phase, 'queued');
    assert.equal(state.queue?.ahead, 1);
    assert.match(state.queue?.reason ?? '', /Priority|Resources/);
    assert.ok(state.queue?.explanation !== undefined);
    const never = await startRun(hosts, shell('true', { nodes: 9 }));
    await until(async () => (await never.state()).queue?.reason === 'PartitionConfig', 'no reason for nine nodes');
    for (const run of [third, never]) {
      await run.stop();
      const stopped = await run.state();
      assert.deepEqual([stopped.phase, stopped.exit, stopped.stopped], ['exited', 143, true]);
    }
    await all.stop();
    assert.equal((await followToEnd(second)).state.exit, 0);
  });

  it('cancels what runs, with every process', async () => {
    const run = await startRun(hosts, shell('setsid sleep 600 & echo up; sleep 600', { nodes: 2, procs: 1 }));
    await until(async () => (await run.state()).logBytes > 0, 'no output');
    const { left } = await run.stop();
    assert.deepEqual(left, []);
    const state = await run.state();
    assert.deepEqual([state.phase, state.stopped, state.queue?.state], ['exited', true, 'CANCELLED']);
    assert.equal(spawnSync('sh', ['-c', `grep -lF "FUSELENS_RUN_ID=$1" /proc/[0-9]*/environ 2>/dev/null`, 'sh', run.id], { encoding: 'utf8' }).stdout, '');
  });

  it('tells a job that somebody else cancelled from one that failed', async () => {
    const run = await startRun(hosts, shell('echo up; sleep 600'));
    await until(async () => (await run.state()).logBytes > 0, 'no output');
    spawnSync('scancel', [(await run.state()).queue?.job ?? ''], { env: { ...process.env, ...slurm.environment } });
    const { state, output } = await followToEnd(run);
    assert.deepEqual([state.exit, state.stopped, explainRunEnd(state, output, run.id)?.code], [143, undefined, 'error.run-slurm-cancelled']);
  });

  it('says why a job is not taken, and starts nothing', async () => {
    const code = async (settings: RunSettings): Promise<string> => startRun(hosts, settings).then(() => 'started', (error: unknown) => (error instanceof RunFailure ? error.explanation.code : String(error)));
    assert.equal(await code(shell('true', { slurm: { partition: 'nope' } })), 'error.run-slurm-partition');
    assert.equal(await code(shell('true', { slurm: { arguments: ['--gres=tpu:1'] } })), 'error.run-slurm-gres');
    assert.equal(await code(shell('true', { slurm: { arguments: ['--no-such-option'] } })), 'error.run-slurm-option');
    assert.equal(await code({ ...shell('true'), setup: ['export PATH=/usr/lib/empty'] }), 'error.run-no-slurm');
  });

  it('keeps a job\'s state and code through a controller that is away and then forgets', async () => {
    const go = `${lab.folder}/go`;
    const run = await startRun(hosts, shell(`while ! [ -e '${go}' ]; do sleep 0.2; done; exit 4`));
    await until(async () => (await run.state()).phase === 'running', 'the job did not start');
    await slurm.stopController();
    assert.equal((await run.state()).phase, 'running', 'nobody can tell, so it is not called lost');
    writeFileSync(go, '');
    await until(async () => (await run.state()).exit === 4, 'the exit file was not read');
    slurm.startController();
    assert.ok((await listRuns(hosts, 'lab')).some(({ id, state }) => id === run.id && state.exit === 4));
  });
});
