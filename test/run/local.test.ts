import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { attachRun, Hosts, listRuns, startRun } from '../../src/run/run';
import { LocalShell } from '../../src/run/localShell';
import { envelope, quoteWord } from '../../src/run/posix';
import { provenanceOf } from '../../src/run/provenance';
import { ARGUMENTS_AS_JSON, followToEnd, NASTY, runToEnd } from './lab/session';
import { until } from './lab/sshLab';

describe('words and envelopes', () => {
  // Those that are here; `npm run test:remote` installs the rest and logs in through each.
  for (const shell of ['sh', 'bash', 'dash', 'zsh', 'fish', 'tcsh', 'ksh'].filter((name) => ['/bin/', '/usr/bin/'].some((folder) => existsSync(folder + name)))) {
    it(`reach a program whole through ${shell}`, () => {
      const command = envelope(`exec ${[...ARGUMENTS_AS_JSON, ...NASTY].map(quoteWord).join(' ')}`);
      assert.deepEqual(JSON.parse(execFileSync(shell, ['-c', command], { encoding: 'utf8' })), NASTY);
    });
  }
});

describe('the shell here', () => {
  const shell = new LocalShell();
  it('tells a script\'s exit code, whatever it is, and what it said', async () => {
    assert.deepEqual(await shell.run('echo a; printf b >&2; exit 255'), { exit: 255, stdout: 'a\n', stderr: 'b' });
    assert.equal((await shell.run('sh -c \'kill -s TERM $$\'')).exit, 143);
  });
  it('takes scripts and input of any size', async () => {
    assert.deepEqual(await shell.run(`: ${'x'.repeat(200_000)}\nwc -c`, { input: 'y'.repeat(300_000) }), { exit: 0, stdout: '300000\n', stderr: '' });
  });
  it('streams, holding the sender back, and ends at an abort', async () => {
    let bytes = 0;
    await shell.run('head -c 3000000 /dev/zero', { onStdout: async (chunk) => { bytes += chunk.length; await new Promise((resolve) => setImmediate(resolve)); } });
    assert.equal(bytes, 3_000_000);
    const stop = new AbortController();
    const endless = shell.run('echo up; sleep 600', { signal: stop.signal, onStdout: () => { stop.abort(); } });
    await assert.rejects(endless, { name: 'Cancelled' });
  });
});

