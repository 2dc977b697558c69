import assert from 'node:assert/strict';
import { explainRunFailure } from '../../../src/run/failure';
import { startRun, type Hosts } from '../../../src/run/run';
import type { RunSettings } from '../../../src/run/runSettings';
import { RAY_BIN, startRayLab, type RayLab } from '../lab/rayLab';
import { ARGUMENTS_AS_JSON, followToEnd, labHosts, NASTY, runToEnd } from '../lab/session';
import { startSshLab, until, type SshLab } from '../lab/sshLab';

describe('Ray, over ssh', () => {
  let lab: SshLab;
  let ray: RayLab;
  let hosts: Hosts;
  before(async function () {
    this.timeout(300_000);
    if (RAY_BIN === undefined) {
      this.skip();
    }
    lab = await startSshLab();
    ray = startRayLab();
    hosts = labHosts(lab);
  });
  after(async () => {
    await hosts?.dispose();
    ray?.dispose();
    await lab?.dispose();
  });
  const job = (more: Omit<RunSettings, 'launcher' | 'host'>): RunSettings => ({ host: 'lab', launcher: 'ray', setup: ray.setup, ...more, ray: { address: ray.address, ...more.ray } });

  it('runs a job with nasty arguments and environment, and tells its log and code', async () => {
    const program = 'import sys, os, json; print(json.dumps([sys.argv[1:], os.environ["MINE"]])); raise SystemExit(42)';
    const { state, output } = await runToEnd(hosts, job({ command: ARGUMENTS_AS_JSON[0], args: ['-c', program, ...NASTY], env: { MINE: NASTY.join('|') } }));
    assert.equal(state.exit, 42, output);
    assert.deepEqual(JSON.parse(output.trim().split('\n').at(-1) ?? ''), [NASTY, NASTY.join('|')]);
    assert.equal(state.queue?.state, 'FAILED');
  });

  it('stops a job, and knows it as stopped', async () => {
    const run = await startRun(hosts, job({ command: 'sh', args: ['-c', 'echo up; sleep 600'] }));
    await until(async () => (await run.state()).queue?.state === 'RUNNING', 'the job did not start', 120);
    await run.stop();
    const state = await run.state();
    assert.deepEqual([state.phase, state.exit, state.stopped, state.queue?.state], ['exited', 143, true, 'STOPPED']);
  });

  it('lets a job wait for what it asks for, and ends it there', async () => {
    const run = await startRun(hosts, job({ command: 'true', ray: { cpus: 64 } }));
    await until(async () => (await run.state()).queue?.state === 'PENDING', 'the job does not wait', 120);
    assert.equal((await run.state()).phase, 'queued');
    await run.stop();
    assert.equal((await run.state()).phase, 'exited');
  });

  it('says when no cluster answers', async () => {
    const { state, output } = await followToEnd(await startRun(hosts, job({ command: 'true', ray: { address: 'http://127.0.0.1:9' } })));
    assert.equal(state.exit, 94);
    assert.equal(explainRunFailure(output, state.exit, { transport: false, host: 'lab' }).code, 'error.run-ray-down');
    const none = await followToEnd(await startRun(hosts, { ...job({ command: 'true' }), setup: ['export PATH=/usr/bin:/bin'] }));
    assert.equal(explainRunFailure(none.output, none.state.exit, { transport: false, host: 'lab' }).code, 'error.run-no-ray');
  });
});
