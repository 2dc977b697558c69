import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { attachRun, handleOf, listRuns, startRun, type Hosts, type Run } from '../../../src/run/run';
import { followToEnd, labHosts, runToEnd } from '../lab/session';
import { addUser, startSshLab, until, type LabUser, type SshLab } from '../lab/sshLab';

const isRoot = process.getuid?.() === 0;
/** One line a tick, numbered: whatever is missing or told twice shows. */
const counting = (lines: number): readonly string[] => ['-c', `import time
for i in range(${lines}):
    print("line", i, flush=True); time.sleep(0.1)
raise SystemExit(6)`];
const expected = (lines: number): string => Array.from({ length: lines }, (_, i) => `line ${i}\n`).join('');

/** Processes that carry a run's id, by looking at all of them. */
function processesOf(run: Run): readonly string[] {
  return spawnSync('sh', ['-c', `grep -lF "FUSELENS_RUN_ID=$1" /proc/[0-9]*/environ 2>/dev/null`, 'sh', run.id], { encoding: 'utf8' }).stdout.split('\n').filter((line) => line !== '' && !line.includes(`/${process.pid}/`));
}

for (const as of ['lab', 'lab-flrunner'] as const) {
  describe(`runs over ssh as ${as === 'lab' ? 'this user' : 'an ordinary user'}`, () => {
    let lab: SshLab;
    let hosts: Hosts;
    let user: LabUser | undefined;
    before(async function () {
      lab = await startSshLab();
      hosts = labHosts(lab);
      if (as !== 'lab') {
        if (!isRoot) {
          this.skip();
        }
        user = addUser(lab, 'flrunner', '/bin/bash');
      }
    });
    after(async () => {
      await hosts.dispose();
      user?.remove();
      await lab.dispose();
    });

    it('end with their own code, and tell what they printed', async () => {
      const { state, output } = await runToEnd(hosts, { host: as, launcher: 'command', command: 'sh', args: ['-c', 'echo out; echo err >&2; exit 255'] });
      assert.equal(output, 'out\nerr\n');
      assert.deepEqual([state.phase, state.exit, state.logBytes], ['exited', 255, 8]);
    });

    it('lose nothing and tell nothing twice when the server\'s side of the connection is killed', async () => {
      const run = await startRun(hosts, { host: as, launcher: 'command', command: 'python3', args: counting(60) });
      const following = followToEnd(run);
      for (let kills = 0; kills < 2; kills++) {
        await new Promise((resolve) => setTimeout(resolve, 2000));
        lab.killConnections();
      }
      const { state, output } = await following;
      assert.equal(output, expected(60));
      assert.equal(state.exit, 6);
    });

    it('go on when ssh here is killed, and are found again by a session that knows nothing of them', async () => {
      const run = await startRun(hosts, { host: as, launcher: 'command', command: 'python3', args: counting(50) });
      let first = '';
      const stop = new AbortController();
      await assert.rejects(run.follow({
        signal: stop.signal,
        onOutput: ({ bytes }) => {
          first += Buffer.from(bytes).toString();
          if (first.includes('line 5\n')) {
            // All of this session's ssh, as when the window is killed.
            spawnSync('sh', ['-c', `for p in $(ps -o pid=,args= | grep -F "$1" | grep '[s]sh -F' | sed 's/^ *//' | cut -d' ' -f1); do kill -s KILL $p 2>/dev/null || :; done`, 'sh', lab.folder]);
            stop.abort();
          }
        },
      }));
      const other = labHosts(lab);
      const again = await attachRun(other, as, run.id.slice(0, 22));
      const offset = Buffer.byteLength(first);
      let second = '';
      const state = await again.follow({ offsets: { [as]: offset }, onOutput: ({ bytes, offset: at }) => { assert.equal(at, offset + Buffer.byteLength(second)); second += Buffer.from(bytes).toString(); } });
      assert.equal(first + second, expected(50));
      assert.equal(state.exit, 6);
      await other.dispose();
    });

    it('start once, however often the same start is asked for', async () => {
      const id = `once-${randomBytes(4).toString('hex')}`;
      const marker = `/tmp/fl-once-${id}`;
      const settings = { host: as, launcher: 'command', command: 'sh', args: ['-c', `echo x >> ${marker}; sleep 1`] } as const;
      const runs = await Promise.all(Array.from({ length: 8 }, () => startRun(hosts, settings, { id })));
      await Promise.all(runs.map((run) => followToEnd(run)));
      await followToEnd(await startRun(hosts, settings, { id }));
      assert.equal(readFileSync(marker, 'utf8'), 'x\n');
    });

    it('are stopped with every process, those that hide in sessions of their own and ignore TERM too', async () => {
      const hide = `import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"], start_new_session=True)
print("up", flush=True); time.sleep(600)`;
      const run = await startRun(hosts, { host: as, launcher: 'command', command: 'python3', args: ['-c', hide] });
      await until(async () => (await run.state()).logBytes > 0, 'the job did not come up');
      assert.ok(processesOf(run).length >= 2 || !isRoot);
      const { left, killed, exit } = await run.stop({ graceSeconds: 3 });
      assert.deepEqual([left, exit, killed.length >= 2], [[], 137, true]);
      assert.deepEqual(processesOf(run), []);
      const state = await run.state();
      assert.deepEqual([state.phase, state.stopped], ['exited', true]);
      assert.deepEqual((await run.stop()).exit, 137, 'stopping what has ended changes nothing');
    });

    it('end by themselves when they heed TERM, with the code they choose', async () => {
      const run = await startRun(hosts, { host: as, launcher: 'command', command: 'python3', args: ['-c', 'import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: (print("bye", flush=True), sys.exit(9)))\nprint("up", flush=True)\ntime.sleep(600)'] });
      await until(async () => (await run.state()).logBytes > 0, 'the job did not come up');
      const { exit, killed } = await run.stop();
      assert.deepEqual([exit, killed], [9, []]);
      assert.equal((await followToEnd(run)).output, 'up\nbye\n');
    });

    it('are listed with their state, newest first', async () => {
      const lost = await startRun(hosts, { host: as, launcher: 'command', command: 'sleep', args: ['600'] }, { name: 'löst' });
      // As after a restart of the host: gone without a word.
      execFileSync('sh', ['-c', `for p in $(grep -lF "FUSELENS_RUN_ID=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do kill -s KILL $p 2>/dev/null || :; done`, 'sh', lost.id]);
      const runs = await listRuns(hosts, as);
      const starts = runs.map(({ record }) => Date.parse(record?.startedAt ?? ''));
      assert.ok(starts.every((at) => at > 0));
      assert.deepEqual(starts, [...starts].sort((a, b) => b - a));
      const found = runs.find(({ id }) => id === lost.id);
      assert.deepEqual([found?.state.phase, found?.record?.name], ['lost', 'löst']);
      assert.ok(found !== undefined && (await handleOf(hosts, found).state()).phase === 'lost');
      assert.ok(runs.filter(({ state }) => state.phase === 'exited').length >= 5);
    });

    it('keep their files to themselves, and give the job the user\'s own umask', async () => {
      const { run, output } = await runToEnd(hosts, { host: as, launcher: 'command', command: 'sh', args: ['-c', 'umask'] });
      assert.notEqual(output.trim(), '0077');
      const mode = await hosts.shell(as).exec(['stat', '-c', '%a', run.folder, `${run.folder}/settings.json`, `${run.folder}/log`]);
      assert.deepEqual(mode.stdout.trim().split('\n'), ['700', '600', '600']);
    });
  });
}

