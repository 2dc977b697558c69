import assert from 'node:assert/strict';
import fc from 'fast-check';
import { align } from '../../../src/engine/attribution/align';
import { alignLine } from '../../../src/engine/attribution/alignLine';
import { automatonOf } from '../../../src/engine/attribution/automaton';
import { TokenNames } from '../../../src/engine/chains/kernelSequence';
import type { OperatorGraph, OperatorNode, Step } from '../../../src/engine/python/operatorGraph';

const PLACE = { file: 'model.py', start: 0, end: 0 };

/** What a test writes: an operator, a list, a choice, a loop. */
type Shape = string | { readonly either: readonly (readonly Shape[])[] } | { readonly loop: readonly Shape[] };

function graphOf(shapes: readonly Shape[]): OperatorGraph {
  const nodes: OperatorNode[] = [];
  const stepsOf = (list: readonly Shape[]): readonly Step[] => list.map((shape): Step => {
    if (typeof shape === 'string') {
      nodes.push({ id: nodes.length, op: shape, inputs: [], attributes: {}, place: PLACE, statement: PLACE, call: -1 });
      return { kind: 'operator', node: nodes.length - 1 };
    }
    return 'either' in shape ? { kind: 'alternatives', branches: shape.either.map(stepsOf), place: PLACE } : { kind: 'loop', steps: stepsOf(shape.loop), place: PLACE, count: undefined };
  });
  const steps = stepsOf(shapes);
  return { root: { name: 'f', place: PLACE }, nodes, calls: [], steps, outputs: [], holes: [], cut: false };
}

const OPERATORS = ['mul', 'add', 'exp', 'rsqrt', 'neg'];

/** Every sequence the shapes may launch, loops taken up to `turns` times, as node-free operator lists. */
function sequencesOf(shapes: readonly Shape[], turns: number): readonly (readonly string[])[] {
  return shapes.reduce<readonly (readonly string[])[]>((heads, shape) => {
    const tails: readonly (readonly string[])[] = typeof shape === 'string' ? [[shape]]
      : 'either' in shape ? shape.either.flatMap((branch) => sequencesOf(branch, turns))
      : Array.from({ length: turns + 1 }, (_, count) => Array.from({ length: count }, () => shape.loop).flat()).flatMap((body) => sequencesOf(body, turns));
    return heads.flatMap((head) => tails.map((tail) => [...head, ...tail]));
  }, [[]]);
}

/** Fewest insertions and deletions that turn one list into the other; each counts 1, as all these operators weigh 1. */
function editCost(a: readonly string[], b: readonly string[]): number {
  let row = b.map((_, j) => j + 1);
  row.unshift(0);
  a.forEach((left, i) => {
    const next = [i + 1];
    b.forEach((right, j) => next.push(left === right ? row[j] : Math.min(row[j + 1], next[j]) + 1));
    row = next;
  });
  return row[b.length];
}

const shape: fc.Arbitrary<Shape> = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof({ depthSize: 'small', maxDepth: 2 }, fc.constantFrom(...OPERATORS), fc.record({ either: fc.array(fc.array(tie('shape'), { maxLength: 2 }), { minLength: 2, maxLength: 2 }) }), fc.record({ loop: fc.array(tie('shape'), { minLength: 1, maxLength: 2 }) })),
})).shape;

