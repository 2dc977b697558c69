/** How well each candidate explains a forward pass, and which candidates give the same answer. */
import type { TokenNames } from '../chains/kernelSequence';
import type { LoweredForm } from '../fusions/matchGraph';
import { align, MAX_CELLS, type Alignment } from './align';
import { countWeight, MASK_OPERATORS, operatorWeight, type Automaton } from './automaton';
import { automatonFor, type BackendLook, type Candidate } from './candidates';

export interface Ranked {
  readonly candidate: Candidate;
  readonly automaton: Automaton;
  readonly alignment: Alignment;
  /** Weighty tokens and operators that stay unexplained, of all weighty tokens; 0 best. */
  readonly penalty: number;
  /** Part of the penalty that comes again in each layer: a lost kernel is chance, a different source is not. */
  readonly systematic: number;
  /** The same with light operators (casts, copies, fills …) counted at their light weight. */
  readonly residual: number;
  /** Weighty tokens of known operators that only holes explain, of all. */
  readonly holeShare: number;
  /** Part of the candidate's weighty operators that ran; tells a model from one that has more branches. */
  readonly coverage: number;
}

export interface TokenWeights {
  readonly insert: Float32Array;
  readonly count: Float32Array;
  readonly fused: Uint8Array;
  readonly mask: Uint8Array;
}

export function tokenWeights(names: TokenNames): TokenWeights {
  const isFused = (name: string): boolean => name === '' || name.startsWith('fused.');
  return {
    // A kernel of no known operator, or of a fused one, is custom code: no source we lower could explain it.
    insert: Float32Array.from(names.names, (name) => (isFused(name) ? 0.3 : operatorWeight(name))),
    count: Float32Array.from(names.names, countWeight),
    fused: Uint8Array.from(names.names, (name) => (isFused(name) ? 1 : 0)),
    mask: Uint8Array.from(names.names, (name) => (MASK_OPERATORS.has(name) ? 1 : 0)),
  };
}

export function rankCandidates(window: Uint16Array, candidates: readonly Candidate[], names: TokenNames, look: BackendLook, forms: readonly LoweredForm[]): readonly Ranked[] {
  const automata = candidates.map((candidate) => automatonFor(candidate, names, look, forms));
  const weights = tokenWeights(names);
  const total = Math.max(1, window.reduce((sum, token) => sum + weights.count[token], 0));
  const allWeight = Math.max(1, window.reduce((sum, token) => sum + weights.insert[token], 0));
  const ranked: Ranked[] = [];
  automata.forEach((automaton, i) => {
    if ((window.length + 1) * automaton.size > MAX_CELLS) {
      return;
    }
    const alignment = align(window, automaton, weights);
    ranked.push({ candidate: candidates[i], automaton, alignment, penalty: (alignment.unexplained + alignment.missing + alignment.holeCost) / total, systematic: systematicWeight(window, automaton, alignment, weights) / total, residual: alignment.cost / allWeight, holeShare: alignment.inHoles / total, coverage: coverageOf(automaton, alignment) });
  });
  return ranked.sort((a, b) => a.penalty - b.penalty || b.coverage - a.coverage);
}

/** Mismatches that come in this share of the layers, and at least twice, are no chance. */
const RECURS = 0.2;
const CUSTOM = 0.2;

function systematicWeight(window: Uint16Array, automaton: Automaton, alignment: Alignment, weights: TokenWeights): number {
  const found = new Map<string, { count: number; weight: number }>();
  let once = 0;
  const add = (key: string, turn: number, weight: number): void => {
    if (turn === 0) {
      once += weight;
      return;
    }
    const entry = found.get(key) ?? { count: 0, weight: 0 };
    found.set(key, entry);
    entry.count++;
    entry.weight += weight;
  };
  let last = 0;
  alignment.states.forEach((state, i) => {
    // Custom kernels (helpers of a framework, a wrapper's own) say little about whose layers these are.
    const weight = weights.count[window[i]] * (weights.fused[window[i]] === 1 ? CUSTOM : 1);
    if (state > 0) {
      last = state;
      if (automaton.token[state] < 0 && weight > 0 && automaton.share[state] > 0) {
        add(`hole ${state} ${window[i]}`, alignment.turns[i], weight * automaton.share[state]);
      }
    } else if (weight > 0) {
      add(`after ${last} ${window[i]}`, alignment.turns[i], weight * (last === 0 ? 0.3 : 1));
    }
  });
  alignment.skipped.forEach(({ state, turn }) => add(`without ${state}`, turn, automaton.missing[state]));
  const turns = alignment.turns.reduce((most, turn) => Math.max(most, turn), 0);
  return [...found.values()].reduce((sum, { count, weight }) => sum + (turns < 3 || count >= Math.max(2, turns * RECURS) ? weight : 0), once);
}