describe('runs here', () => {
  let folder: string;
  let hosts: Hosts;
  before(function () {
    if (process.platform === 'win32') {
      this.skip();
    }
    folder = mkdtempSync('/tmp/fl-local-');
    hosts = new Hosts({ runsFolder: `${folder}/ru ns/$x` });
  });
  after(() => { rmSync(folder, { recursive: true, force: true }); });

  it('run in the workspace, with setup before and the user\'s variables on top', async () => {
    writeFileSync(`${folder}/set_env.sh`, 'export A=setup B=setup\n');
    const { state, output } = await runToEnd(hosts, { launcher: 'command', setup: [`source '${folder}/set_env.sh'`], env: { A: 'mine $x' }, command: 'sh', args: ['-c', 'pwd; echo "$A/$B"; exit 3'] }, { workspace: folder });
    assert.equal(output, `${folder}\nmine $x/setup\n`);
    assert.equal(state.exit, 3);
  });

  it('are given files and paths by whoever adds to them', async () => {
    const { state, output } = await runToEnd(hosts, { launcher: 'command', command: 'sh', args: ['-c', 'cat "$HELPER/sub/a b.py"; echo "$FLPATH"'], env: { FLPATH: 'theirs' } }, {
      workspace: folder, files: [{ path: 'sub/a b.py', content: 'it\'s 漢\n' }], add: ({ filesFolder }) => ({ env: { HELPER: filesFolder }, prependPaths: { FLPATH: '/x y' } }),
    });
    assert.equal(state.exit, 0);
    assert.equal(output, 'it\'s 漢\n/x y:theirs\n');
  });

  it('go on after whoever followed let go, from any byte', async () => {
    const run = await startRun(hosts, { launcher: 'command', command: 'sh', args: ['-c', 'for i in 1 2 3 4 5 6; do echo line $i; sleep 0.2; done'] });
    const stop = new AbortController();
    await assert.rejects(run.follow({ signal: stop.signal, onOutput: () => { stop.abort(); } }), { name: 'Cancelled' });
    const again = await attachRun(hosts, undefined, run.id);
    let text = '';
    await again.follow({ offsets: { '': 7 }, onOutput: ({ bytes }) => { text += Buffer.from(bytes).toString(); } });
    assert.equal(text, [2, 3, 4, 5, 6].map((i) => `line ${i}\n`).join(''));
  });

  it('say what is missing', async () => {
    await assert.rejects(startRun(hosts, { launcher: 'command', command: 'true', env: { 'A B': '' } }), /task\.problem\.env-name/);
    await assert.rejects(attachRun(hosts, undefined, 'no-such-run'), /error\.run-not-found-here/);
    assert.equal((await runToEnd(hosts, { launcher: 'command', command: 'no-such-program-here' })).state.exit, 127);
    assert.equal((await runToEnd(hosts, { launcher: 'command', command: 'true', workdir: `${folder}/nowhere` })).state.exit, 96);
  });

  it('record commit, difference and environment, so that the state can be made again', async () => {
    const repository = `${folder}/repository`;
    mkdirSync(`${repository}/sub`, { recursive: true });
    const git = (...args: readonly string[]): string => execFileSync('git', ['-C', repository, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' });
    git('init', '-q');
    writeFileSync(`${repository}/train.py`, 'a\nb\n');
    git('add', '.');
    git('commit', '-q', '-m', 'one');
    assert.deepEqual(Object.keys((await provenanceOf(repository))?.provenance ?? {}).sort(), ['branch', 'commit']);
    writeFileSync(`${repository}/train.py`, 'a\nB\n');
    writeFileSync(`${repository}/sub/new 新.py`, 'fresh\nno end');
    const run = await startRun(hosts, { launcher: 'command', command: 'true', env: { OMP_NUM_THREADS: '7', SECRET_TOKEN: 'hush' } }, { workspace: repository, name: 'named' });
    await followToEnd(run);
    const record = (await listRuns(hosts, undefined)).find(({ id }) => id === run.id)?.record;
    assert.equal(record?.name, 'named');
    assert.equal(record?.provenance?.commit, git('rev-parse', 'HEAD').trim());
    assert.deepEqual(record?.provenance?.changedFiles, ['train.py', 'sub/new 新.py']);
    const before = record?.provenance?.diffHash;
    assert.match(before ?? '', /^[0-9a-f]{64}$/);
    // The patch makes the same files out of the commit.
    git('clone', '-q', repository, `${folder}/clone`);
    execFileSync('git', ['-C', `${folder}/clone`, 'apply', `${run.folder}/patch.diff`]);
    for (const file of ['train.py', 'sub/new 新.py']) {
      assert.equal(readFileSync(path.join(folder, 'clone', file), 'utf8'), readFileSync(path.join(repository, file), 'utf8'));
    }
    writeFileSync(`${repository}/sub/new 新.py`, 'fresh\nother end');
    assert.notEqual((await provenanceOf(repository))?.provenance.diffHash, before);
    const environment = readFileSync(`${run.folder}/environment`, 'utf8');
    assert.match(environment, /^OMP_NUM_THREADS=7$/m);
    assert.match(environment, /^python=3/m);
    assert.ok(!environment.includes('hush'));
    assert.equal(await provenanceOf('/'), undefined);
  });

  it('are stopped with what they started', async () => {
    const run = await startRun(hosts, { launcher: 'command', command: 'sh', args: ['-c', 'sleep 600 & echo up; wait'] });
    await until(async () => (await run.state()).logBytes > 0, 'no output');
    const { exit, left } = await run.stop();
    assert.deepEqual([exit, left], [143, []]);
    assert.equal((await run.state()).stopped, true);
  });
});
