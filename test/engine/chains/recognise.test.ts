import assert from 'node:assert/strict';
import fs from 'node:fs';
import fc from 'fast-check';
import type { Parser } from 'web-tree-sitter';
import { canonicalOperator, TokenNames } from '../../../src/engine/chains/kernelSequence';
import { chainPatterns, lowerForm } from '../../../src/engine/chains/patterns';
import { layerPeriods } from '../../../src/engine/chains/periods';
import { PHASES, phasesOf } from '../../../src/engine/chains/phases';
import { recognise } from '../../../src/engine/chains/recognise';
import { FUSIONS } from '../../../src/engine/fusions';
import { loweredForm, matchFusions } from '../../../src/engine/fusions/matchGraph';
import type { Backend } from '../../../src/engine/profile/columns';
import { testParser } from '../pythonParser';

describe('chain recognition', () => {
  let parser: Parser;

  before(async () => {
    parser = await testParser();
  });

  const found = (text: string, backend: Backend = 'ascend'): readonly string[] => {
    const names = new TokenNames();
    const patterns = chainPatterns(parser, FUSIONS, backend, names);
    const tokens = Uint16Array.from(text.split(' '), (op) => names.id(canonicalOperator(op)));
    return recognise(tokens, patterns, names).map(({ pattern, first, last }) => `${patterns[pattern].fusion.id} ${first}-${last}`);
  };

  const CHAINS: readonly (readonly [string, readonly string[]])[] = [
    ['matmul cast pow mean adds rsqrt mul mul cast silu mul cast matmul', ['gated-rms-norm 1-11']],
    ['add cast pow mean adds rsqrt mul cast mul matmul', ['rms-norm 1-8']],
    ['cast pow mean adds rsqrt mul mul cast matmul', ['rms-norm 0-7']],
    ['cast pow mean adds rsqrt mul cast adds mul cast', ['zero-centred-rms-norm 0-9']],
    ['cast pow mean adds rsqrt mul adds mul cast', ['zero-centred-rms-norm 0-8']],
    ['mul sum adds rsqrt mul', ['l2-norm 0-4']],
    ['matmul silu matmul mul matmul', ['swiglu 0-3']],
    ['mul neg cat mul add mul neg cat mul add', ['rope 0-4', 'rope 5-9']],
    ['cos muls cast sin muls cast', ['rope-tables 0-5']],
    ['bmm muls add cast softmax cast bmm', ['attention 0-6']],
    ['muls pow muls add muls tanh adds mul', ['gelu 0-7']],
    ['cast logSoftmax fill nllLoss', ['cross-entropy 0-3']],
    ['compare nonzero index', ['nonzero-stall 0-1']],
    // Near misses: a norm over a sum of plain values, a missing eps, a fused norm.
    ['cast mean adds rsqrt mul', []],
    ['cast pow mean rsqrt mul mul', []],
    ['fused.rmsNorm matmul fused.swiglu matmul add', []],
    // What is left of a gated norm once its norm is fused; the products of a SwiGLU may stand anywhere in front, but it has some.
    ['matmul fused.rmsNorm cast silu mul cast matmul', []],
    ['fused.rmsNorm matmul silu mul matmul', ['swiglu 1-3']],
    ['fused.rmsNorm matmul copy silu mul matmul', ['swiglu 1-4']],
  ];
  for (const [text, expected] of CHAINS) {
    it(`reads "${text}"`, () => {
      assert.deepEqual(found(text), expected);
    });
  }

  it('takes what CUDA shows for operators that share a functor', () => {
    assert.deepEqual(found('mean add pow mean adds rsqrt mul mul add', 'cuda'), ['layer-norm 0-8']);
    assert.deepEqual(found('muls muls erf adds mul', 'cuda'), ['gelu 0-4']);
  });

  it('never overlaps, and finds a chain wherever it is put', () => {
    const chain = 'cast pow mean adds rsqrt mul cast mul'.split(' ');
    const noise = fc.array(fc.constantFrom('matmul', 'attention', 'sigmoid', 'cumsum', 'topk'), { maxLength: 12 });
    fc.assert(fc.property(noise, noise, noise, (a, b, c) => {
      const text = [...a, ...chain, ...b, ...chain, ...c].join(' ').trim();
      const hits = found(text);
      assert.deepEqual(hits, [`rms-norm ${a.length}-${a.length + 7}`, `rms-norm ${a.length + 8 + b.length}-${a.length + 15 + b.length}`]);
    }), { verbose: true });
  });
});

