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

/** Weight of what a penalty of the window can count, at least 1. */
export const countedWeight = (window: Uint16Array, { count }: TokenWeights): number => Math.max(1, window.reduce((sum, token) => sum + count[token], 0));

export function rankCandidates(window: Uint16Array, candidates: readonly Candidate[], names: TokenNames, look: BackendLook, forms: readonly LoweredForm[]): readonly Ranked[] {
  const weights = tokenWeights(names);
  const entrants = candidates.map((candidate) => ({ candidate, automaton: automatonFor(candidate, names, look, forms) }));
  const total = countedWeight(window, weights);
  const allWeight = Math.max(1, window.reduce((sum, token) => sum + weights.insert[token], 0));
  const ranked: Ranked[] = [];
  for (const { candidate, automaton } of finalists(window, entrants, weights)) {
    if ((window.length + 1) * automaton.size > MAX_CELLS) {
      continue;
    }
    const alignment = align(window, automaton, weights);
    ranked.push({ candidate, automaton, alignment, penalty: (alignment.unexplained + alignment.missing + alignment.holeCost) / total, systematic: systematicWeight(window, automaton, alignment, weights) / total, residual: alignment.cost / allWeight, holeShare: alignment.inHoles / total, coverage: coverageOf(automaton, alignment) });
  }
  return ranked.sort((a, b) => a.penalty - b.penalty || b.coverage - a.coverage);
}

/** Tokens that tell strangers from those worth aligning whole, and how many of the latter there are. */
const GLANCE = 400;
const FINALISTS = 64;

/** Those that explain the beginning best, the first layers among it. */
function finalists<T extends { readonly automaton: Automaton }>(window: Uint16Array, entrants: readonly T[], weights: TokenWeights): readonly T[] {
  if (entrants.length <= FINALISTS || window.length <= GLANCE) {
    return entrants;
  }
  const beginning = window.subarray(0, GLANCE);
  return entrants.map((entrant) => ({ entrant, cost: align(beginning, entrant.automaton, weights).cost })).sort((a, b) => a.cost - b.cost).slice(0, FINALISTS).map(({ entrant }) => entrant);
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
