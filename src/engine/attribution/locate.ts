/**
 * Finds the source of kernels without any Python stack: the forward pass is aligned with what the workspace's functions
 * would launch, the backward pass with the reversed tape of the path so found, recompute with the forward itself.
 */
import type { Parser } from 'web-tree-sitter';
import { kernelSequences, TokenNames, type KernelSequence } from '../chains/kernelSequence';
import type { LoweredForm } from '../fusions/matchGraph';
import type { OperatorGraph } from '../python/operatorGraph';
import type { RankData } from '../profile/columns';
import { align, MAX_CELLS, type Alignment } from './align';
import { lineAutomaton, operatorWeight, type Automaton } from './automaton';
import { backwardTokens } from './backwardTokens';
import { automatonFor, catalogueForms, prefilter, type Candidate } from './candidates';
import { passesOf, type Pass } from './regions';

export interface Located {
  /** Device event → graph node of `candidate`, -1 where nothing explains it. */
  readonly nodeOf: Int32Array;
  /** 1 where the kernel is a forward (or recomputed) one, 2 where it is the backward of the node. */
  readonly side: Uint8Array;
  readonly candidate: Candidate;
  /** Others that explain the run just as well: equal bodies in other files. */
  readonly equals: readonly Candidate[];
  /** Share of the forward pass's weight that is explained by neither side, 0 best; and of the next unlike candidate (1 when there is none). */
  readonly penalty: number;
  readonly nextPenalty: number;
  readonly confidence: number;
  readonly holeShare: number;
}

export interface Abstained {
  readonly reason: { readonly code: string; readonly args?: Readonly<Record<string, string | number>> };
}

/** Above this share of unexplained weight no candidate is the source; true sources stay far below (docs/accuracy.md). */
const ACCEPT = 0.03;
const CANDIDATES = 12;
const FIRST_REGION = 3000;

export function locate(rank: RankData, candidates: readonly Candidate[], parser: Parser): Located | Abstained {
  const names = new TokenNames();
  const { sequences } = kernelSequences(rank, names);
  const [main] = sequences;
  if (main === undefined || main.tokens.length === 0) {
    return { reason: { code: 'attribution.no-kernels' } };
  }
  const passes = passesOf(main, names);
  const first = passes.find((pass) => pass.phase === 'forward' || pass.phase === 'unknown');
  if (first === undefined || candidates.length === 0) {
    return { reason: { code: candidates.length === 0 ? 'attribution.no-source' : 'attribution.no-forward' } };
  }
  const cuda = rank.backend !== 'ascend';
  const forms = catalogueForms(parser);
  const window = main.tokens.subarray(first.start, Math.min(first.end, first.start + FIRST_REGION));
  const ranked = rankCandidates(window, prefilter(candidates, [...window].map((token) => names.names[token]), cuda, CANDIDATES), names, cuda, forms);
  const [best] = ranked;
  if (best === undefined) {
    return { reason: { code: 'attribution.nothing-alike' } };
  }
  const { equals, nextPenalty } = classOf(best, ranked);
  if (best.penalty > ACCEPT) {
    return { reason: { code: 'attribution.unexplained', args: { share: Math.round(best.penalty * 1000) / 10, file: best.candidate.scope.file } } };
  }
  const located = spread(rank, main, passes, best, names);
  const confidence = Math.max(0, 1 - best.penalty / ACCEPT / 2) * (1 - best.holeShare) * Math.min(1, 0.5 + (nextPenalty - best.penalty) / ACCEPT);
  return { ...located, candidate: best.candidate, equals, penalty: best.penalty, nextPenalty, confidence, holeShare: best.holeShare };
}

interface Ranked {
  readonly candidate: Candidate;
  readonly automaton: Automaton;
  readonly alignment: Alignment;
  readonly penalty: number;
  readonly holeShare: number;
}

