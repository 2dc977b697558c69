import assert from 'node:assert/strict';
import { compareDigests } from '../../../src/engine/compare/compareDigests';
import { WeightUses } from '../../../src/engine/compare/weightUses';
import type { CompareCheck, CompareOptions, CompareReport, CompareSide, RankDigest } from '../../../src/protocol/compare';
import { sideOf, type SideSpec } from './generated';

const spec = (facts: Readonly<Record<string, string>> = {}, backend?: 'cuda' | 'rocm'): SideSpec => ({
  ranks: [0, 1].map((rank) => ({ rank, steps: [0, 1].map((i) => [{ name: 'ampere_sgemm_64x64_nn', ns: 50_000 + i }, { name: 'mystery', ns: 900 }]) })), facts, ...(backend === undefined ? {} : { backend }),
});
const EQUAL: CompareOptions = { tokensBase: 4096, tokensCandidate: 4096 };

/** The side with its digests changed, for what a generated rank cannot have. */
const changed = (side: CompareSide, change: (digest: RankDigest) => Partial<RankDigest>): CompareSide => ({ ...side, runs: side.runs.map((run) => run.map((digest) => ({ ...digest, ...change(digest) }))) });

const outcomes = (report: CompareReport): Readonly<Record<string, string>> => Object.fromEntries(report.checks.map(({ id, outcome }) => [id, outcome]));
const check = (report: CompareReport, id: CompareCheck['id']): CompareCheck => report.checks.find((each) => each.id === id)!;

const withWeights = (shapes: Readonly<Record<string, readonly [number, number]>>) => (digest: RankDigest): Partial<RankDigest> => ({
  matmul: { kernels: 100, shaped: 100, weights: Object.entries(shapes).map(([shape, [kernels, otherElements]]) => ({ shape, kernels, otherElements: otherElements * digest.steps.length })), modelWeights: [] },
});

/** The digest of multiplications written as a profiler writes their inputs, a hundred times each. */
const withMultiplications = (shapes: readonly string[]) => (): Partial<RankDigest> => {
  const uses = new WeightUses();
  shapes.forEach((each) => Array.from({ length: 100 }, () => uses.add(each)));
  return { matmul: uses.finish() };
};
/** Forward, gradient and gradient of the weight of linear layers, each `[inputs, outputs]`. */
const training = (tokens: number, layers: readonly (readonly [number, number])[]): readonly string[] =>
  layers.flatMap(([inputs, outputs]) => [`${tokens},${inputs};${inputs},${outputs}`, `${tokens},${outputs};${outputs},${inputs}`, `${outputs},${tokens};${tokens},${inputs}`]);
const block = (hidden: number, inner: number): readonly (readonly [number, number])[] => [[hidden, hidden], [hidden, hidden], [hidden, hidden], [hidden, hidden], [hidden, inner], [hidden, inner], [inner, hidden]];

