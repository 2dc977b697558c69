import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { HelperRan, VerifyReport } from '../../src/protocol/verify';
import { HEADER, SPELLINGS } from '../engine/fuse/spellings';
import { cli, temporaryFolder } from './runCli';

const TEXT = HEADER + SPELLINGS[0].python;
const LINE = TEXT.slice(0, TEXT.indexOf('torch.rsqrt')).split('\n').length;

/** What a helper answers that found the two alike but for rounding. */
const RAN: HelperRan = {
  name: '0', status: 'ran', whole: true, inputsFrom: 'roles', references: [], inputs: [{ name: 'hidden_states', shape: [2, 24, 128] }], skipped: [],
  results: [{ dtype: 'bfloat16', layout: 'contiguous', variant: 'fused', error: null, tensors: [{ name: 'output', missing: false, before: 'bfloat16', after: 'bfloat16', sameShape: true, finite: true, maxAbs: 0.01, maxRel: 0.004, normRel: 0.002 }] }],
};

describe('fuselens verify', () => {
  const folder = temporaryFolder();
  const source = (name: string, content = TEXT): string => {
    mkdirSync(folder.path('source'), { recursive: true });
    const file = folder.path('source', name);
    writeFileSync(file, content);
    return file;
  };
  /** An interpreter that answers what it is told; what it was asked lies beside it. */
  const python = (name: string, answer: unknown): string => {
    mkdirSync(folder.path('bin'), { recursive: true });
    const file = folder.path('bin', name);
    writeFileSync(`${file}.json`, JSON.stringify(answer));
    writeFileSync(file, `#!/bin/sh\ncp "$5" '${file}.asked'\ncat '${file}.json'\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const answer = (ran: unknown): unknown => ({ python: '3.12.0', torch: '2.13.0', device: 'cpu', cases: [ran] });

  it('asks with both texts, roles and where the file is imported from, and changes nothing', async function () {
    this.timeout(20_000);
    const at = source('model.py');
    const before = statSync(at).mtimeMs;
    const interpreter = python('alike', answer(RAN));
    const { code, out } = await cli(['verify', `${at}:${LINE}`, '--backend', 'ascend', '--python', interpreter, '--json']);
    const report = JSON.parse(out) as VerifyReport;
    assert.deepEqual([code, report.verdict, report.schema, report.fusion, report.function, report.promise, report.host], [0, 'verified', 'fuselens-verify/1', 'rms-norm', 'Case.forward', 'rounding', null]);
    const asked = JSON.parse(readFileSync(`${interpreter}.asked`, 'utf8')) as { readonly cases: readonly Readonly<Record<string, unknown>>[] };
    const [one] = asked.cases;
    assert.deepEqual([one.original, one.module, one.roots, one.shapes], [TEXT, 'model', [path.dirname(at)], null]);
    assert.match(String(one.fused), /torch_npu\.npu_rms_norm/);
    assert.deepEqual([readFileSync(at, 'utf8'), statSync(at).mtimeMs, readdirSync(path.dirname(at))], [TEXT, before, ['model.py']]);
  });

  it('tells in words, in two languages, and by its exit code', async function () {
    this.timeout(20_000);
    const at = source('words.py');
    const alike = python('words', answer(RAN));
    const { out } = await cli(['verify', `${at}:${LINE}`, '--python', alike]);
    assert.match(out, /words\.py:\d+ {2}RMSNorm \(torch\): verified\n/);
    assert.match(out, /bfloat16 +contiguous +0\.01 \/ 0\.004 +– +within/);
    assert.match((await cli(['verify', `${at}:${LINE}`, '--python', alike, '--lang', 'zh-cn'])).out, /已验证/);
    const [result] = RAN.results;
    const apart = python('apart', answer({ ...RAN, results: [{ ...result, tensors: [{ ...result.tensors[0], normRel: 0.5 }] }] }));
    const differs = await cli(['verify', `${at}:${LINE}`, '--python', apart]);
    assert.equal(differs.code, 1);
    assert.match(differs.out, /differs[^]*OUTSIDE/);
    const failed = await cli(['verify', `${at}:${LINE}`, '--python', python('bare', answer({ name: '0', status: 'failed', code: 'no-torch', args: { python: '/usr/bin/python3' } }))]);
    assert.equal(failed.code, 2);
    assert.match(failed.out, /has no PyTorch: install it there/);
    assert.match((await cli(['verify', `${at}:${LINE}`, '--python', folder.path('nowhere')])).out, /There is no Python at/);
  });

  it('compares an applied fuse with the text before', async function () {
    this.timeout(20_000);
    const at = source('applied.py');
    const original = source('original.py');
    await cli(['fuse', at, '--write', '--backend', 'ascend']);
    const fused = readFileSync(at, 'utf8');
    const line = fused.slice(0, fused.indexOf('npu_rms_norm(')).split('\n').length;
    const interpreter = python('applied', answer(RAN));
    const bare = await cli(['verify', `${at}:${line}`, '--backend', 'ascend', '--python', interpreter]);
    assert.equal(bare.code, 2);
    assert.match(bare.err, /name the text before: --original FILE/);
    const { code } = await cli(['verify', `${at}:${line}`, '--backend', 'ascend', '--original', original, '--python', interpreter]);
    assert.equal(code, 0);
    const asked = JSON.parse(readFileSync(`${interpreter}.asked`, 'utf8')) as { readonly cases: readonly { readonly original: string; readonly fused: string }[] };
    assert.deepEqual([asked.cases[0].original, asked.cases[0].fused], [TEXT, fused]);
  });

  it('takes unsaved text and shapes from an editor', async function () {
    this.timeout(20_000);
    const at = source('unsaved.py', 'import torch\n');
    const state = source('state.json', JSON.stringify({ texts: { [at]: TEXT, [folder.path('source', 'other.py')]: 'x = 1\n' }, profile: { shapes: { x: [64, 128] }, dtype: 'bfloat16' } }));
    const interpreter = python('unsaved', answer(RAN));
    assert.equal((await cli(['verify', `${at}:${LINE}`, '--editor', state, '--python', interpreter])).code, 0);
    const asked = JSON.parse(readFileSync(`${interpreter}.asked`, 'utf8')) as { readonly cases: readonly Readonly<Record<string, unknown>>[] };
    assert.deepEqual([asked.cases[0].original, asked.cases[0].shapes, asked.cases[0].dtype], [TEXT, { x: [64, 128] }, 'bfloat16']);
    assert.deepEqual(asked.cases[0].overlay, { other: { file: folder.path('source', 'other.py'), text: 'x = 1\n' } });
  });

  it('says what is wrong on the command line, and why a line cannot be verified', async function () {
    this.timeout(20_000);
    const at = source('usage.py');
    for (const args of [[], [at], [`${at}:0`], [`${at}:3`, `${at}:4`], [`${at}:${LINE}`, '--timeout', '0'], [`${at}:${LINE}`, '--backend', 'rocm']]) {
      assert.equal((await cli(['verify', ...args])).code, 3, args.join(' '));
    }
    assert.equal((await cli(['verify', `${folder.path('gone.py')}:3`])).code, 2);
    assert.match((await cli(['verify', `${at}:1`])).err, /No eager form of the catalogue is at line 1/);
    const two = source('two.py', `${TEXT}\n\n${HEADER}def both(x, y):\n    # two of them\n    a = x * torch.rsqrt((x * x).sum(dim=-1, keepdim=True) + 1e-6)\n    b = y * torch.rsqrt((y * y).sum(dim=-1, keepdim=True) + 1e-6)\n    return a + b\n`);
    const both = readFileSync(two, 'utf8').split('\n').indexOf('def both(x, y):') + 1;
    for (const line of [both, both + 1, both + 4]) {
      assert.match((await cli(['verify', `${two}:${line}`])).err, new RegExp(`is at line ${line} of .*two\\.py, but its function has some at lines ${both + 2}, ${both + 3}: name one of them`));
    }
    const compiled = source('compiled.py', TEXT.replace('    def forward', '    @torch.compile\n    def forward'));
    assert.match((await cli(['verify', `${compiled}:${LINE + 1}`])).err, /no fused replacement on torch: The code is compiled/);
  });
});
