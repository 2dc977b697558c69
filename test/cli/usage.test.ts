import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { version } from '../../package.json';
import { buildWorker } from '../node/buildWorker';
import { hasSharedData, sharedPath } from '../sharedData';
import { cli, temporaryFolder, withoutProgress } from './runCli';

const repository = path.resolve(import.meta.dirname, '../..');

function oneSentence(text: string): void {
  assert.match(text, /^fuselens: .+[.!]\n$/s);
  assert.equal(text.trimEnd().split('\n').length, 1, text);
}

describe('the command line', () => {
  const folder = temporaryFolder();
  const trace = sharedPath('hostile', 's11-overlap-same-stream', 'trace.json');

  it('explains itself', async () => {
    for (const args of [['--help'], ['help'], ['analyze', '--help'], ['export', '-h'], ['sample', '--help'], ['help', 'analyze']]) {
      const { code, out, err } = await cli(args.includes('analyze') || args.includes('export') ? args.slice() : args);
      assert.equal(code, 0, args.join(' '));
      assert.match(out, /fuselens/);
      assert.equal(err, '');
    }
    assert.match((await cli(['analyze', '--help', '--lang', 'zh-cn'])).out, /退出码/);
    assert.equal((await cli(['--version'])).out, `${version}\n`);
  });

  it('exits with 3 and one sentence on every wrong usage', async () => {
    const cases = [['nonsense'], ['analyze'], ['analyze', 'a', 'b'], ['analyze', 'a', '--nope'], ['analyze', 'a', '--json', '--md'], ['analyze', 'a', '--lang', 'fr'], ['analyze', 'a', '--fail-on', 'sometimes'],
      ['analyze', 'a', '--prefer', 'xml'], ['analyze', 'a', '--map', 'nothing'], ['analyze', 'a', '--map', '=b'], ['export', 'a'], ['export'], ['sample'], ['sample', 'x', '--ranks', '17'], ['sample', 'x', '--ranks', 'all'], ['__proto__'], ['constructor', 'a'], ['analyze', ''], ['sample', ''],
      ['analyze', 'a', '--rank', ''], ['analyze', 'a', '--html', ''], ['export', 'a', '--perfetto=']];
    for (const args of cases) {
      const { code, out, err } = await cli(args);
      assert.equal(code, 3, args.join(' '));
      assert.equal(out, '');
      const [sentence, hint, ...more] = err.trimEnd().split('\n');
      oneSentence(`${sentence}\n`);
      assert.match(hint, /^Try: fuselens.* --help$/);
      assert.deepEqual(more, []);
    }
    assert.equal((await cli([])).code, 3);
  });

  it('exits with 2 and one sentence on what it cannot read', async () => {
    writeFileSync(folder.path('notes.txt'), 'no profile\n');
    assert.match((await cli(['sample', folder.path('notes.txt')])).err, /notes\.txt could not be written: a file stands where a folder has to be/);
    if (existsSync('/proc/self')) {
      const nowhere = await cli(['sample', '/proc/sample']);
      assert.deepEqual([nowhere.code, nowhere.out], [2, '']);
      oneSentence(nowhere.err);
      assert.match(nowhere.err, /\/proc\/sample could not be written: the folder it lies in is not there, or takes nothing new/);
    }
    for (const file of [folder.path('missing'), folder.path('notes.txt')]) {
      const { code, out, err } = await cli(['analyze', file, '--json']);
      assert.equal(code, 2, file);
      assert.equal(out, '');
      oneSentence(err);
      assert.ok(err.includes(path.basename(file)), err);
    }
  });

  describe('with shared data', function () {
    if (!hasSharedData()) {
      it.skip('need ../shared/data');
      return;
    }

    it('names the ranks and steps there are when an unknown one is asked for', async () => {
      const rank = await cli(['analyze', trace, '--rank', '77']);
      assert.equal(rank.code, 3);
      assert.match(rank.err, /“77”/);
      const step = await cli(['analyze', trace, '--step', '77']);
      assert.equal(step.code, 3);
      assert.match(step.err, /“77”/);
    });

    it('exits with 1 when a problem reaches --fail-on', async () => {
      const cut = sharedPath('hostile', 's04-truncated', 'trace.json');
      assert.equal((await cli(['analyze', cut, '--fail-on', 'info'])).code, 1);
      assert.equal((await cli(['analyze', cut])).code, 0);
    });

    it('stops when it is interrupted', async () => {
      const stop = new AbortController();
      stop.abort();
      assert.equal((await cli(['analyze', trace], { signal: stop.signal })).code, 130);
    });

    it('says in one sentence that a file cannot be written', async () => {
      for (const option of ['--html', '--sarif', '--kernels']) {
        const { code, err } = await cli(['analyze', trace, option, folder.path('no', 'such', 'folder')]);
        assert.equal(code, 2, option);
        oneSentence(err);
      }
    });

    it('does not go on without the source it was told to use', async () => {
      const { code, err } = await cli(['analyze', trace, '--source', folder.path('no-source')]);
      assert.equal(code, 2);
      oneSentence(err);
      assert.match(err, /no-source/);
    });

    it('never writes over what it reads', async () => {
      const copy = folder.path('copy.json');
      const text = readFileSync(trace, 'utf8');
      writeFileSync(copy, text);
      symlinkSync('copy.json', folder.path('link.json'));
      for (const [command, option, target] of [['analyze', '--html', copy], ['analyze', '--sarif', copy], ['analyze', '--kernels', folder.path('link.json')], ['export', '--perfetto', copy]] as const) {
        const { code, err } = await cli([command, copy, option, target]);
        assert.equal(code, 2, option);
        oneSentence(err);
        assert.equal(readFileSync(copy, 'utf8'), text, option);
      }
    });

    it('says what a rank lacks that was found but cannot be read', async () => {
      const { code, err } = await cli(['analyze', sharedPath('hostile', 'a05-ascend-half-copied'), '--rank', '2']);
      assert.equal(code, 2);
      oneSentence(err);
      assert.match(err, /Rank 2 .* is incomplete/);
    });

    it('shows profiles of two formats that lie in one folder', async () => {
      mkdirSync(folder.path('both'));
      cpSync(sharedPath('hostile', 'a02-ascend-csv-level0-columns'), folder.path('both', 'npu'), { recursive: true });
      cpSync(trace, folder.path('both', 'gpu.pt.trace.json'));
      const { out } = await cli(['analyze', folder.path('both'), '--json']);
      const { profile, ranks } = JSON.parse(out) as { readonly profile: { readonly format: string }; readonly ranks: readonly { readonly kernels: { readonly count: number } }[] };
      assert.equal(profile.format, 'mixed');
      assert.deepEqual(ranks.map(({ kernels }) => kernels.count), [3, 10]);
    });

    it('takes a rank of several folders by the name the table gives it, and lists names that tell them apart', async () => {
      const alexnet = sharedPath('ascend', 'msinsight-alexnet');
      for (const name of ['text/level1 · rank 1', 'text/level1/rank1_ascend_pt']) {
        const { code, out } = await cli(['analyze', alexnet, '--rank', name, '--json']);
        assert.equal(code, 0);
        assert.deepEqual((JSON.parse(out) as { readonly ranks: readonly { readonly label: string }[] }).ranks.map(({ label }) => label), ['text/level1/rank1_ascend_pt']);
      }
      const { err } = await cli(['analyze', alexnet, '--rank', '9']);
      assert.match(err, /there are db\/level0\/rank0_ascend_pt, db\/level0\/rank1_ascend_pt, .*text\/level2\/rank1_ascend_pt\./);
    });

    it('works as a process: result on stdout, silence on stderr, exit code; a closed pipe is no failure', async () => {
      const script = await buildWorker(path.join(repository, 'src/cli/main.ts'));
      const run = (args: readonly string[], input?: 'close'): ReturnType<typeof spawnSync> => spawnSync(
        input === undefined ? process.execPath : '/bin/sh',
        input === undefined ? [script, ...args] : ['-c', `'${process.execPath}' '${script}' ${args.map((argument) => `'${argument}'`).join(' ')} | head -c 1 > /dev/null`],
        { cwd: repository, encoding: 'utf8', env: { ...process.env, XDG_CACHE_HOME: folder.path('cache') } },
      );
      const good = run(['analyze', trace, '--json']);
      assert.equal(withoutProgress(String(good.stderr)), '');
      assert.equal(good.status, 0);
      assert.equal((JSON.parse(String(good.stdout)) as { readonly schema: string }).schema, 'fuselens/1');
      assert.equal(run(['analyze', folder.path('missing')]).status, 2);
      assert.equal(run(['--nope']).status, 3);
      assert.equal(withoutProgress(String(run(['analyze', trace, '--md'], 'close').stderr)), '');
      if (existsSync('/dev/full')) {
        for (const command of ['--help', `analyze '${trace}'`]) {
          const full = spawnSync('/bin/sh', ['-c', `"$0" "$1" ${command} > /dev/full`, process.execPath, script], { cwd: repository, encoding: 'utf8' });
          assert.equal(full.status, 2);
          assert.match(withoutProgress(full.stderr), /^fuselens: stdout could not be written \(ENOSPC\)\.\n$/);
        }
      }
    });
  });
});