describe('a full disk', () => {
  it('is said when a run cannot be started, and does not lose an exit code', async function () {
    const folder = '/tmp/fl-small-disk';
    execFileSync('mkdir', ['-p', folder]);
    if (!isRoot || spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder]).status !== 0) {
      this.skip();
    }
    const lab = await startSshLab();
    const hosts = labHosts(lab, { runsFolder: `${folder}/runs` });
    try {
      const run = await startRun(hosts, { host: 'lab', launcher: 'command', command: 'sh', args: ['-c', `head -c 1000000 /dev/zero > ${folder}/full; sleep 1; exit 5`] });
      const { state } = await followToEnd(run);
      assert.equal(state.exit, 5);
      assert.ok(existsSync(`${folder}/full`));
      await assert.rejects(startRun(hosts, { host: 'lab', launcher: 'command', command: 'true' }), /error\.run-disk-full/);
    } finally {
      await hosts.dispose();
      await lab.dispose();
      spawnSync('umount', [folder]);
    }
  });
});

describe('a container', () => {
  // A process and mount namespace of its own, entered as `docker exec` does.
  it('is entered by the prefix, with its own paths, and stopped inside', async function () {
    if (!isRoot) {
      this.skip();
    }
    const lab = await startSshLab();
    const hosts = labHosts(lab);
    const inside = `${lab.folder}/inside`;
    const start = spawnSync('sh', ['-c', `mkdir -p "$1/there" "$1/mnt"; unshare --pid --mount --fork sh -c 'mount -t proc proc /proc; mount --bind "$1/there" "$1/mnt"; exec sleep 600' sh "$1" > /dev/null 2>&1 & echo $!`, 'sh', inside], { encoding: 'utf8' });
    const outer = start.stdout.trim();
    try {
      let init = '';
      await until(() => {
        init = spawnSync('ps', ['--ppid', outer, '-o', 'pid='], { encoding: 'utf8' }).stdout.trim();
        return init !== '' && readFileSync(`/proc/${init}/cmdline`, 'utf8').startsWith('sleep');
      }, 'the container did not come up');
      const exec = { prefix: ['nsenter', '-t', init, '-p', '-m', '--'], path: `${inside}/mnt` };
      const hello = await runToEnd(hosts, { host: 'lab', launcher: 'command', exec, command: 'sh', args: ['-c', 'pwd; echo "$1" > made; ls /proc | grep -c "^[0-9]"; exit 3', 'x', 'it\'s $x'] });
      assert.equal(hello.state.exit, 3, hello.output);
      assert.equal(hello.output.split('\n')[0], `${inside}/mnt`);
      assert.ok(Number(hello.output.split('\n')[1]) < 10, 'it sees the processes of its own');
      assert.equal(readFileSync(`${inside}/there/made`, 'utf8'), 'it\'s $x\n');
      const run = await startRun(hosts, { host: 'lab', launcher: 'command', exec, command: 'sh', args: ['-c', 'setsid sh -c "trap : TERM; echo up; while :; do sleep 0.2; done" & wait'] });
      await until(async () => (await run.state()).logBytes > 0, 'the job did not come up');
      const { left } = await run.stop({ graceSeconds: 3 });
      assert.deepEqual(left, []);
      assert.deepEqual(processesOf(run), []);
    } finally {
      spawnSync('sh', ['-c', `kill -s KILL $(ps --ppid "$1" -o pid=) "$1"`, 'sh', outer]);
      await hosts.dispose();
      await lab.dispose();
    }
  });
});

