import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
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