describe('comparability', () => {
  it('gives a verdict when nothing stands against it', () => {
    const report = compareDigests(sideOf('a', spec()), sideOf('b', spec()), EQUAL);
    assert.ok(report.checks.every(({ outcome }) => outcome === 'same' || outcome === 'unknown'), JSON.stringify(outcomes(report)));
    assert.equal(report.verdict.kind, 'same');
  });

  const blocking: readonly (readonly [CompareCheck['id'], CompareSide, CompareSide, CompareOptions?])[] = [
    ['backend', sideOf('a', spec({}, 'cuda')), sideOf('b', spec({}, 'rocm'))],
    ['chip', sideOf('a', spec({ 'device name': 'H100' })), sideOf('b', spec({ 'device name': 'A100' }))],
    ['steps', sideOf('a', spec()), changed(sideOf('b', spec()), ({ steps }) => ({ steps: steps.map((step) => ({ ...step, source: 'window' })) }))],
    ['ranks', sideOf('a', spec({ world_size: '8' })), sideOf('b', spec({ world_size: '16' }))],
    ['level', sideOf('a', spec({ level: 'Level0' })), sideOf('b', spec({ level: 'Level1' }))],
    ['level', sideOf('a', spec({ level: 'Level1', aic_metrics: 'none' })), sideOf('b', spec({ level: 'Level1', aic_metrics: 'pipe' }))],
    ['stacks', sideOf('a', spec({ with_stack: '0' })), sideOf('b', spec({ with_stack: 'true' }))],
    ['batch', sideOf('a', spec()), sideOf('b', spec()), {}],
    ['batch', sideOf('a', spec()), sideOf('b', spec()), { tokensBase: 1000 }],
    ['model', changed(sideOf('a', spec()), withWeights({ '2048,2048': [60, 1e6], '2048,6144': [60, 1e6] })), changed(sideOf('b', spec()), withWeights({ '4096,4096': [60, 1e6], '4096,12288': [60, 1e6] }))],
  ];
  for (const [id, base, candidate, options = EQUAL] of blocking) {
    it(`gives none, and says why, when ${id} stands against it`, () => {
      const report = compareDigests(base, candidate, options);
      assert.equal(check(report, id).outcome, 'blocks');
      assert.equal(report.verdict.kind, 'notComparable');
      assert.equal(report.verdict.change, null);
      assert.ok(report.verdict.reasons.some(({ code }) => code === check(report, id).code));
      assert.ok(Object.values(report.tables).flat().every(({ status }) => status !== 'faster' && status !== 'slower'), 'no row is judged either');
    });
  }

  it('names versions, environment and layout as part of the difference, and still judges', () => {
    const facts = (version: string): Readonly<Record<string, string>> => ({ torch_npu: version, ENV_VARIABLES: JSON.stringify({ HCCL_ALGO: version }), distributed_args: JSON.stringify({ rank: 1, world_size: 2, tensor_model_parallel_size: version === '1' ? 1 : 2 }) });
    const report = compareDigests(sideOf('a', spec(facts('1'))), sideOf('b', spec(facts('2'))), EQUAL);
    assert.deepEqual([outcomes(report)['versions'], outcomes(report)['environment'], outcomes(report)['parallel']], ['warns', 'warns', 'warns']);
    assert.equal(check(report, 'environment').args?.['names'], 'HCCL_ALGO');
    assert.notEqual(report.verdict.kind, 'notComparable');
  });

  describe('stacks', () => {
    const side = (coverage: NonNullable<SideSpec['coverage']>, facts: Readonly<Record<string, string>> = {}): CompareSide => sideOf('a', { ...spec(facts), coverage });
    const [frames, calls, none, noHost] = [{ hostOperators: true, pythonFrames: true }, { hostOperators: true, callStacks: true }, { hostOperators: true }, {}];
    const cases: readonly (readonly [string, CompareSide, CompareSide, CompareCheck['outcome']])[] = [
      ['frames against none', side(frames), side(none), 'blocks'],
      ['none against call stacks', side(none), side(calls), 'blocks'],
      ['frames, stated by one side only as torch.profiler does, against none', side(frames, { with_stack: '1' }), side(none), 'blocks'],
      ['frames on both sides, one of which states it', side(frames, { with_stack: '1' }), side(frames), 'same'],
      ['none on both sides', side(none), side(none), 'same'],
      ['frames against a profile without a host side', side(frames), side(noHost), 'unknown'],
      ['neither with a host side', side(noHost), side(noHost), 'unknown'],
      ['what is stated over what is there', side(none, { with_stack: 'true' }), side(none, { with_stack: '1' }), 'same'],
      ['what is stated without a host side', side(noHost, { with_stack: '0' }), side(frames), 'blocks'],
    ];
    for (const [name, base, candidate, outcome] of cases) {
      it(`${name}: ${outcome}`, () => {
        const report = compareDigests(base, candidate, EQUAL);
        assert.equal(check(report, 'stacks').outcome, outcome);
        assert.equal(report.verdict.kind === 'notComparable', outcome === 'blocks');
      });
    }
  });

  it('takes the tokens a profile states, and those said over them', () => {
    const stated = compareDigests(sideOf('a', spec({ tokens_per_step: '1000' })), sideOf('b', spec({ tokens_per_step: '4000' })));
    assert.equal(check(stated, 'batch').outcome, 'perToken');
    assert.deepEqual([stated.base.tokensPerStep, stated.base.tokensFrom], [1000, 'profile']);
    const said = compareDigests(sideOf('a', spec({ tokens_per_step: '1000' })), sideOf('b', spec({ tokens_per_step: '4000' })), { tokensBase: 4000 });
    assert.equal(check(said, 'batch').outcome, 'same');
    assert.equal(said.base.tokensFrom, 'option');
    // What is no number of tokens is not taken for one.
    assert.equal(compareDigests(sideOf('a', spec({ tokens_per_step: '-5' })), sideOf('b', spec({ tokens_per_step: 'many' }))).base.tokensPerStep, null);
  });

  it('knows the same work by its shapes, and another batch by them', () => {
    const weights = withWeights({ '2048,2048': [60, 1e6], '2048,6144': [30, 3e6], '512,2048': [10, 2e6] });
    const base = changed(sideOf('a', spec()), weights);
    assert.equal(check(compareDigests(base, changed(sideOf('b', spec()), weights)), 'batch').outcome, 'same');
    const double = changed(sideOf('b', spec()), withWeights({ '2048,2048': [60, 2e6], '2048,6144': [30, 6e6], '1024,2048': [10, 2e6] }));
    const report = compareDigests(base, double);
    assert.equal(check(report, 'batch').outcome, 'blocks');
    assert.equal(check(report, 'batch').args?.['ratio'], '2.00');
    assert.equal(check(compareDigests(base, double, { tokensBase: 100, tokensCandidate: 200 }), 'batch').outcome, 'perToken');
  });

  describe('knows a model by its weights', () => {
    const modelOf = (from: readonly string[], to: readonly string[]): CompareCheck => check(compareDigests(changed(sideOf('a', spec()), withMultiplications(from)), changed(sideOf('b', spec()), withMultiplications(to)), EQUAL), 'model');

    for (const tokens of [512, 2048, 3000, 16_384]) {
      it(`whatever the batch: 4096 tokens and ${tokens}`, () => {
        // Attention beside the layers multiplies no weight.
        const step = (each: number): readonly string[] => [...training(each, block(2048, 6144)), `16,${each},128;16,128,${each}`, `16,${each},${each};16,${each},128`];
        const { outcome, args } = modelOf(step(4096), step(tokens));
        assert.deepEqual([outcome, args], ['same', { percent: 100 }]);
      });
    }

    it('and another model by them, also where activations have the same shapes', () => {
      // 1024 → 2048 would make most operands of the one those of the other.
      const { outcome, code } = modelOf(training(4096, block(1024, 3072)), training(4096, block(2048, 6144)));
      assert.deepEqual([outcome, code], ['blocks', 'compare.check.model.weights-differ']);
      assert.equal(modelOf(training(4096, block(2048, 6144)), training(4096, block(2048, 8192))).outcome, 'blocks');
    });

    it('and takes merged projections for the same model', () => {
      const merged: readonly (readonly [number, number])[] = [[2048, 3 * 2048], [2048, 2048], [2048, 2 * 5000], [5000, 2048]];
      assert.deepEqual([modelOf(training(4096, block(2048, 5000)), training(4096, merged)), modelOf(training(4096, merged), training(8192, block(2048, 5000)))].map(({ outcome, code }) => [outcome, code]), Array(2).fill(['same', 'compare.check.model.merged']));
    });

    it('and does not say it is the same where only a part of the operands is', () => {
      // Two operands of one shape count once: four, of which the last is shared.
      // Attention alone, as `torch.bmm` has it: no operand is a weight.
      const attention = (tokens: number): readonly string[] => [`64,${tokens},128;64,128,${tokens}`, `64,${tokens},${tokens};64,${tokens},128`, '64,80,96;64,96,80'];
      assert.deepEqual([modelOf(attention(512), attention(1024))].map(({ outcome, code, args }) => [outcome, code, args]), [['blocks', 'compare.check.model.perhaps', { percent: 25 }]]);
    });
  });

  it('pairs ranks by number, in order where the numbers differ, and says what is left out', () => {
    const ranks = (...numbers: readonly number[]): SideSpec => ({ ranks: numbers.map((rank) => ({ ...spec().ranks[0], rank })) });
    const some = compareDigests(sideOf('a', ranks(0, 1, 2)), sideOf('b', ranks(1, 2, 3)), EQUAL);
    assert.deepEqual(some.ranks.map(({ rank }) => rank), [1, 2]);
    assert.deepEqual(some.notes.find(({ code }) => code === 'compare.note.ranks-left-out')?.args, { count: 2 });
    const others = compareDigests(sideOf('a', ranks(0)), sideOf('b', ranks(4)), EQUAL);
    assert.equal(others.ranks.length, 1);
    assert.equal(check(others, 'ranks').outcome, 'warns');
    assert.equal(check(compareDigests(sideOf('a', ranks(0)), sideOf('b', ranks(4, 5)), EQUAL), 'ranks').outcome, 'blocks');
  });

  it('leaves steps out that were recorded in part', () => {
    const partial: SideSpec = { ranks: [{ rank: 0, steps: [[1, 2, 3, 4], [1, 2, 3, 4], [1]].map((kernels) => kernels.map((ns) => ({ name: 'mystery', ns: ns * 1000 }))) }] };
    const report = compareDigests(sideOf('a', partial), sideOf('b', partial), EQUAL);
    assert.equal(report.base.samples, 2);
    assert.deepEqual(report.notes.find(({ code }) => code === 'compare.note.partial-steps')?.args, { count: 2 });
  });
});