describe('a network that goes away', () => {
  it('in mid-run: the run goes on, and its output comes whole when the network is back', async function () {
    const ip = (...args: readonly string[]): number | null => spawnSync('ip', args).status;
    if (!isRoot || ip('netns', 'add', 'flA') !== 0) {
      this.skip();
    }
    ip('netns', 'add', 'flB');
    ip('link', 'add', 'flvA', 'netns', 'flA', 'type', 'veth', 'peer', 'name', 'flvB', 'netns', 'flB');
    for (const [space, address] of [['flA', '10.99.7.1/24'], ['flB', '10.99.7.2/24']] as const) {
      ip('-n', space, 'addr', 'add', address, 'dev', `flv${space.slice(-1)}`);
      ip('-n', space, 'link', 'set', 'lo', 'up');
      ip('-n', space, 'link', 'set', `flv${space.slice(-1)}`, 'up');
    }
    const lab = await startSshLab({ address: '10.99.7.2', serverPrefix: ['ip', 'netns', 'exec', 'flB'] });
    // An ssh that lives in the client's namespace.
    const ssh = `${lab.folder}/ssh-in-a`;
    writeFileSync(ssh, '#!/bin/sh\nexec ip netns exec flA ssh "$@"\n', { mode: 0o755 });
    lab.configure('Host lab\n ServerAliveInterval 1\n ServerAliveCountMax 3');
    const hosts = labHosts(lab, { ssh, connectTimeout: 3 });
    const events: string[] = [];
    let output = '';
    try {
      const run = await startRun(hosts, { host: 'lab', launcher: 'command', command: 'python3', args: counting(200) });
      const following = run.follow({
        onOutput: ({ bytes }) => { output += Buffer.from(bytes).toString(); },
        onConnection: ({ reconnected, failure }) => { events.push(reconnected ? 'back' : `lost ${failure?.message.split(' ')[0] ?? ''}`); },
      });
      await until(() => output.includes('line 10\n'), 'no output');
      ip('-n', 'flB', 'link', 'set', 'flvB', 'down');
      await until(() => events.some((event) => event.startsWith('lost')), 'the loss was not noticed');
      await assert.rejects(run.state({ quiet: true }), /error\.run-(timeout|unreachable|network-down|connection)/);
      ip('-n', 'flB', 'link', 'set', 'flvB', 'up');
      const state = await following;
      assert.equal(output, expected(200));
      assert.equal(state.exit, 6);
      assert.equal(events.at(-1), 'back', events.join(', '));
    } finally {
      await hosts.dispose();
      await lab.dispose();
      ip('netns', 'del', 'flA');
      ip('netns', 'del', 'flB');
    }
  });
});