function rankCandidates(window: Uint16Array, candidates: readonly Candidate[], names: TokenNames, cuda: boolean, forms: readonly LoweredForm[]): readonly Ranked[] {
  const ranked: Ranked[] = [];
  for (const candidate of candidates) {
    const automaton = automatonFor(candidate, names, cuda, forms);
    if ((window.length + 1) * automaton.size > MAX_CELLS) {
      continue;
    }
    const insert = weights(names);
    const alignment = align(window, automaton, { insert });
    const total = window.reduce((sum, token) => sum + insert[token], 0);
    ranked.push({ candidate, automaton, alignment, penalty: alignment.cost / Math.max(1, total), holeShare: alignment.inHoles / window.length });
  }
  return ranked.sort((a, b) => a.penalty - b.penalty);
}

function weights(names: TokenNames): Float32Array {
  // A kernel of no known operator, or of a fused one, is custom code: no source we lower could explain it.
  return Float32Array.from(names.names, (name) => (name === '' || name.startsWith('fused.') ? 0.3 : operatorWeight(name)));
}

/** Candidates with the very same cost whose path has the same text are one answer in several places. */
function classOf(best: Ranked, ranked: readonly Ranked[]): { readonly equals: readonly Candidate[]; readonly nextPenalty: number } {
  const body = normalisedPath(best);
  const equals = ranked.filter((other) => other !== best && Math.abs(other.penalty - best.penalty) < 1e-6 && normalisedPath(other) === body);
  const next = ranked.find((other) => other !== best && !equals.includes(other) && !contains(other, best));
  return { equals: equals.map((other) => other.candidate), nextPenalty: next?.penalty ?? 1 };
}

/** One candidate calls the other: they lead to the same lines, and so do not compete. */
function contains(a: Ranked, b: Ranked): boolean {
  const places = new Set(b.candidate.graph.nodes.map((node) => `${node.place.file}:${node.place.start}`));
  const used = [...a.alignment.states].filter((state) => state > 0 && a.automaton.node[state] >= 0).map((state) => a.candidate.graph.nodes[a.automaton.node[state]]);
  const shared = used.filter((node) => places.has(`${node.place.file}:${node.place.start}`)).length;
  return used.length > 0 && shared / used.length > 0.9;
}

/** Text of the statements on the path, whitespace removed. */
function normalisedPath(ranked: Ranked): string {
  const { graph, scope } = ranked.candidate;
  const seen = new Set<string>();
  const texts: string[] = [];
  for (const state of ranked.alignment.states) {
    const node = state > 0 ? graph.nodes[ranked.automaton.node[state]] : undefined;
    if (node === undefined || seen.has(`${node.place.file}:${node.place.start}`)) {
      continue;
    }
    seen.add(`${node.place.file}:${node.place.start}`);
    texts.push(node.place.file === scope.file ? scope.text.slice(node.place.start, node.place.end).replace(/\s+/g, '') : node.op);
  }
  return texts.join('\n');
}

/** Carries the path over all passes of the sequence. */
function spread(rank: RankData, main: KernelSequence, passes: readonly Pass[], best: Ranked, names: TokenNames): Pick<Located, 'nodeOf' | 'side'> {
  const nodeOf = new Int32Array(rank.deviceEvents.count).fill(-1);
  const side = new Uint8Array(rank.deviceEvents.count);
  const insert = weights(names);
  let path: readonly PathStep[] = [];
  for (const pass of passes) {
    const tokens = main.tokens.subarray(pass.start, pass.end);
    if (pass.phase === 'forward' || pass.phase === 'unknown') {
      if ((tokens.length + 1) * best.automaton.size > MAX_CELLS) {
        continue;
      }
      const { states } = align(tokens, best.automaton, { insert });
      path = pathOf(states, best.automaton, tokens, names);
      mark(main, pass, states, (state) => best.automaton.node[state], () => 1, nodeOf, side);
    } else if (pass.phase === 'backward' && path.length > 0) {
      const { automaton, isBackward } = backwardAutomaton(path, best.candidate.graph, tokens, names);
      if ((tokens.length + 1) * automaton.size > MAX_CELLS) {
        continue;
      }
      const { states } = align(tokens, automaton, { insert });
      mark(main, pass, states, (state) => automaton.node[state], (state) => (isBackward[state] === 1 ? 2 : 1), nodeOf, side);
    }
  }
  inheritHelpers(main, nodeOf, side);
  return { nodeOf, side };
}

