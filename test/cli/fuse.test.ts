import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { HEADER, SPELLINGS } from '../engine/fuse/spellings';
import { cli, temporaryFolder } from './runCli';

const TEXT = HEADER + SPELLINGS[0].python;

describe('fuselens fuse', () => {
  const folder = temporaryFolder();
  const file = (name: string, content: string): string => {
    const at = folder.path('source', ...name.split('/'));
    mkdirSync(path.dirname(at), { recursive: true });
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
    const copy = file('copy.py', `\ufeff${TEXT}# the end`);
    const applied = spawnSync('git', ['apply', '--unsafe-paths', '-p0', '-'], { cwd: folder.path('source'), input: out.replace(/^(---|\+\+\+) .*$/gm, (_, mark: string) => `${mark} copy.py`), encoding: 'utf8' });
    assert.equal(applied.status, 0, applied.stderr + out);
    const { code, err } = await cli(['fuse', at, '--write', '--backend', 'ascend']);
    assert.equal(code, 0);
    assert.match(err, /Fused 1 form in/);
    assert.equal(readFileSync(at, 'utf8'), readFileSync(copy, 'utf8'));
    const again = await cli(['fuse', at, '--diff', '--backend', 'ascend']);
    assert.equal(again.out, '');
  });

  it('shows a diff of as few lines as can be, that git applies to any line ends, tabs and a byte order mark, and fuses once', async () => {
    const body = HEADER + '# Grüße 🚀\ndef case(x, w):\n\t# up\n\th = x.float()\n\th = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\n\treturn w * h.to(x.dtype)   # end  \n\n\ndef after( a ,b ):  return   a+b';
    const texts: Readonly<Record<string, string>> = { 'unix.py': body, 'windows.py': body.replaceAll('\n', '\r\n'), 'mark.py': `\ufeff${body.replaceAll('\n', '\r\n')}`, 'mixed.py': body.replace('x.float()\n', 'x.float()\r\n') };
    for (const [name, content] of Object.entries(texts)) {
      const place = folder.path('diffs', name.replace('.py', ''));
      const at = path.join(place, name);
      mkdirSync(place, { recursive: true });
      writeFileSync(at, content);
      const { out } = await cli(['fuse', at, '--diff', '--backend', 'ascend']);
      const changed = out.split('\n').filter((line) => /^[-+](?![-+])/.test(line));
      assert.deepEqual([changed.filter((line) => line.startsWith('-')).length, changed.filter((line) => line.startsWith('+')).length], [3, 2], out);
      spawnSync('git', ['init', '-q', place]);
      writeFileSync(path.join(place, 'a.patch'), out.replaceAll(/^(---|\+\+\+) .*$/gm, (_, side: string) => `${side} ${side === '---' ? 'a' : 'b'}/${name}`));
      const applied = spawnSync('git', ['-C', place, '-c', 'core.autocrlf=false', 'apply', '--whitespace=nowarn', 'a.patch'], { encoding: 'utf8' });
      assert.equal(applied.status, 0, `${name}: ${applied.stderr}\n${out}`);
      const patched = readFileSync(at, 'utf8');
      writeFileSync(at, content);
      await cli(['fuse', at, '--write', '--backend', 'ascend']);
      assert.equal(readFileSync(at, 'utf8'), patched, name);
      // What is not the edit is as it was.
      const end = content.includes('\r\n# Grüße') ? '\r\n' : '\n';
      assert.equal(patched.replace(`import torch_npu${end}`, '').replace('\treturn torch_npu.npu_rms_norm(x, w, 1e-6)[0]', '*'), content.replace(/\th = x\.float[^]*h\.to\(x\.dtype\)/, '*'), name);
      await cli(['fuse', at, '--write', '--backend', 'ascend']);
      assert.equal(readFileSync(at, 'utf8'), patched, `${name} twice`);
    }
  });

  it('takes one line, one fusion', async () => {
    const at = file('several.py', HEADER + [SPELLINGS[0], SPELLINGS[12]].map(({ python }) => python).join('\n\n'));
    const only = JSON.parse((await cli(['fuse', at, '--json', '--only', 'l2-norm'])).out) as readonly { readonly fusion: string; readonly startLine: number }[];
    assert.deepEqual(only.map(({ fusion }) => fusion), ['l2-norm']);
    const line = JSON.parse((await cli(['fuse', at, '--json', '--line', String(only[0].startLine)])).out) as readonly { readonly fusion: string }[];
    assert.deepEqual(line.map(({ fusion }) => fusion), ['l2-norm']);
  });

  it('says which option left the forms out, not that there are none', async () => {
    const at = file('left.py', HEADER + [SPELLINGS[0], SPELLINGS[12]].map(({ python }) => python).join('\n\n'));
    const out = async (...args: readonly string[]): Promise<string> => (await cli(['fuse', at, ...args])).out;
    assert.equal(await out('--line', '1'), `${at} holds 2 eager forms of the catalogue, none at line 1: leave out --line to list them.\n`);
    assert.equal(await out('--only', 'gelu'), `${at} holds 2 eager forms of the catalogue, none of them gelu: leave out --only to list them.\n`);
    assert.equal(await out('--only', 'l2-norm', '--line', '1'), `${at} holds 1 eager form of the catalogue, none at line 1: leave out --line to list it.\n`);
    assert.match(await out('--line', '1', '--lang', 'zh-cn'), /2 处逐算子写法，但第 1 行没有/);
    assert.match((await cli(['fuse', file('without.py', 'import torch\n'), '--line', '1'])).out, /^No eager form of the catalogue was found in /);
  });

  it('takes only what a profile shows, on its device: the sample\'s gated norm at its lines', async function () {
    this.timeout(60_000);
    const sample = folder.path('sample');
    assert.equal((await cli(['sample', sample, '--ranks', '1'])).code, 0);
    const source = path.join(sample, 'workspace');
    type Entry = { readonly fusion: string; readonly file: string; readonly startLine: number; readonly endLine: number; readonly backend: string; readonly status: string };
    const listed = async (...args: readonly string[]): Promise<readonly Entry[]> => {
      const { code, out, err } = await cli(['fuse', source, '--list', '--json', ...args]);
      assert.equal(code, 0, err);
      return JSON.parse(out) as readonly Entry[];
    };
    const all = await listed('--backend', 'ascend');
    const shown = await listed('--profile', path.join(sample, 'baseline'));
    assert.ok(shown.every(({ backend }) => backend === 'ascend'), 'the profile\'s device is the backend');
    assert.ok(shown.some(({ fusion, file, startLine, endLine, status }) => fusion === 'gated-rms-norm' && file.endsWith('q35_npu_old.py') && startLine === 29 && endLine === 30 && status === 'fixable'));
    // The dearest chain of the sample has no edit, and its advice.
    assert.ok(shown.some(({ fusion, file, startLine, status }) => fusion === 'causal-conv1d' && file.endsWith('q35_npu_old.py') && startLine === 50 && status === 'advice'));
    // Contract 7: what the source shows, of which the profile keeps a part.
    const key = ({ fusion, file, startLine }: Entry): string => `${fusion} ${file}:${startLine}`;
    assert.ok(shown.length > 0 && shown.length <= all.length && shown.every((entry) => all.some((other) => key(other) === key(entry))));
    // The run that is tuned already no longer shows the gated norm.
    assert.equal((await listed('--profile', path.join(sample, 'optimized'))).filter(({ fusion }) => fusion === 'gated-rms-norm').length, 0);
    const { code, out } = await cli(['fuse', path.join(source, 'q35_npu_old.py'), '--profile', path.join(sample, 'baseline'), '--diff', '--only', 'gated-rms-norm']);
    assert.equal(code, 0);
    assert.match(out, /^\+.*torch_npu\.npu_rms_norm\(x, self\.weight, self\.eps\)\[0\]/m);
    assert.equal((await cli(['fuse', source, '--profile', folder.path('nowhere')])).code, 2);
    const other = file('unseen/other.py', TEXT);
    const baseline = path.join(sample, 'baseline');
    assert.equal((await cli(['fuse', other, '--profile', baseline])).out, `${baseline} does not show the 1 eager form of the catalogue that ${other} holds: leave out --profile to list it.\n`);
  });

  it('never edits an installed package: it names the switch, and writes a patch module elsewhere', async () => {
    const packages = folder.path('venv', 'lib', 'python3.11', 'site-packages');
    const write = (name: string, content: string): string => {
      const at = path.join(packages, ...name.split('/'));
      mkdirSync(path.dirname(at), { recursive: true });
      writeFileSync(at, content);
      return at;
    };
    const at = write('xtuner/v1/norm.py', `${TEXT}${SPELLINGS.find(({ fusion }) => fusion === 'swiglu')?.python ?? ''}`);
    write('xtuner-1.2.3.dist-info/METADATA', 'Name: xtuner\nVersion: 1.2.3\n');
    write('torch-2.3.1+cpu.dist-info/METADATA', 'Name: torch\nVersion: 2.3.1+cpu\n');
    const before = readFileSync(at);
    type Entry = { readonly fusion: string; readonly status: string; readonly reason: string; readonly switches: readonly unknown[]; readonly patch: boolean; readonly requirementMet: boolean | null };
    const listed = async (...args: readonly string[]): Promise<readonly Entry[]> => JSON.parse((await cli(['fuse', at, '--json', ...args])).out) as readonly Entry[];
    const [norm, swiglu] = await listed('--backend', 'ascend');
    assert.deepEqual([norm.fusion, norm.status, norm.patch, norm.switches], ['rms-norm', 'refused', true, []]);
    assert.match(norm.reason, /never edited/);
    // The flag is named only once it stands in the installed source.
    assert.deepEqual(swiglu.switches, []);
    write('xtuner/v1/ops.py', 'import os\nFUSED = os.environ.get("XTUNER_NPU_FUSED_SWIGLU")\n');
    assert.deepEqual((await listed('--backend', 'ascend'))[1].switches, [{ package: 'xtuner', version: '1.2.3', setting: 'XTUNER_NPU_FUSED_SWIGLU=1' }]);
    assert.match((await cli(['fuse', at, '--backend', 'ascend'])).out, /xtuner 1\.2\.3 has a switch of its own for this: XTUNER_NPU_FUSED_SWIGLU=1/);
    // F.rms_norm came with torch 2.4: the installed 2.3.1 does not have it.
    assert.deepEqual((await listed('--backend', 'torch'))[0].requirementMet, false);
    for (const mode of ['--diff', '--write']) {
      assert.equal((await cli(['fuse', at, mode, '--backend', 'ascend'])).out, '');
    }
    const into = folder.path('source', 'own');
    const { code, err } = await cli(['fuse', at, '--patch', into, '--backend', 'ascend']);
    assert.equal(code, 0, err);
    assert.match(err, /import fuselens_patch_norm once/);
    const patch = readFileSync(path.join(into, 'fuselens_patch_norm.py'), 'utf8');
    assert.match(patch, /import xtuner\.v1\.norm as _original/);
    assert.ok(patch.includes(createHash('sha256').update(before).digest('hex')));
    assert.ok(readFileSync(at).equals(before), 'the package is as it was');
    assert.equal((await cli(['fuse', at, '--patch', path.join(packages, 'own'), '--backend', 'ascend'])).code, 2);
    assert.equal((await cli(['fuse', file('own.py', TEXT), '--patch', into])).code, 2);
  });

  it('reads what an interpreter has without running it, and says what it does not know', async () => {
    const at = file('versions.py', TEXT);
    const environment = folder.path('env');
    mkdirSync(path.join(environment, 'lib', 'python3.12', 'site-packages', 'torch-2.6.0.dist-info'), { recursive: true });
    mkdirSync(path.join(environment, 'bin'), { recursive: true });
    writeFileSync(path.join(environment, 'bin', 'python'), '#!/bin/sh\ntouch "$0.ran"\n', { mode: 0o755 });
    const met = async (...args: readonly string[]): Promise<unknown> => (JSON.parse((await cli(['fuse', at, '--json', ...args])).out) as readonly { readonly requirementMet: boolean | null }[])[0].requirementMet;
    assert.equal(await met(), null);
    assert.equal(await met('--python', path.join(environment, 'bin', 'python')), true);
    assert.equal(await met('--python', environment), true);
    assert.equal(await met('--python', environment, '--backend', 'ascend'), null, 'torch_npu is not there');
    assert.ok(!existsSync(path.join(environment, 'bin', 'python.ran')));
    assert.match((await cli(['fuse', at])).out, /Needs torch 2\.4 or newer; which version is installed is not known/);
    assert.match((await cli(['fuse', at, '--python', folder.path('nowhere')])).err, /versions stay unknown/);
  });

  it('names the line of another file that compiles the code, and edits it all the same where asked', async () => {
    const place = folder.path('compiled');
    mkdirSync(place, { recursive: true });
    const file = path.join(place, 'norm.py');
    writeFileSync(file, 'import torch\nimport torch.nn.functional as F\n\n\ndef rms_norm(x, w):\n    h = x.float()\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\n    return w * h.to(x.dtype)\n');
    writeFileSync(path.join(place, 'train.py'), 'import torch\nfrom norm import rms_norm\n\nfast = torch.compile(rms_norm)\n');
    const before = readFileSync(file, 'utf8');
    const listed = await cli(['fuse', file]);
    assert.match(listed.out, /left as it is\n {4}train\.py:4 compiles this code, and the compiler fuses by itself\. To edit it all the same: --allow compiled/);
    const [entry] = JSON.parse((await cli(['fuse', file, '--list', '--json'])).out) as readonly { readonly reasonCode: string; readonly reasonPlace: string }[];
    assert.deepEqual([entry.reasonCode, entry.reasonPlace], ['compiled-there', 'train.py:4']);
    await cli(['fuse', file, '--write']);
    assert.equal(readFileSync(file, 'utf8'), before);
    assert.match((await cli(['fuse', file, '--diff', '--allow', 'compiled'])).out, /\+ {4}return F\.rms_norm/);
    assert.equal((await cli(['fuse', file, '--allow', 'everything'])).code, 3);
    assert.match((await cli(['verify', `${file}:7`])).err, /no fused replacement on torch: train\.py:4 compiles this code/);
  });

  it('warns where the folder also samples with a rollout engine', async () => {
    const at = file('rl/model.py', TEXT);
    assert.doesNotMatch((await cli(['fuse', at])).out, /rollout/);
    file('rl/sample.py', 'from vllm import LLM\n');
    assert.match((await cli(['fuse', at])).out, /change trainer and rollout together/);
    assert.match((await cli(['fuse', at, '--write'])).err, /change trainer and rollout together/);
  });

  it('goes on behind a file that is not UTF-8, and says so in the end', async () => {
    writeFileSync(file('encodings/first.py', ''), Buffer.from(`# caf\xe9\n${TEXT}`, 'latin1'));
    const second = file('encodings/second.py', TEXT);
    const { code, err } = await cli(['fuse', path.dirname(second), '--write', '--backend', 'ascend']);
    assert.equal(code, 2);
    assert.match(err, /^fuselens: .*first\.py is not plain UTF-8.*\nFused 1 form in .*second\.py/);
    assert.match(readFileSync(second, 'utf8'), /npu_rms_norm/);
  });

  it('lists forms of a file that is not UTF-8 as refused, with the reason, as the edit does', async () => {
    writeFileSync(file('listed/latin.py', ''), Buffer.from(`# caf\xe9\n${TEXT}`, 'latin1'));
    file('listed/plain.py', TEXT);
    const target = folder.path('source', 'listed');
    const { out } = await cli(['fuse', target, '--backend', 'ascend', '--json']);
    const plans = JSON.parse(out) as readonly { readonly file: string; readonly status: string; readonly reasonCode: string | null; readonly remedy: string | null }[];
    assert.deepEqual(plans.map((plan) => [path.basename(plan.file), plan.status, plan.reasonCode]).sort(), [['latin.py', 'refused', 'not-utf8'], ['plain.py', 'fixable', null]]);
    assert.equal(plans.find(({ status }) => status === 'refused')?.remedy, null);
    assert.match((await cli(['fuse', target, '--backend', 'ascend'])).out, /latin\.py[^\n]*left as it is\n {4}The file is not plain UTF-8/);
  });

  it('says that a folder named by --fusions holds none', async () => {
    const at = file('own/model.py', TEXT);
    const nothing = folder.path('source', 'own');
    for (const args of [['fuse', at, '--fusions', nothing], ['fuse', at, '--diff', '--fusions', nothing]]) {
      const { code, err } = await cli(args);
      assert.equal(code, 0);
      assert.match(err, /own\/\.fuselens\/fusions does not exist or holds no \.json file/);
    }
    file('own/.fuselens/fusions/bad.json', '{');
    assert.doesNotMatch((await cli(['fuse', at, '--fusions', nothing])).err, /holds no \.json file/);
  });

  it('leaves a file alone that is not UTF-8', async () => {
    const at = file('latin.py', '');
    writeFileSync(at, Buffer.concat([Buffer.from(TEXT), Buffer.from([0x23, 0xe9, 0x0a])]));
    const { code, err } = await cli(['fuse', at, '--write']);
    assert.equal(code, 2);
    assert.match(err, /left as it is/);
    const wide = file('wide.py', '');
    writeFileSync(wide, Buffer.from(TEXT, 'utf16le'));
    assert.match((await cli(['fuse', wide])).err, /wide\.py is not UTF-8 text/);
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
