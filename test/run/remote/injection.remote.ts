import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import * as path from 'node:path';
import { RunFailure } from '../../../src/run/failure';
import { startRun, type Hosts } from '../../../src/run/run';
import type { RunSettings } from '../../../src/run/runSettings';
import { cli } from '../../cli/runCli';
import { labHosts, runToEnd } from '../lab/session';
import { HAS_SLURM, startSlurmLab } from '../lab/slurmLab';
import { startSshLab, until, type SshLab } from '../lab/sshLab';

/** What a file from a workspace may try in each setting: words are words, wherever they stand. */
describe('settings that try to be commands, over ssh', () => {
  let lab: SshLab;
  let hosts: Hosts;
  let place: string;
  let marker: string;
  before(async () => {
    lab = await startSshLab();
    hosts = labHosts(lab);
    place = mkdtempSync('/tmp/fl-inject-');
    marker = path.join(place, 'marker');
  });
  after(async () => {
    await hosts?.dispose();
    await lab?.dispose();
    rmSync(place, { recursive: true, force: true });
  });
  afterEach(() => { assert.ok(!existsSync(marker), 'something was executed'); });

  /** Ways by which a shell would run a command out of a word. */
  const tries = (): readonly string[] => [
    `$(touch ${marker})`, `\`touch ${marker}\``, `; touch ${marker};`, `' ; touch ${marker} ; '`, `"; touch ${marker}; "`, `\n touch ${marker}\n`, `| touch ${marker}`, `& touch ${marker} &`, `\${x:-$(touch ${marker})}`, `x\\'; touch ${marker} #`, `EOF\ntouch ${marker}\nFUSELENS_EOF\ntouch ${marker}`,
  ];
  const base: RunSettings = { host: 'lab', launcher: 'command', command: 'python3' };
  const code = (settings: RunSettings): Promise<string> => startRun(hosts, settings).then(() => 'started', (error: unknown) => (error instanceof RunFailure ? error.explanation.code : String(error)));

  it('values of the environment arrive as they are, under names that mean something to shells as well', async () => {
    const names = ['PLAIN', 'BASH_ENV', 'ENV', 'PS4', 'PROMPT_COMMAND', 'CDPATH', 'IFS'];
    const script = 'import os, json; print("ENV " + json.dumps({name: os.environ.get(name) for name in os.environ["NAMES"].split(",")}))';
    for (const text of tries()) {
      const env = Object.fromEntries(names.map((name) => [name, text]));
      const { output } = await runToEnd(hosts, { ...base, args: ['-c', script], env: { ...env, NAMES: names.join(',') } });
      assert.deepEqual(JSON.parse(/^ENV (.*)$/m.exec(output)?.[1] ?? output), env);
    }
  });

  it('names that are none are refused before anything runs', async () => {
    for (const name of [...tries(), '', 'A=B', 'A B', '1A', 'BASH_FUNC_ls%%', '-e', 'Ä']) {
      assert.equal(await code({ ...base, args: ['-c', ''], env: { [name]: 'x' } }), 'task.problem.env-name', name);
    }
  });

  it('the name by which a run is found again cannot be taken from it', async () => {
    const run = await startRun(hosts, { ...base, command: 'sh', args: ['-c', 'setsid sleep 600 & echo up; sleep 600'], env: { FUSELENS_RUN_ID: 'another' }, setup: ['export FUSELENS_RUN_ID=another'] });
    await until(async () => (await run.state()).logBytes > 0, 'no output');
    assert.deepEqual((await run.stop()).left, []);
    assert.equal(spawnSync('sh', ['-c', `grep -lF "FUSELENS_RUN_ID=$1" /proc/[0-9]*/environ 2>/dev/null; grep -lF "FUSELENS_RUN_ID=another" /proc/[0-9]*/environ 2>/dev/null`, 'sh', run.id], { encoding: 'utf8' }).stdout, '');
  });

  it('a working directory is a folder, whatever it is called; one that is not there runs nothing', async () => {
    for (const text of [...tries(), '-rf', '~root', '--', '*']) {
      const folder = path.join(place, `in ${text.replaceAll('/', '∕')}`);
      mkdirSync(folder);
      const { output } = await runToEnd(hosts, { ...base, args: ['-c', 'import os; print(ascii(os.getcwd()))'], workdir: folder });
      assert.ok(output.includes(spawnSync('python3', ['-c', 'import sys; print(ascii(sys.argv[1]))', folder], { encoding: 'utf8' }).stdout), output);
      assert.equal((await runToEnd(hosts, { ...base, args: ['-c', `open(${JSON.stringify(marker)}, "w")`], workdir: path.join(place, `missing ${text.replaceAll('/', '∕')}`) })).state.exit, 96);
    }
  });

  it('a prefix of a container is a program and its words', async () => {
    for (const text of tries()) {
      const { output, state } = await runToEnd(hosts, { ...base, args: ['-c', 'import os, json; print("GOT " + json.dumps(os.environ["WORD"]))'], exec: { prefix: ['env', `WORD=${text}`] } });
      assert.equal(state.exit, 0, output);
      assert.equal(JSON.parse(/^GOT (.*)$/m.exec(output)?.[1] ?? '""'), text);
    }
    for (const word of [...tries(), '-c', '-a']) {
      const { state } = await runToEnd(hosts, { ...base, args: ['-c', ''], exec: { prefix: [word, 'sh'] } });
      assert.ok(state.phase === 'exited' && state.exit !== 0, word);
    }
  });

  it('a line of setup that is no whole line ends the run, and the command does not run without it', async () => {
    for (const line of [`echo 'unclosed`, 'if true', 'cat <<EOF', '(', 'exit 9', 'exit 0', 'trap "" EXIT; exit 9']) {
      const { state } = await runToEnd(hosts, { ...base, args: ['-c', `open(${JSON.stringify(marker)}, "w")`], setup: [line] });
      assert.ok(state.phase === 'exited' && state.exit !== 0, `${line}: ${String(state.exit)}`);
    }
  });

  it('a host that begins like an option is no host, for settings and for every command', async () => {
    const evil = `-oProxyCommand=touch ${marker}`;
    for (const host of [evil, '-F/etc/passwd', '--', '-', 'a b', `-oPermitLocalCommand=yes`]) {
      assert.equal(await code({ ...base, host }), 'task.problem.host');
      assert.equal(await code({ ...base, launcher: 'torchrun', host: 'lab', nodes: ['lab', host] }), 'task.problem.host');
      assert.throws(() => hosts.shell(host), /error\.run-host-name/);
      for (const args of [['runs', `--host=${host}`], ['attach', 'x', `--host=${host}`], ['stop', 'x', `--host=${host}`], ['fetch', '--from', '/tmp', `--host=${host}`], ['push', place, `--host=${host}`], ['capture', `--host=${host}`, '--', 'true'], ['run', `--host=${host}`, '--', 'true']]) {
        const said = await cli(args);
        assert.equal(said.code, 2, `${args.join(' ')}: ${said.err}`);
        assert.equal(said.err.trim().split('\n').length, 1, said.err);
        assert.match(said.err, /host/);
      }
    }
    // What ssh takes and gives to a shell, as %h in a ProxyCommand, it looks at itself.
    lab.configure(`Host *touch*\n ProxyCommand sh -c ': %h'`);
    assert.notEqual(await code({ ...base, host: `x;touch\${IFS}${marker}` }), 'started');
    assert.notEqual(await code({ ...base, host: `\$(touch\${IFS}${marker})` }), 'started');
  });

  it('options of Slurm are words', async function () {
    if (process.getuid?.() !== 0 || !HAS_SLURM) {
      this.skip();
    }
    const slurm = await startSlurmLab();
    try {
      const job: RunSettings = { ...base, launcher: 'slurm', setup: slurm.setup, args: ['-c', 'print("ran")'] };
      for (const text of tries()) {
        for (const [name, options] of Object.entries({ partition: { partition: text }, account: { arguments: [`--reservation=${text}`] }, time: { time: text } })) {
          assert.match(await code({ ...job, slurm: options }), /^error\.run-/, `${name}: ${text}`);
        }
        assert.match(await code({ ...job, slurm: { array: text } }), /error\.run-array|task\.problem/);
      }
      const { output, state } = await runToEnd(hosts, { ...job, slurm: { arguments: [`--comment=${tries().join(' ')}`] } }, { name: tries()[0] });
      assert.deepEqual([state.exit, output], [0, 'ran\n']);
    } finally {
      await slurm.dispose();
    }
  });
});
