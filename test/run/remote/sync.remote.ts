import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import * as path from 'node:path';
import { RunFailure } from '../../../src/run/failure';
import { fetchFiles } from '../../../src/run/fetch';
import { analyseOnHost, findNode, installCli } from '../../../src/run/hostAnalysis';
import { planPush, push } from '../../../src/run/push';
import { canRsync } from '../../../src/run/rsync';
import type { Shell } from '../../../src/run/shell';
import type { RunTools } from '../../../src/run/tools';
import { labHosts } from '../lab/session';
import { startSshLab, type SshLab } from '../lab/sshLab';

const root = path.resolve(import.meta.dirname, '../../..');
const cli = path.join(root, 'dist/cli.js');

function write(file: string, content: string | Buffer): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** What `diff -r` says of two folders. */
function difference(a: string, b: string): string {
  return spawnSync('diff', ['-r', a, b], { encoding: 'utf8' }).stdout;
}

for (const way of ['rsync', 'stream'] as const) {
  describe(`files over ssh, by ${way}`, () => {
    let lab: SshLab;
    let shell: Shell;
    let folder: string;
    let tools: RunTools;
    let dispose: () => Promise<void>;
    before(async () => {
      lab = await startSshLab();
      tools = { sshArguments: lab.sshArguments, cli, ...(way === 'stream' ? { rsync: '/no/such/rsync' } : {}) };
      const hosts = labHosts(lab, tools);
      shell = hosts.shell('lab');
      dispose = () => hosts.dispose();
      folder = mkdtempSync('/tmp/fl-sync-');
      assert.equal(await canRsync(shell, tools), way === 'rsync');
    });
    after(async () => {
      await dispose();
      await lab.dispose();
      rmSync(folder, { recursive: true, force: true });
    });

    it('pushes what the rules allow, only what changed, and deletes nothing', async () => {
      const from = `${folder}/here's $x "y"`;
      const to = `${folder}/there's $x "y"`;
      write(`${from}/train.py`, 'print(1)\n');
      write(`${from}/模型/层 a.py`, 'x = 1\n');
      write(`${from}/-n`, 'dash\n');
      write(`${from}/.gitignore`, '*.log\n/data/\n!keep.log\n');
      write(`${from}/a.log`, 'no');
      write(`${from}/keep.log`, 'yes');
      write(`${from}/data/x`, 'no');
      write(`${from}/.git/config`, 'no');
      write(`${from}/sub/.gitignore`, '!a.log\nsecret\n');
      write(`${from}/sub/a.log`, 'yes');
      write(`${from}/sub/secret`, 'no');
      write(`${from}/extra.tmp`, 'no');
      write(`${to}/theirs.txt`, 'stays');
      const options = { shell, tools, from, to, ignore: ['*.tmp'] };
      const wanted = ['-n', '.gitignore', 'keep.log', 'sub/.gitignore', 'sub/a.log', 'train.py', '模型/层 a.py'];
      const plan = await planPush(options);
      assert.deepEqual(plan.files.map((file) => file.path).sort(), wanted);
      assert.deepEqual(existsSync(`${to}/train.py`), false, 'a plan sends nothing');
      let last = 0;
      await push({ ...options, onProgress: ({ bytes, totalBytes }) => { last = bytes / totalBytes; } }, plan);
      assert.equal(last, 1);
      for (const file of wanted) {
        assert.equal(readFileSync(`${to}/${file}`, 'utf8'), readFileSync(`${from}/${file}`, 'utf8'), file);
      }
      assert.equal(readFileSync(`${to}/theirs.txt`, 'utf8'), 'stays');
      assert.ok(!existsSync(`${to}/data`) && !existsSync(`${to}/a.log`) && !existsSync(`${to}/.git`) && !existsSync(`${to}/sub/secret`));
      assert.deepEqual((await planPush(options)).files, []);
      write(`${from}/train.py`, 'print(22)\n');
      write(`${to}/keep.log`, 'edited there');
      utimesSync(`${to}/keep.log`, Date.now() / 1000 + 100, Date.now() / 1000 + 100);
      assert.deepEqual((await planPush(options)).files.map(({ path: name, why, newerThere }) => [name, why, newerThere === true]).sort(), [['keep.log', 'changed', true], ['train.py', 'changed', false]]);
    });

    it('fetches what analysis needs, leaves the large rest, and keeps what is here', async () => {
      const from = `${folder}/out puts/rank 0_ascend_pt/ASCEND_PROFILER_OUTPUT`;
      const base = path.dirname(path.dirname(from));
      write(`${from}/kernel_details.csv`, `Name,Type\n${'Mul,Mul\n'.repeat(20_000)}`);
      write(`${from}/trace_view.json`, Buffer.from(`[${'{},'.repeat(100_000)}{}]`));
      write(`${from}/step_trace_time.csv`, 'a,b\n');
      write(`${base}/rank 0_ascend_pt/PROF_1/device_0/data/x.slice`, randomBytes(1000));
      write(`${base}/rank 0_ascend_pt/profiler_info_0.json`, '{}');
      write(`${base}/model.safetensors`, randomBytes(1000));
      write(`${base}/cuda/w.pt.trace.json.gz`, randomBytes(5000));
      const to = `${folder}/fetched ${way}`;
      const first = await fetchFiles({ shell, tools, from: base, to, what: 'analysis' });
      assert.deepEqual(first.files.map((file) => file.path).sort(), ['cuda/w.pt.trace.json.gz', 'rank 0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv', 'rank 0_ascend_pt/ASCEND_PROFILER_OUTPUT/step_trace_time.csv', 'rank 0_ascend_pt/profiler_info_0.json']);
      assert.deepEqual(first.leftThere.map((file) => file.path).sort(), ['rank 0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json', 'rank 0_ascend_pt/PROF_1/device_0/data/x.slice']);
      assert.equal(first.method, way);
      assert.ok(first.receivedBytes > 5000 && first.receivedBytes < 100_000, `compressed: ${first.receivedBytes}`);
      const again = await fetchFiles({ shell, tools, from: base, to, what: 'analysis' });
      assert.deepEqual([again.files.length, again.kept], [0, 4]);
      await fetchFiles({ shell, tools, from: base, to, what: 'trace' });
      assert.equal(difference(base, to), `Only in ${base}: model.safetensors\n`);
    });

    it('goes on where it was cut off', async () => {
      const from = `${folder}/big`;
      const to = `${folder}/big here ${way}`;
      write(`${from}/a.pt.trace.json`, randomBytes(60_000_000));
      write(`${from}/b.pt.trace.json`, randomBytes(60_000_000));
      // Megabytes that have come, whole or in parts; a part may be given its name just then, which `du` calls a failure.
      const come = (): number => Number(spawnSync('du', ['-s', '-B1000000', to], { encoding: 'utf8' }).stdout.split('\t')[0]);
      for (const enough of [5, 66]) {
        const cutting = setInterval(() => {
          if (come() >= enough) {
            lab.killConnections();
          }
        }, 10);
        try {
          await assert.rejects(fetchFiles({ shell, tools, from, to, what: 'trace' }), /error\.run-/);
        } finally {
          clearInterval(cutting);
        }
        for (const name of ['a', 'b']) {
          const file = `${to}/${name}.pt.trace.json`;
          assert.ok(!existsSync(file) || statSync(file).size === 60_000_000, 'only a whole file has its name');
        }
      }
      const { receivedBytes } = await fetchFiles({ shell, tools, from, to, what: 'trace' });
      assert.ok(receivedBytes < 115_000_000, `only the rest came: ${receivedBytes}`);
      assert.equal(difference(from, to), '');
    });

    it('pushes no socket, pipe or device and nothing from outside the folder, names them, and sends what a link inside leads to', async () => {
      const from = `${folder}/odd`;
      const to = `${folder}/odd there`;
      write(`${from}/sub/real.py`, 'real\n');
      write(`${folder}/secret`, 'secret\n');
      symlinkSync('sub/real.py', `${from}/link.py`);
      symlinkSync(`${folder}/secret`, `${from}/stolen.py`);
      symlinkSync('../secret', `${from}/stolen too.py`);
      symlinkSync('/etc', `${from}/etc`);
      symlinkSync('sub', `${from}/sub again`);
      symlinkSync('nothing', `${from}/dangling.py`);
      symlinkSync('loop', `${from}/loop`);
      execFileSync('mkfifo', [`${from}/pipe`, `${from}/.gitignore`]);
      execFileSync('python3', ['-c', 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])', `${from}/socket`]);
      symlinkSync('/dev/zero', `${from}/zero`);
      if (process.getuid?.() === 0) {
        execFileSync('mknod', [`${from}/device`, 'c', '1', '5']);
      }
      const plan = await push({ shell, tools, from, to });
      assert.deepEqual(plan.files.map((file) => file.path).sort(), ['link.py', 'sub/real.py']);
      assert.deepEqual(Object.fromEntries(plan.notFiles.map(({ path: name, why }) => [name, why])), {
        ...(process.getuid?.() === 0 ? { device: 'special' } : {}), '.gitignore': 'special', pipe: 'special', socket: 'special', zero: 'link-outside',
        'stolen.py': 'link-outside', 'stolen too.py': 'link-outside', etc: 'link-outside', 'sub again': 'link-to-folder', 'dangling.py': 'link-to-nothing', loop: 'link-to-nothing',
      });
      assert.deepEqual(readdirSync(to, { recursive: true, encoding: 'utf8' }).sort(), ['link.py', 'sub', 'sub/real.py']);
      assert.ok(lstatSync(`${to}/link.py`).isFile() && readFileSync(`${to}/link.py`, 'utf8') === 'real\n');
      assert.deepEqual((await planPush({ shell, tools, from, to })).files, [], 'and it is known as sent');
    });

    it('fetches neither onto a folder nor below a file nor where nothing may be written, and says so', async () => {
      const from = `${folder}/results`;
      write(`${from}/step-5/a.json`, '{}');
      write(`${from}/step-5/b.json`, '{"b": 1}');
      execFileSync('mkfifo', [`${from}/step-5/pipe.json`]);
      symlinkSync('/etc/passwd', `${from}/step-5/link.json`);
      const code = async (to: string): Promise<string> => fetchFiles({ shell, tools, from, to, what: 'trace' }).then(() => 'fetched', (error: unknown) => (error instanceof RunFailure ? error.explanation.code : String(error)));
      const there = (name: string): string => `${folder}/${way} ${name}`;
      write(there('file'), 'mine');
      assert.equal(await code(there('file')), 'error.write-in-the-way');
      assert.equal(readFileSync(there('file'), 'utf8'), 'mine');
      mkdirSync(there('folder/step-5/a.json'), { recursive: true });
      write(there('folder/step-5/a.json/mine'), 'mine');
      assert.equal(await code(there('folder')), 'error.run-fetch-onto-folder');
      assert.deepEqual(readdirSync(there('folder/step-5')), ['a.json'], 'nothing was begun');
      write(there('below/step-5'), 'mine');
      assert.equal(await code(there('below')), 'error.write-in-the-way');
      assert.equal(readFileSync(there('below/step-5'), 'utf8'), 'mine');
      if (existsSync('/proc/self')) {
        assert.equal(await code('/proc/fetched'), 'error.write-nowhere');
      }
      // A link here is replaced by the file, not written through.
      write(there('mine.json'), 'mine');
      mkdirSync(there('links/step-5'), { recursive: true });
      symlinkSync(there('mine.json'), there('links/step-5/a.json'));
      assert.equal(await code(there('links')), 'fetched');
      assert.equal(readFileSync(there('mine.json'), 'utf8'), 'mine');
      assert.deepEqual(readdirSync(there('links/step-5')).sort(), ['a.json', 'b.json'], 'no pipe and no link of the host');
      assert.equal(difference(`${from}/step-5/b.json`, there('links/step-5/b.json')), '');
    });

    it('fetches into no folder that may not be written, as an ordinary user', async function () {
      if (process.getuid?.() !== 0) {
        this.skip();
      }
      const from = `${folder}/plain`;
      write(`${from}/step-5/a.json`, '{}');
      const place = `${folder}/of another ${way}`;
      mkdirSync(place, { mode: 0o755 });
      mkdirSync(`${place}/inner`);
      chmodSync(folder, 0o755);
      // Root may write everywhere: the fetch runs as nobody, whose ssh needs a key of its own.
      const key = `${folder}/key of nobody ${way}`;
      execFileSync('cp', [`${lab.folder}/id`, key]);
      execFileSync('chown', ['65534:65534', key]);
      const known = `${folder}/known ${way}`;
      execFileSync('cp', [`${lab.folder}/known`, known]);
      const told = spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, cli, 'fetch', '--host', 'lab', '--from', from, '--to', place, '--what', 'trace'], {
        encoding: 'utf8', cwd: '/tmp', env: { PATH: process.env.PATH, HOME: '/tmp', FUSELENS_SSH_ARGUMENTS: [...lab.sshArguments, '-o', `IdentityFile="${key}"`, '-o', `UserKnownHostsFile="${known}"`].join('\n'), ...(tools.rsync === undefined ? {} : { FUSELENS_RSYNC: tools.rsync }) },
      });
      assert.match(told.stderr, /^fuselens: .*of another .* could not be written: you may not write there \(EACCES\)\. Name another place/, told.stderr);
      assert.equal(told.status, 2);
      assert.deepEqual(readdirSync(place), ['inner']);
    });

    it('says what is missing', async () => {
      await assert.rejects(fetchFiles({ shell, tools, from: `${folder}/nothing`, to: `${folder}/x`, what: 'trace' }), /error\.run-fetch-folder/);
      mkdirSync(`${folder}/empty`);
      await assert.rejects(fetchFiles({ shell, tools, from: `${folder}/empty`, to: `${folder}/x`, what: 'trace' }), /error\.run-nothing-to-fetch/);
      await assert.rejects(push({ shell, tools, from: `${folder}/nothing`, to: `${folder}/y` }), /error\.run-push-folder/);
    });
  });
}

