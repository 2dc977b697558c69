import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { HEADER, SPELLINGS } from '../engine/fuse/spellings';
import { cli, temporaryFolder } from './runCli';

const TEXT = HEADER + SPELLINGS[0].python;

describe('fuselens fuse', () => {
  const folder = temporaryFolder();
  const file = (name: string, content: string): string => {
    mkdirSync(folder.path('source'), { recursive: true });
    const at = folder.path('source', name);
    writeFileSync(at, content);
    return at;
  };

  it('lists what the source shows as JSON', async () => {
    const at = file('listed.py', TEXT);
    const { code, out } = await cli(['fuse', at, '--list', '--json', '--backend', 'ascend']);
    assert.equal(code, 0);
    const [entry, ...more] = JSON.parse(out) as readonly Readonly<Record<string, unknown>>[];
    assert.equal(more.length, 0);
    assert.deepEqual([entry.fusion, entry.file, entry.status, entry.reason, entry.endLine], ['rms-norm', at, 'fixable', null, 17]);
  });

  it('lists in words, in two languages', async () => {
    const at = file('words.py', TEXT);
    assert.match((await cli(['fuse', at])).out, /RMSNorm: can be fused\n {4}F\.rms_norm/);
    assert.match((await cli(['fuse', at, '--lang', 'zh-cn'])).out, /可以融合/);
    assert.match((await cli(['fuse', file('empty.py', 'import torch\n')])).out, /No eager form/);
  });

  it('shows a diff that git applies, and writes the same', async function () {
    this.timeout(20_000);
    const at = file('changed.py', `\ufeff${TEXT}# the end`);
    const { out } = await cli(['fuse', at, '--diff', '--backend', 'ascend']);
    assert.equal(readFileSync(at, 'utf8'), `\ufeff${TEXT}# the end`);
    const copy = file('copy.py', `${TEXT}# the end`);
    const applied = spawnSync('git', ['apply', '--unsafe-paths', '-p0', '-'], { cwd: folder.path('source'), input: out.replace(/^(---|\+\+\+) .*$/gm, (_, mark: string) => `${mark} copy.py`), encoding: 'utf8' });
    assert.equal(applied.status, 0, applied.stderr + out);
    const { code, err } = await cli(['fuse', at, '--write', '--backend', 'ascend']);
    assert.equal(code, 0);
    assert.match(err, /Fused 1 form in/);
    assert.equal(readFileSync(at, 'utf8'), `\ufeff${readFileSync(copy, 'utf8')}`);
    const again = await cli(['fuse', at, '--diff', '--backend', 'ascend']);
    assert.equal(again.out, '');
  });

  it('takes one line, one fusion', async () => {
    const at = file('several.py', HEADER + [SPELLINGS[0], SPELLINGS[12]].map(({ python }) => python).join('\n\n'));
    const only = JSON.parse((await cli(['fuse', at, '--json', '--only', 'l2-norm'])).out) as readonly { readonly fusion: string; readonly startLine: number }[];
    assert.deepEqual(only.map(({ fusion }) => fusion), ['l2-norm']);
    const line = JSON.parse((await cli(['fuse', at, '--json', '--line', String(only[0].startLine)])).out) as readonly { readonly fusion: string }[];
    assert.deepEqual(line.map(({ fusion }) => fusion), ['l2-norm']);
  });

  it('leaves a file alone that is not UTF-8', async () => {
    const at = file('latin.py', '');
    writeFileSync(at, Buffer.concat([Buffer.from(TEXT), Buffer.from([0x23, 0xe9, 0x0a])]));
    const { code, err } = await cli(['fuse', at, '--write']);
    assert.equal(code, 2);
    assert.match(err, /left as it is/);
  });

  it('says what is wrong on the command line', async () => {
    for (const args of [[], ['a.py', '--list', '--diff'], ['a.py', 'b.py']]) {
      assert.equal((await cli(['fuse', ...args])).code, 3, args.join(' '));
    }
    const at = file('usage.py', TEXT);
    for (const args of [['--backend', 'rocm'], ['--only', 'nothing'], ['--line', 'x'], ['--list', '--write']]) {
      assert.equal((await cli(['fuse', at, ...args])).code, 3, args.join(' '));
    }
    assert.equal((await cli(['fuse', folder.path('nowhere.py')])).code, 2);
  });
});