describe('the catalogue', () => {
  it('lists every file of its folder', () => {
    const folder = 'src/engine/fusions';
    const files = fs.readdirSync(folder).filter((file) => fs.readFileSync(`${folder}/${file}`, 'utf8').includes(': Fusion = {'));
    const listed = fs.readFileSync('src/engine/fusions/index.ts', 'utf8');
    assert.deepEqual(files.filter((file) => !listed.includes(`'./${file.replace('.ts', '')}'`)), []);
    assert.equal(files.length, FUSIONS.length);
    assert.equal(new Set(FUSIONS.map((fusion) => fusion.id)).size, FUSIONS.length);
  });

  it('has forms that lower without holes and that match themselves', async () => {
    const parser = await testParser();
    for (const { meant: _, ...fusion } of FUSIONS) {
      // What is asked of the code around (`meant`) is not in the snippet.
      for (const form of [...fusion.forms, ...fusion.loops ?? []]) {
        const { graph } = lowerForm(parser, form.python);
        assert.deepEqual(graph.holes, [], `${fusion.id}: ${form.name}`);
        const lowered = loweredForm(fusion, form.name, graph);
        assert.ok(lowered !== undefined, `${fusion.id}: ${form.name} has no output`);
        assert.ok(matchFusions(graph, [lowered]).length > 0, `${fusion.id}: ${form.name} does not match itself`);
      }
    }
  });
});

describe('phases', () => {
  const phases = (text: string): string => {
    const names = new TokenNames();
    const tokens = Uint16Array.from(text.split(' '), (op) => names.id(op));
    return [...phasesOf(tokens, names)].map((phase) => PHASES[phase][0]).join('');
  };

  it('turn from forward to backward at the first backward kernel, and to the optimizer after it', () => {
    assert.equal(phases('indexSelect matmul silu matmul logSoftmax nllLoss nllLossBackward logSoftmaxBackward matmul siluBackward matmul addcdiv'), 'ffffffbbbbbo');
  });

  it('start again with the next micro-batch', () => {
    assert.equal(phases('indexSelect matmul nllLoss nllLossBackward matmul indexSelect matmul nllLoss nllLossBackward'), 'fffbbfffb');
  });

  it('are unknown where no backward kernel runs', () => {
    assert.equal(phases('matmul silu matmul'), 'uuu');
  });
});

describe('layer periods', () => {
  const heavy = (token: number): boolean => token % 6 === 5;
  /** Operators of a layer of its own: `from` is a product, every sixth after it too. */
  const layerFrom = (from: number, length: number): readonly number[] => Array.from({ length }, (_, i) => from + i);
  const repeated = (layers: readonly (readonly number[])[]): Uint16Array => Uint16Array.from([1, 2, ...layers.flat(), 3, 4]);
  const layer = layerFrom(5, 18);

  it('are as long as a repeated layer', () => {
    const periods = layerPeriods(repeated(Array.from({ length: 24 }, () => layer)), heavy);
    assert.deepEqual(periods, [{ lag: 18, start: 2, end: 2 + 24 * 18, repeats: 24 }]);
  });

  it('go on past a layer that is one kernel short, and one that has three more', () => {
    const ten = Array.from({ length: 10 }, () => layer);
    const periods = layerPeriods(repeated([...ten, [...layer.slice(0, 8), ...layer.slice(9)], ...ten, [...layer.slice(0, 4), 90, 91, 92, ...layer.slice(4)], ...ten]), heavy);
    assert.deepEqual(periods.map(({ lag, repeats }) => [lag, repeats]), [[18, 32]]);
  });

  it('are the shortest mix that repeats, where kinds of layers alternate', () => {
    const other = layerFrom(41, 25);
    const periods = layerPeriods(repeated(Array.from({ length: 6 }, () => [...layer, ...layer, ...layer, ...other])), heavy);
    assert.deepEqual(periods.map(({ lag, repeats }) => [lag, repeats]), [[79, 6]]);
  });

  it('are no loops without products, and nothing where nothing repeats', () => {
    assert.deepEqual(layerPeriods(repeated(Array.from({ length: 100 }, () => [6, 7, 8, 9, 10])), heavy), []);
    assert.deepEqual(layerPeriods(Uint16Array.from({ length: 2000 }, (_, i) => i), heavy), []);
  });
});
