import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Papa from 'papaparse';
import { displayWidth } from '../../src/cli/output/displayWidth';
import type { CompareReport } from '../../src/protocol/compare';
import { hasSharedData, sharedPath } from '../sharedData';
import { cli, temporaryFolder } from './runCli';

interface WrittenReport extends CompareReport {
  readonly checks: readonly (CompareReport['checks'][number] & { readonly message: string })[];
  readonly verdict: CompareReport['verdict'] & { readonly message: string };
}

describe('fuselens compare', () => {
  const folder = temporaryFolder();
  let baseline: string;
  let optimized: string;
  let report: WrittenReport;

  before(async () => {
    assert.equal((await cli(['sample', folder.path('sample'), '--ranks', '4'])).code, 0);
    [baseline, optimized] = [folder.path('sample', 'baseline'), folder.path('sample', 'optimized')];
    const { code, out, err } = await cli(['compare', baseline, optimized, '--json', '--source', folder.path('sample', 'workspace')]);
    assert.deepEqual([code, err], [0, '']);
    report = JSON.parse(out) as WrittenReport;
  });

  /** Kernel tables of a run, every rank, read by papaparse. */
  function tables(run: string): readonly (readonly Readonly<Record<string, string>>[])[] {
    return readdirSync(run, { recursive: true }).map(String).filter((name) => name.endsWith('kernel_details.csv')).sort()
      .map((name) => Papa.parse<Readonly<Record<string, string>>>(readFileSync(path.join(run, name), 'utf8'), { header: true, skipEmptyLines: true }).data);
  }
  const median = (values: readonly number[]): number => {
    const sorted = [...values].sort((a, b) => a - b);
    return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
  };
  const near = (actual: number | undefined, expected: number, what: string): void => assert.ok(actual !== undefined && Math.abs(actual - expected) <= 1e-6 * Math.max(1, Math.abs(expected)), `${what}: ${actual} instead of ${expected}`);

  it('fits a narrow terminal with whole names, none of them internal', async () => {
    for (const columns of [80, 100, 140]) {
      for (const language of ['en', 'zh-cn']) {
        const { out } = await cli(['compare', baseline, optimized, '--lang', language], { columns });
        const tables = out.split('\n').filter((line) => line.startsWith('  '));
        assert.deepEqual(tables.filter((line) => displayWidth(line) > columns), []);
        assert.doesNotMatch(out, /\b(adds|muls|divs|rsubs)\b|fused\.|comm\.|[a-z]Backward\b/);
        for (const name of ['aclnnInplaceCopy_TensorMoveAiCore_TensorMove', 'chunk_gated_delta_rule_fwd_kernel_h_blockdim64']) {
          assert.ok(columns > 100 || out.includes(name), `${columns} ${name}`);
        }
      }
    }
    const { out } = await cli(['compare', baseline, optimized], { columns: 100 });
    const [, phases] = /\nPhases[^\n]*\n(.*?)\n\n/s.exec(out) ?? [];
    assert.match(phases ?? '', /^ {2}recompute /m);
  });

  it('has for the sample what its kernel tables say: every kernel, one rank and all, per token', () => {
    const sides = [tables(baseline), tables(optimized)].map((ranks) => ranks.map((rows) => {
      const sums = new Map<string, { count: number; us: number }>();
      for (const row of rows) {
        const name = row['Name'].startsWith('hcom_') ? row['Type'] : row['Name'];
        const sum = sums.get(name) ?? { count: 0, us: 0 };
        sums.set(name, sum);
        sum.count++;
        sum.us += Number(row['Duration(us)']);
      }
      return sums;
    }));
    const names = new Set(sides.flat().flatMap((sums) => [...sums.keys()]));
    assert.deepEqual(new Set(report.tables.kernels.map(({ key }) => key)), names);
    for (const row of report.tables.kernels) {
      const [base, candidate] = sides.map((ranks) => ranks.map((sums) => sums.get(row.key) ?? { count: 0, us: 0 }));
      near(row.base?.count ?? 0, median(base.map(({ count }) => count)), `${row.key} count`);
      near(row.base?.totalUs ?? 0, median(base.map(({ us }) => us)), `${row.key} base`);
      near(row.candidate?.totalUs ?? 0, median(candidate.map(({ us }) => us)), `${row.key} candidate`);
      near(row.base?.allTotalUs ?? 0, base.reduce((sum, { us }) => sum + us, 0), `${row.key} all ranks`);
      near(row.differenceUs ?? NaN, (median(candidate.map(({ us }) => us)) / 524_288 - median(base.map(({ us }) => us)) / 131_072) * 1000, `${row.key} per token`);
    }
  });

  it('judges the sample per token, since its runs differ in tokens, and says so', () => {
    assert.deepEqual([report.base.tokensPerStep, report.candidate.tokensPerStep, report.base.tokensFrom], [131_072, 524_288, 'profile']);
    assert.equal(report.per, 'token');
    assert.equal(report.verdict.kind, 'faster');
    assert.match(report.checks.find(({ id }) => id === 'batch')?.message ?? '', /per token, never on the time of a step/);
    // The step itself takes no less time.
    assert.ok((report.verdict.candidateStepUs?.median ?? 0) > 0.9 * (report.verdict.baseStepUs?.median ?? Infinity));
    // Article, section 4.2: 43.0K before; 178.9K after, over 16 ranks.
    const rate = report.figures.find(({ id }) => id === 'tokensPerSecondPerRank');
    assert.ok(Math.abs((rate?.base?.median ?? 0) * 16 - 43_000) < 43_000 * 0.06, String(rate?.base?.median));
    assert.ok(Math.abs((rate?.candidate?.median ?? 0) * 16 - 178_900) < 178_900 * 0.06, String(rate?.candidate?.median));
  });

  it('finds the article\'s fusions gone, fused kernels new, and windows of both for them', () => {
    const gone = new Set(report.tables.chains.filter(({ status }) => status === 'gone').map(({ fusion }) => fusion));
    for (const fusion of ['zero-centred-rms-norm', 'gated-rms-norm', 'swiglu', 'cross-entropy', 'causal-conv1d']) {
      assert.ok(gone.has(fusion), fusion);
      const pair = report.windows.find((window) => window.fusion === fusion && window.phase === 'forward');
      assert.ok(pair !== undefined && pair.base.chains.length > 0 && pair.candidate.operators.length > 0, `${fusion} has a pair of windows`);
    }
    assert.ok(report.tables.chains.some(({ type, status }) => type === 'fused.swigluGrad' && status === 'new'));
    // 61 zero-centred norms a micro-batch, two of them (section 3.1.1).
    assert.equal(report.tables.chains.find(({ fusion, phase }) => fusion === 'zero-centred-rms-norm' && phase === 'forward')?.base?.count, 122);
    const norm = report.tables.lines.find(({ file, line }) => file?.endsWith('q35_npu_old.py') === true && (line === 29 || line === 30));
    assert.ok((norm?.base?.totalUs ?? 0) > 0, 'the gated norm has its lines');
    // The optimized run does not fit the source, so it is not said that the line is gone.
    assert.deepEqual([norm?.candidate, norm?.differenceUs, norm?.status], [null, null, 'unjudged']);
  });

  it('is the same in words, in English and Chinese', async () => {
    const english = await cli(['compare', baseline, optimized], { columns: 120 });
    assert.match(english.out, /The candidate is faster: 1,000 tokens take/);
    assert.match(english.out, /Are they comparable\?/);
    assert.match(english.out, /one rank, one step \(median of 4 samples\)/);
    assert.match(english.out, /all 4 ranks/);
    const chinese = await cli(['compare', baseline, optimized, '--md', '--lang', 'zh-cn']);
    assert.match(chinese.out, /^# baseline → optimized/);
    assert.match(chinese.out, /候选更快/);
    assert.doesNotMatch(chinese.out + english.out, /\{\w+\}|compare\.[a-z]/);
  });

  it('exits by --fail-over: under, over, and not decided', async () => {
    const under = await cli(['compare', baseline, optimized, '--fail-over', '5']);
    assert.deepEqual([under.code, under.err], [0, '']);
    const over = await cli(['compare', optimized, baseline, '--fail-over', '5']);
    assert.equal(over.code, 1);
    assert.match(over.err, /Slower by \+29\d\.\d %, more than the 5 %/);
    assert.equal((await cli(['compare', optimized, baseline, '--fail-over', '400'])).code, 0);
    const single = await cli(['compare', optimized, baseline, '--fail-over', '5', '--rank', '0']);
    assert.equal(single.code, 4);
    assert.match(single.err, /could not be decided.*spread/);
    // Without --fail-over there is nothing to decide.
    assert.equal((await cli(['compare', optimized, baseline, '--rank', '0'])).code, 0);
  });

  it('finds nothing between a run and itself, on the whole and in every row', async () => {
    const { code, out } = await cli(['compare', baseline, baseline, '--json', '--fail-over', '0']);
    assert.equal(code, 0);
    const same = JSON.parse(out) as WrittenReport;
    assert.equal(same.verdict.kind, 'same');
    assert.ok(Object.values(same.tables).flat().every(({ status, differenceUs }) => status === 'same' && differenceUs === 0));
  });

  it('takes several runs of a side', async () => {
    const { code, out } = await cli(['compare', '--base', baseline, '--base', baseline, '--candidate', optimized, '--candidate', optimized, '--json']);
    assert.equal(code, 0);
    const runs = JSON.parse(out) as WrittenReport;
    assert.deepEqual([runs.base.runs, runs.base.samples, runs.candidate.samples], [2, 8, 8]);
    const both = (rows: CompareReport['tables']['kernels']): ReadonlyMap<string, number | undefined> => new Map(rows.map(({ key, base }) => [key, base?.allTotalUs]));
    // The sum over all ranks is that of one run.
    const [twice, once] = [both(runs.tables.kernels), both(report.tables.kernels)];
    twice.forEach((value, key) => near(value ?? 0, once.get(key) ?? 0, key));
  });

  it('takes the tokens that are said over those the profile states', async () => {
    const { out } = await cli(['compare', baseline, optimized, '--json', '--tokens', '1000', '--ranks-per-card', '2']);
    const said = JSON.parse(out) as WrittenReport;
    assert.deepEqual([said.per, said.base.tokensFrom], ['step', 'option']);
    const rate = (id: string): number => said.figures.find((figure) => figure.id === id)?.base?.median ?? NaN;
    near(rate('tokensPerSecondPerCard'), 2 * rate('tokensPerSecondPerRank'), 'per card');
  });

  it('leaves a damaged rank out and says so; a side of nothing fails in one sentence', async () => {
    const damaged = folder.path('damaged');
    cpSync(baseline, damaged, { recursive: true });
    const table = readdirSync(damaged, { recursive: true }).map(String).filter((name) => name.endsWith('kernel_details.csv')).sort()[0];
    writeFileSync(path.join(damaged, table), 'nothing,of,use\n');
    const { code, out } = await cli(['compare', damaged, optimized, '--json']);
    assert.equal(code, 0);
    assert.equal((JSON.parse(out) as WrittenReport).ranks.length, 3);
    const none = await cli(['compare', baseline, folder.path('sample', 'workspace')]);
    assert.equal(none.code, 2);
    assert.equal(none.err.trim().split('\n').length, 1);
  });

  const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /Name two profiles/], [['a'], /Name two profiles/], [['a', 'b', 'c'], /Name two profiles/], [['--base', 'a'], /Name two profiles/], [['a', 'b', '--fail-over', 'much'], /percent/], [['a', 'b', '--fail-over', '-1'], /value|percent/],
    [['a', 'b', '--tokens', '0'], /above zero/], [['a', 'b', '--tokens-base', '1e9'], /above zero/], [['a', 'b', '--json', '--md'], /one of/], [['a', 'b', '--wrong'], /no option/], [['a', 'b', '--prefer', 'x'], /text or db/],
  ];
  for (const [args, sentence] of mistakes) {
    it(`answers “compare ${args.join(' ')}” with usage`, async () => {
      const { code, out, err } = await cli(['compare', ...args]);
      assert.equal(code, 3);
      assert.equal(out, '');
      assert.match(err, sentence);
    });
  }

  it('shows its help', async () => {
    const { code, out } = await cli(['compare', '--help']);
    assert.equal(code, 0);
    assert.match(out, /--fail-over PCT/);
    assert.match(out, /4 --fail-over could not be decided/);
  });

  describe('with hostile inputs', () => {
    if (!hasSharedData()) {
      it.skip('needs ../shared/data');
      return;
    }
    const root = sharedPath('hostile');
    const inputs = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
    for (const input of inputs) {
      it(`${input}: compares with itself without a difference, or says in one sentence what it is`, async () => {
        const { code, out, err } = await cli(['compare', path.join(root, input), path.join(root, input), '--json']);
        assert.ok(code === 0 || code === 2, `exit ${code}`);
        if (code === 2) {
          assert.equal(err.trim().split('\n').length, 1, err);
          return;
        }
        const own = JSON.parse(out) as WrittenReport;
        assert.ok(own.verdict.kind !== 'faster' && own.verdict.kind !== 'slower');
        assert.ok(Object.values(own.tables).flat().every(({ differenceUs, status }) => differenceUs === 0 && status !== 'gone' && status !== 'new' && status !== 'faster' && status !== 'slower'));
        assert.doesNotMatch(out, /NaN|Infinity/);
      });
    }
    it('two that have nothing in common', async () => {
      const good = path.join(root, 's01-windows-backslashes', 'trace.pt.trace.json');
      assert.ok(existsSync(good));
      const { code, out } = await cli(['compare', good, path.join(root, 'a01-ascend-csv-tabs-na-bom-crlf'), '--json']);
      assert.equal(code, 0);
      assert.equal((JSON.parse(out) as WrittenReport).verdict.kind, 'notComparable');
    });
  });
});