function coverageOf(automaton: Automaton, alignment: Alignment): number {
  const ran = new Set<number>();
  alignment.states.forEach((state) => state > 0 && ran.add(state));
  let all = 0;
  let used = 0;
  for (let state = 1; state < automaton.size; state++) {
    all += automaton.missing[state];
    used += ran.has(state) ? automaton.missing[state] : 0;
  }
  return all === 0 ? 0 : used / all;
}

/** Candidates of the same text this near in penalty are one answer: heads and helpers may differ. */
const NEAR = 0.004;
/** Candidates of other text this near, light operators included, cannot be told apart by what they launch. */
const INDISTINCT = 0.002;
/** Of equal answers, one that runs this much less of its own operators is the less likely source. */
const COVERAGE_MARGIN = 0.12;
/** Share of kernels on the same text from which two answers are one. */
const SAME_TEXT = 0.97;

export interface AnswerClass {
  /** The one to show: of equals the one that runs most of its own code. */
  readonly best: Ranked;
  readonly equals: readonly Ranked[];
  /** Penalty of the next candidate that gives another answer; 1 when there is none. */
  readonly nextPenalty: number;
}

export function answerClass(ranked: readonly Ranked[]): AnswerClass | undefined {
  const [lowest] = ranked;
  if (lowest === undefined) {
    return undefined;
  }
  // Light operators decide between those that explain the weighty ones equally well.
  const first = ranked.filter((entry) => entry.penalty < lowest.penalty + INDISTINCT).reduce((a, b) => (b.penalty + b.residual < a.penalty + a.residual - 1e-6 ? b : a));
  const texts = new Map<Ranked, readonly string[]>();
  const textsOf = (entry: Ranked): readonly string[] => {
    let known = texts.get(entry);
    if (known === undefined) {
      known = tokenTexts(entry);
      texts.set(entry, known);
    }
    return known;
  };
  const alike = ranked.filter((other) => other === first || (other.penalty - first.penalty < NEAR && sameShare(textsOf(first), textsOf(other)) >= SAME_TEXT) || (other.penalty - first.penalty < INDISTINCT && Math.abs(other.residual - first.residual) < INDISTINCT));
  const best = alike.reduce((a, b) => (isBetter(b, a) ? b : a));
  const equals = alike.filter((other) => other !== best && other.coverage >= best.coverage - COVERAGE_MARGIN && !leadsTo(other, best));
  // A head that others leave out, or a part of an equal model, is no other answer.
  const next = ranked.find((other) => !alike.includes(other) && !alike.some((entry) => leadsTo(other, entry)) && sameShare(textsOf(best), textsOf(other)) < SAME_TEXT);
  return { best, equals, nextPenalty: next?.penalty ?? 1 };
}

/** Of two that explain as much: in one file the head that leaves less over, in two the file that runs more of its own code. */
function isBetter(a: Ranked, b: Ranked): boolean {
  if (a.candidate.scope === b.candidate.scope) {
    return a.penalty < b.penalty - 1e-6 || (a.penalty < b.penalty + 1e-6 && a.residual < b.residual - 1e-6);
  }
  const gap = a.residual - b.residual;
  return a.penalty <= b.penalty + 0.0005 && (gap < -0.0005 || (gap < 0.0005 && a.coverage > b.coverage + 0.02));
}

/** One candidate calls the other: both lead to the same lines, and so do not compete. */
function leadsTo(a: Ranked, b: Ranked): boolean {
  let both = 0;
  let same = 0;
  a.alignment.states.forEach((state, i) => {
    const other = b.alignment.states[i];
    if (state > 0 && other > 0) {
      const [left, right] = [nodeOf(a, state), nodeOf(b, other)];
      both++;
      same += left !== undefined && right !== undefined && left.place.file === right.place.file && left.statement.start === right.statement.start ? 1 : 0;
    }
  });
  return both > 0 && same / both > 0.9;
}

const nodeOf = (ranked: Ranked, state: number): Ranked['candidate']['graph']['nodes'][number] | undefined => ranked.candidate.graph.nodes[ranked.automaton.node[state]];

/** For each token the text that explains it, whitespace removed; '' for none. Class and function names are not part of it. */
function tokenTexts(ranked: Ranked): readonly string[] {
  const { graph, sources } = ranked.candidate;
  const known = new Map<number, string>();
  return [...ranked.alignment.states].map((state) => {
    const node = state > 0 ? ranked.automaton.node[state] : -1;
    if (node < 0) {
      return '';
    }
    let text = known.get(node);
    if (text === undefined) {
      const { place, op } = graph.nodes[node];
      text = `${op}:${(sources(place.file) ?? '').slice(place.start, place.end).replace(/\s+/g, '')}`;
      known.set(node, text);
    }
    return text;
  });
}

function sameShare(a: readonly string[], b: readonly string[]): number {
  let same = 0;
  a.forEach((text, i) => {
    same += text === b[i] ? 1 : 0;
  });
  return a.length === 0 ? 0 : same / a.length;
}
