/**
 * Carries an answer over all passes of a rank: forwards are aligned with the automaton, each backward with the reversed
 * tape of the forward path before it, recompute with that forward itself.
 */
import { canonicalOperator, type KernelSequence, type TokenNames } from '../chains/kernelSequence';
import { align, MAX_CELLS, type Alignment } from './align';
import { alignLine } from './alignLine';
import type { Automaton } from './automaton';
import { seenOn, type BackendLook } from './candidates';
import { tokenWeights, type Ranked } from './rankCandidates';
import type { Pass } from './regions';
import { reversedTape, type PathStep } from './reversedTape';

export interface Spread {
  /** Device event → graph node, -1 where nothing explains it. */
  readonly nodeOf: Int32Array;
  /** 1 where the kernel is a forward (or recomputed) one, 2 where it is the backward of the node. */
  readonly side: Uint8Array;
}

export function spread(events: number, main: KernelSequence, passes: readonly Pass[], best: Ranked, names: TokenNames, look: BackendLook): Spread {
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
        inheritFromNext(main, pass, names, nodeOf, side);
        return pathOf(alignment, best, tokens.subarray(start, end), names, look);
      });
    } else if (pass.phase === 'backward' && path.length > 0) {
      const tape = reversedTape(path, best.candidate.graph, tokens, names, look);
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

/** Copies, casts and dropout masks of a forward pass that nothing explains are made for the operator that follows. */
function inheritFromNext(main: KernelSequence, pass: Pass, names: TokenNames, nodeOf: Int32Array, side: Uint8Array): void {
  for (let i = pass.end - 2; i >= pass.start; i--) {
    const event = main.order[main.positions[i]];
    const name = names.names[main.tokens[i]];
    if (nodeOf[event] < 0 && (name === 'copy' || name === 'cast' || name === 'dropoutMask')) {
      const next = main.order[main.positions[i + 1]];
      nodeOf[event] = nodeOf[next];
      side[event] = side[next];
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

function pathOf(alignment: Alignment, { automaton, candidate }: Ranked, tokens: Uint16Array, names: TokenNames, look: BackendLook): readonly PathStep[] {
  const path: PathStep[] = [];
  alignment.states.forEach((state, i) => {
    if (state > 0) {
      const seen = names.names[tokens[i]];
      const node = automaton.node[state];
      const { op } = candidate.graph.nodes[node];
      // The source knows more than the kernel's name, unless the kernel is another (a copy for it, a fused one).
      path.push({ op: seenOn(op, look) === seen ? canonicalOperator(op) : seen, node, turn: alignment.turns[i] });
    }
  });
  return path;
}