describe('alignment with what a function may launch', () => {
  it('costs what the nearest of all its sequences costs', () => {
    fc.assert(fc.property(fc.array(shape, { minLength: 1, maxLength: 3 }), fc.array(fc.constantFrom(...OPERATORS), { minLength: 1, maxLength: 3 }), (shapes, kernels) => {
      const all = sequencesOf(shapes, 2);
      fc.pre(all.length < 120);
      const names = new TokenNames();
      const automaton = automatonOf(graphOf(shapes), names, { cuda: false });
      const tokens = Uint16Array.from(kernels, (op) => names.id(op));
      // Edges count in full here, and ending early is never cheaper than the end itself.
      const { cost } = align(tokens, automaton, { insert: new Float32Array(names.names.length).fill(1), edge: 1 });
      const best = Math.min(...all.map((sequence) => editCost(kernels, sequence)));
      assert.ok(cost <= best + 1e-6, `cost ${cost}, nearest ${best}`);
      // Ending early leaves out a tail for a fixed small price: a prefix of some sequence must then be as near.
      const prefixes = Math.min(...all.flatMap((sequence) => sequence.map((_, end) => editCost(kernels, sequence.slice(0, end)))), best);
      assert.ok(cost >= Math.min(best, prefixes) - 1e-6, `cost ${cost}, nearest prefix ${prefixes}`);
    }), { seed: 20261129, numRuns: 60 });
  });

  it('tells the branch that ran', () => {
    const names = new TokenNames();
    const automaton = automatonOf(graphOf(['exp', { either: [['mul', 'add'], ['neg']] }, 'rsqrt']), names, { cuda: false });
    const run = (...ops: string[]): readonly number[] => [...align(Uint16Array.from(ops, (op) => names.id(op)), automaton, { insert: new Float32Array(16).fill(1) }).states].map((state) => (state < 0 ? -1 : automaton.node[state]));
    assert.deepEqual(run('exp', 'mul', 'add', 'rsqrt'), [0, 1, 2, 4]);
    assert.deepEqual(run('exp', 'neg', 'rsqrt'), [0, 3, 4]);
    assert.deepEqual(run('exp', 'sqrt', 'neg', 'rsqrt'), [0, -1, 3, 4]);
  });

  it('takes what may be a number or a tensor in either form, and what runs whole or in pieces in either way', () => {
    const names = new TokenNames();
    const plain = graphOf(['exp', 'muls', 'rmsNorm', 'matmul']);
    const unclear = { ...plain, nodes: plain.nodes.map((node) => (node.op === 'muls' ? { ...node, attributes: { eitherForm: true } } : node)) };
    const missingOf = (graph: OperatorGraph, ...ops: string[]): readonly number[] => {
      const { unexplained, missing } = align(Uint16Array.from(ops, (op) => names.id(op)), automatonOf(graph, names, { cuda: false }), { insert: new Float32Array(32).fill(1), edge: 1 });
      return [unexplained, missing];
    };
    const pieces = ['cast', 'pow', 'mean', 'adds', 'rsqrt', 'mul', 'cast'];
    assert.deepEqual(missingOf(unclear, 'exp', 'mul', 'fused.rmsNorm', 'matmul'), [0, 0]);
    assert.deepEqual(missingOf(unclear, 'exp', 'muls', ...pieces, 'mul', 'matmul'), [0, 0]);
    assert.deepEqual(missingOf(plain, 'exp', 'muls', ...pieces, 'matmul'), [0, 0]);
    assert.deepEqual(missingOf(plain, 'exp', 'mul', 'fused.rmsNorm', 'matmul'), [1, 1]);
    // `1 / x` is a product with 1 besides, on some backends; a bias over a transposed operand a sum.
    const inverse = graphOf(['exp', 'reciprocal', 'view', 'matmul']);
    const spelled = { ...inverse, nodes: inverse.nodes.map((node) => ({ ...node, ...(node.op === 'reciprocal' ? { attributes: { scalar: 1, scalarLeft: true } } : node.op === 'view' ? { attributes: { name: 'transpose' } } : node.op === 'matmul' ? { inputs: [2] } : {}) })) };
    assert.deepEqual(missingOf(spelled, 'exp', 'reciprocal', 'muls', 'matmul', 'add'), [0, 0]);
    assert.deepEqual(missingOf(spelled, 'exp', 'reciprocal', 'copy', 'matmul'), [0, 0]);
    assert.deepEqual(missingOf(inverse, 'exp', 'reciprocal', 'muls', 'matmul'), [1, 0]);
  });

  it('counts the turns of the outermost loop', () => {
    const names = new TokenNames();
    const automaton = automatonOf(graphOf(['exp', { loop: ['mul', { loop: ['add'] }] }, 'rsqrt']), names, { cuda: false });
    const tokens = Uint16Array.from(['exp', 'mul', 'add', 'add', 'mul', 'add', 'rsqrt'], (op) => names.id(op));
    const { turns, cost } = align(tokens, automaton, { insert: new Float32Array(16).fill(1) });
    assert.ok(cost < 1e-6);
    assert.equal(new Set([turns[1], turns[2], turns[3]]).size, 1);
    assert.equal(turns[4], turns[1] + 1);
    assert.equal(turns[5], turns[4]);
  });

  it('aligns with a line as the full table would, within its band', () => {
    const sequence = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 30 });
    fc.assert(fc.property(sequence, sequence, (kernels, entries) => {
      const line = { tokens: Uint16Array.from(entries), skip: new Float32Array(entries.length).fill(1) };
      const answer = alignLine(Uint16Array.from(kernels), line, new Float32Array(8).fill(1));
      let last = -1;
      let matched = 0;
      answer.forEach((entry, i) => {
        if (entry >= 0) {
          assert.equal(entries[entry], kernels[i]);
          assert.ok(entry > last);
          last = entry;
          matched++;
        }
      });
      // Leaving out the end of the line is free, so the best prefix decides.
      const text = (list: readonly number[]): string[] => list.map(String);
      const best = Math.min(...entries.map((_, end) => editCost(text(kernels), text(entries.slice(0, end + 1)))), kernels.length);
      const skipped = last + 1 - matched;
      assert.equal(kernels.length - matched + skipped, best);
    }), { seed: 20261130, numRuns: 500 });
  });

  it('follows a long line in a narrow band', () => {
    const entries = Array.from({ length: 4000 }, (_, i) => 1 + (i * 7919) % 5);
    const kernels = entries.filter((_, i) => i % 37 !== 0);
    const answer = alignLine(Uint16Array.from(kernels), { tokens: Uint16Array.from(entries), skip: new Float32Array(entries.length).fill(0.5) }, new Float32Array(8).fill(1), 200);
    assert.ok(answer.filter((entry) => entry < 0).length < kernels.length / 50);
  });
});