function mark(main: KernelSequence, pass: Pass, states: Int32Array, nodeAt: (state: number) => number, sideAt: (state: number) => number, nodeOf: Int32Array, side: Uint8Array): void {
  states.forEach((state, i) => {
    if (state > 0) {
      const event = main.order[main.positions[pass.start + i]];
      nodeOf[event] = nodeAt(state);
      side[event] = sideAt(state);
    }
  });
}

/** Helper kernels take the source of the operator they were launched for: the next one in the stream. */
function inheritHelpers(main: KernelSequence, nodeOf: Int32Array, side: Uint8Array): void {
  let next = main.positions.length - 1;
  for (let i = main.order.length - 1; i >= 0; i--) {
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
  /** Turn of the outermost loop, to find layer boundaries. */
  readonly turn: number;
}

function pathOf(states: Int32Array, automaton: Automaton, tokens: Uint16Array, names: TokenNames): readonly PathStep[] {
  const path: PathStep[] = [];
  let turn = 0;
  let highest = -1;
  states.forEach((state, i) => {
    if (state <= 0) {
      return;
    }
    if (state < highest - 8) {
      turn++;
      highest = state;
    }
    highest = Math.max(highest, state);
    path.push({ op: names.names[tokens[i]], node: automaton.node[state], turn });
  });
  return path;
}

/** A kernel that may or may not come costs little to leave out. */
const MAYBE = 0.05;

/**
 * The reversed tape: for each step of the path, last first, what its backward launches. Where the region holds forward
 * kernels (attention, activations) the layers were checkpointed, and each layer's forward may come before its backward.
 */
function backwardAutomaton(path: readonly PathStep[], graph: OperatorGraph, tokens: Uint16Array, names: TokenNames): { readonly automaton: Automaton; readonly isBackward: Uint8Array } {
  const forwardOnly = new Set(['attention', 'silu', 'gelu', 'softmax', 'fused.rmsNorm', 'fused.swiglu', 'rsqrt'].map((name) => names.has(name)));
  const recomputes = tokens.reduce((count, token) => count + (forwardOnly.has(token) ? 1 : 0), 0) > path.filter((step) => forwardOnly.has(names.has(step.op))).length / 4;
  const line: { token: number; node: number; skip: number; backward: number }[] = [];
  const users = graph.nodes.map(() => 0);
  graph.nodes.forEach((node) => node.inputs.forEach((input) => { users[input]++; }));
  for (let end = path.length; end > 0;) {
    let start = end;
    while (start > 0 && path[start - 1].turn === path[end - 1].turn) {
      start--;
    }
    if (recomputes) {
      for (let i = start; i < end; i++) {
        line.push({ token: names.id(path[i].op), node: path[i].node, skip: MAYBE, backward: 0 });
      }
    }
    for (let i = end - 1; i >= start; i--) {
      const { op, node } = path[i];
      for (const token of backwardTokens(op)) {
        line.push({ token: names.id(token.op), node, skip: token.optional ? MAYBE : operatorWeight(token.op), backward: 1 });
      }
      if (node >= 0 && users[node] > 1) {
        // Gradients of a value used twice are added up.
        line.push({ token: names.id('add'), node, skip: MAYBE, backward: 1 });
      }
    }
    end = start;
  }
  return { automaton: lineAutomaton(line.map((entry) => entry.token), line.map((entry) => entry.node), line.map((entry) => entry.skip)), isBackward: Uint8Array.from([0, ...line.map((entry) => entry.backward)]) };
}