describe('analysis where the profile lies', () => {
  let lab: SshLab;
  let folder: string;
  before(async function () {
    if (!existsSync(cli)) {
      this.skip();
    }
    lab = await startSshLab();
    folder = mkdtempSync('/tmp/fl-there-');
    execFileSync(process.execPath, [cli, 'sample', `${folder}/sample`]);
  });
  after(async () => {
    await lab?.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  it('sends our command line once, brings the columns, and they open to the same figures', async () => {
    const hosts = labHosts(lab, { cli });
    const shell = hosts.shell('lab');
    const options = { shell, tools: hosts.tools };
    const node = await findNode(options);
    assert.ok(node !== undefined);
    const there = await installCli(options, node);
    const before = execFileSync('stat', ['-c', '%i', there], { encoding: 'utf8' });
    assert.equal(await installCli(options, node), there);
    assert.equal(execFileSync('stat', ['-c', '%i', there], { encoding: 'utf8' }), before, 'it was not sent again');
    writeFileSync(there, 'damaged');
    await installCli(options, node);
    assert.notEqual(readFileSync(there, 'utf8'), 'damaged', 'a damaged one is sent again');

    const result = await analyseOnHost({ ...options, profile: `${folder}/sample`, to: `${folder}/columns` });
    assert.equal(result.kind, 'columns');
    interface Report { readonly ranks: unknown; readonly fingerprints: unknown; readonly problems: readonly { readonly kind: string }[] }
    const report = (profile: string): Report => JSON.parse(execFileSync(process.execPath, [cli, 'analyze', profile, '--json', '--no-cache'], { encoding: 'utf8', maxBuffer: 1 << 28 })) as Report;
    const [here, fromThere] = [report(`${folder}/sample`), report(`${folder}/columns`)];
    assert.deepEqual(fromThere.ranks, here.ranks);
    assert.deepEqual(fromThere.fingerprints, here.fingerprints);
    assert.deepEqual(fromThere.problems.filter(({ kind }) => kind !== 'columns-only'), here.problems);
    assert.ok(fromThere.problems.some(({ kind }) => kind === 'columns-only'));
    await hosts.dispose();
  });

  it('without a Node there fetches the files, and says why', async () => {
    const hosts = labHosts(lab, { cli });
    const outer = hosts.shell('lab');
    // A host whose only Node is too old.
    write(`${folder}/bin/node`, '#!/bin/sh\necho 18\n');
    execFileSync('chmod', ['+x', `${folder}/bin/node`]);
    const script = (inner: string): string => `PATH=${folder}/bin:/usr/sbin:/bin; HOME=${folder}\nnode_free() { :; }\n${inner}`;
    const shell: Shell = { ...outer, host: 'lab', run: (text, more) => outer.run(script(text.replace('/usr/local/bin/node', '/no/node').replace('"$(command -v nodejs 2>/dev/null)"', '')), more), exec: (argv, more) => outer.exec(argv, more), dispose: () => outer.dispose() };
    const result = await analyseOnHost({ shell, tools: hosts.tools, profile: `${folder}/sample`, to: `${folder}/files` });
    assert.ok(result.kind === 'files' && result.reason.code === 'error.run-no-node');
    assert.ok(result.fetched.files.length > 0);
    await hosts.dispose();
  });
});
