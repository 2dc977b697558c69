/**
 * Carries an answer over all passes of a rank: forwards are aligned with the automaton, each backward with the reversed
 * tape of the forward path before it, recompute with that forward itself.
 */
import { canonicalOperator, type KernelSequence, type TokenNames } from '../chains/kernelSequence';
import type { OperatorGraph } from '../python/operatorGraph';
import { align, MAX_CELLS, type Alignment } from './align';
import { alignLine, type Line } from './alignLine';
import { operatorWeight, type Automaton } from './automaton';
import { backwardTokens } from './backwardTokens';
import { tokenWeights, type Ranked } from './rankCandidates';
import type { Pass } from './regions';

export interface Spread {
  /** Device event → graph node, -1 where nothing explains it. */
  readonly nodeOf: Int32Array;
  /** 1 where the kernel is a forward (or recomputed) one, 2 where it is the backward of the node. */
  readonly side: Uint8Array;
}

export function spread(events: number, main: KernelSequence, passes: readonly Pass[], best: Ranked, names: TokenNames): Spread {
  const nodeOf = new Int32Array(events).fill(-1);
  const side = new Uint8Array(events);
  const { automaton } = best;
  let path: readonly PathStep[] = [];
  const mark = (pass: Pass, i: number, node: number, which: number): void => {
    const event = main.order[main.positions[pass.start + i]];
    nodeOf[event] = node;
    side[event] = which;
  };
  for (const pass of passes) {
    const tokens = main.tokens.subarray(pass.start, pass.end);
    const weights = tokenWeights(names);
    if (pass.phase === 'forward' || pass.phase === 'unknown') {
      const pieces = piecesOf(tokens, automaton);
      path = pieces.flatMap(([start, end]) => {
        const alignment = align(tokens.subarray(start, end), automaton, weights);
        alignment.states.forEach((state, i) => state > 0 && mark(pass, start + i, automaton.node[state], 1));
        return pathOf(alignment, automaton, tokens.subarray(start, end), names);
      });
    } else if (pass.phase === 'backward' && path.length > 0) {
      const tape = reversedTape(path, best.candidate.graph, tokens, names);
      alignLine(tokens, tape.line, tokenWeights(names).insert).forEach((entry, i) => entry >= 0 && mark(pass, i, tape.nodes[entry], tape.backward[entry] === 1 ? 2 : 1));
      inheritGlue(main, pass, names, nodeOf, side);
    }
  }
  inheritHelpers(main, nodeOf, side);
  return { nodeOf, side };
}

/** A pass that is too long for one table is cut; the cut costs a few kernels their source. */
function piecesOf(tokens: Uint16Array, automaton: Automaton): readonly (readonly [number, number])[] {
  const longest = Math.max(1, Math.floor(MAX_CELLS / 4 / automaton.size) - 1);
  const pieces: [number, number][] = [];
  for (let start = 0; start < tokens.length; start += longest) {
    pieces.push([start, Math.min(tokens.length, start + longest)]);
  }
  return pieces;
}

/** Casts, copies, sums and fills of a backward pass that nothing explains take the source of the kernel before them. */
function inheritGlue(main: KernelSequence, pass: Pass, names: TokenNames, nodeOf: Int32Array, side: Uint8Array): void {
  for (let i = pass.start + 1; i < pass.end; i++) {
    const event = main.order[main.positions[i]];
    if (nodeOf[event] < 0 && GLUE.has(names.names[main.tokens[i]])) {
      const before = main.order[main.positions[i - 1]];
      nodeOf[event] = nodeOf[before];
      side[event] = side[before];
    }
  }
}

const GLUE: ReadonlySet<string> = new Set(['cast', 'copy', 'fill', 'sum', 'add']);

/** Helper kernels take the source of the operator they were launched for: the next one in the stream. */
function inheritHelpers(main: KernelSequence, nodeOf: Int32Array, side: Uint8Array): void {
  let next = main.positions.length - 1;
  for (let i = main.order.length - 1; i >= 0 && next >= 0; i--) {
    while (next > 0 && main.positions[next - 1] >= i) {
      next--;
    }
    if (main.positions[next] > i) {
      nodeOf[main.order[i]] = nodeOf[main.order[main.positions[next]]];
      side[main.order[i]] = side[main.order[main.positions[next]]];
    }
  }
}

interface PathStep {
  readonly op: string;
  readonly node: number;
  /** Turn of the outermost loop: the layer. */
  readonly turn: number;
}

function pathOf(alignment: Alignment, automaton: Automaton, tokens: Uint16Array, names: TokenNames): readonly PathStep[] {
  const path: PathStep[] = [];
  alignment.states.forEach((state, i) => {
    if (state > 0) {
      path.push({ op: names.names[tokens[i]], node: automaton.node[state], turn: alignment.turns[i] });
    }
  });
  return path;
}

/** A kernel that may or may not come costs little to leave out. */
const MAYBE = 0.05;

interface Tape {
  readonly line: Line;
  readonly nodes: Int32Array;
  /** 1 for backward entries, 0 for recomputed ones. */
  readonly backward: Uint8Array;
}

/**
 * For each step of the path, last first, what its backward launches. Where the pass holds forward kernels (attention,
 * activations) the layers were checkpointed, and each layer's forward may come before its backward.
 */
function reversedTape(path: readonly PathStep[], graph: OperatorGraph, tokens: Uint16Array, names: TokenNames): Tape {
  const forwardOnly = new Set(['attention', 'silu', 'gelu', 'softmax', 'fused.rmsNorm', 'fused.swiglu', 'rsqrt', 'tanh', 'conv', 'layerNorm'].map((name) => names.has(name)));
  const seen = tokens.reduce((count, token) => count + (forwardOnly.has(token) ? 1 : 0), 0);
  const recomputes = seen > path.filter((step) => forwardOnly.has(names.has(step.op))).length / 4;
  const entries: { token: number; node: number; skip: number; backward: number }[] = [];
  const users = graph.nodes.map(() => 0);
  graph.nodes.forEach((node) => node.inputs.forEach((input) => { users[input]++; }));
  for (let end = path.length; end > 0;) {
    let start = end;
    while (start > 0 && path[start - 1].turn === path[end - 1].turn) {
      start--;
    }
    if (recomputes) {
      for (let i = start; i < end; i++) {
        entries.push({ token: names.id(path[i].op), node: path[i].node, skip: MAYBE, backward: 0 });
      }
    }
    for (let i = end - 1; i >= start; i--) {
      const { op, node } = path[i];
      for (const token of backwardTokens(op)) {
        entries.push({ token: names.id(canonicalOperator(token.op)), node, skip: token.optional ? MAYBE : operatorWeight(token.op), backward: 1 });
      }
      if (node >= 0 && users[node] > 1) {
        // Gradients of a value used twice are added up.
        entries.push({ token: names.id('add'), node, skip: MAYBE, backward: 1 });
      }
    }
    end = start;
  }
  return { line: { tokens: Uint16Array.from(entries, (entry) => entry.token), skip: Float32Array.from(entries, (entry) => entry.skip) }, nodes: Int32Array.from(entries, (entry) => entry.node), backward: Uint8Array.from(entries, (entry) => entry.backward) };
}
