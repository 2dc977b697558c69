import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AnalyzeReport } from '../../src/protocol/report';
import { holdContract } from './contract';
import { cli, temporaryFolder } from './runCli';

describe('fuselens sample', () => {
  const folder = temporaryFolder();
  let target: string;

  before(async () => {
    target = folder.path('sample');
    const { code, err } = await cli(['sample', target, '--ranks', '2']);
    assert.equal(code, 0);
    assert.match(err, /Wrote the sample/);
  });

  it('writes two runs and their source, and refuses a folder that holds something', async () => {
    assert.deepEqual(readdirSync(target).filter((name) => !/\.md$/i.test(name)).sort(), ['baseline', 'optimized', 'workspace']);
    const again = await cli(['sample', target]);
    assert.equal(again.code, 2);
    assert.match(again.err, /not empty/);
  });

  it('recognises a fusion of one\'s own where its folder is named, and says what is wrong with a file of it', async () => {
    const own = folder.path('own', '.fuselens', 'fusions');
    mkdirSync(own, { recursive: true });
    writeFileSync(path.join(own, 'gate.json'), JSON.stringify({ id: 'sigmoid-gate', title: 'Sigmoid output gate', forms: [{ name: 'plain', python: ['def eager(x, gate):', '    return x * torch.sigmoid(gate)'] }] }));
    writeFileSync(path.join(own, 'broken.json'), '{');
    const gates = async (...more: readonly string[]): Promise<{ readonly lines: readonly string[]; readonly err: string }> => {
      const { out, err } = await cli(['analyze', folder.path('sample', 'baseline'), '--json', '--rank', '0', '--source', folder.path('sample', 'workspace'), ...more]);
      return { lines: (JSON.parse(out) as AnalyzeReport).fingerprints.flatMap(({ fusion, perStep, source }) => (fusion === 'sigmoid-gate' ? source.map(({ file, startLine }) => `${perStep} ${path.basename(file)}:${startLine}`) : [])), err };
    };
    const line = readFileSync(folder.path('sample', 'workspace', 'q35_npu_old.py'), 'utf8').split('\n').findIndex((text) => text.includes('torch.sigmoid(gate')) + 1;
    const named = await gates('--fusions', folder.path('own'));
    assert.deepEqual([...new Set(named.lines)], [`12 q35_npu_old.py:${line}`]);
    assert.match(named.err, /broken\.json is not JSON: it adds no fusion\./);
    assert.deepEqual(await gates(), { lines: [], err: '' });
    assert.equal((await cli(['analyze', folder.path('sample', 'baseline'), '--fusions', folder.path('nowhere')])).code, 2);
  });

  it('shows the article\'s figures of the baseline, and the gated norm at its lines', async () => {
    const { code, out } = await cli(['analyze', folder.path('sample', 'baseline'), '--json', '--rank', '0', '--source', folder.path('sample', 'workspace')]);
    assert.equal(code, 0);
    const report = JSON.parse(out) as AnalyzeReport;
    holdContract(report);
    const [{ kernels, lanes, families }] = report.ranks;
    const near = (actual: number | null, expected: number, share = 0.01): void => assert.ok(actual !== null && Math.abs(actual - expected) <= expected * share, `${actual} instead of ${expected}`);
    assert.equal(kernels.count, 19_252);
    near(kernels.p50Us, 22.8);
    near(kernels.p90Us, 290);
    near(kernels.shareLe50us, 0.624);
    near(kernels.shareLe100us, 0.756);
    near(kernels.spanUs, 3_083_000);
    near(kernels.maxUs, 302_200);
    near(kernels.meanIntervalUs, 160);
    near(lanes.exposedCommunicationUs, 535_000);
    near(lanes.freeUs, 123_000);
    const count = (family: string): number | null => families.find((each) => each.family === family)?.count ?? null;
    near(count('elementwise'), 5554);
    near(count('glue'), 7684);
    near(count('norm'), 1577);
    near(count('matmul'), 19_252 * 0.064);
    const gated = report.fingerprints.find(({ fusion, phase }) => fusion === 'gated-rms-norm' && phase === 'forward');
    assert.equal(gated?.kernels.length, 11);
    near(gated?.meanUs ?? null, 556);
    assert.deepEqual(gated?.source.map(({ file, startLine, endLine }) => [file.split(/[\\/]/).at(-1), startLine, endLine]), [['q35_npu_old.py', 29, 30]]);
  });

  it('shows the optimized run with half the kernels', async () => {
    const report = JSON.parse((await cli(['analyze', folder.path('sample', 'optimized'), '--json', '--rank', '0'])).out) as AnalyzeReport;
    assert.equal(report.ranks[0].kernels.count, 9608);
  });
});
