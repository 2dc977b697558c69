/**
 * Best path of a token sequence through an automaton (Viterbi). Costs are absolute: what stays unexplained on either side
 * is counted, so that a wrong source shows as a high cost, not as a slightly lower score.
 */
import type { Automaton } from './automaton';
import { FUSED_HOLE, HOLE, MASK_HOLE } from './automaton';

export interface Alignment {
  /** For each token the state that consumed it, -1 when none explains it. */
  readonly states: Int32Array;
  /** For each token the turn of the outermost loop it belongs to, counted from 0. */
  readonly turns: Int32Array;
  /** Cost of the path, light operators included. */
  readonly cost: number;
  /** Weighty tokens no state explains, weighty operators no kernel was seen for, and what weighty tokens in holes cost. */
  readonly unexplained: number;
  readonly missing: number;
  readonly holeCost: number;
  /** Weighty tokens taken by holes. */
  readonly inHoles: number;
  /** Weighty states the path left out, last first, each with its turn. */
  readonly skipped: readonly { readonly state: number; readonly turn: number }[];
}

export interface AlignOptions {
  /** Cost of leaving a token unexplained, by token id. */
  readonly insert: Float32Array;
  /** Part of it that counts as unexplained, by token id (`countWeight`). Default: all of it. */
  readonly count?: Float32Array;
  /** Token ids of fused and unknown kernels, for the holes that take only those. */
  readonly fused?: Uint8Array;
  /** Token ids that mask building launches. */
  readonly mask?: Uint8Array;
  /** Tokens before the first and after the last state cost this fraction: a window is rarely cut at a call. */
  readonly edge?: number;
}

/** Cells of the traceback table; beyond it the caller must cut the sequence. */
export const MAX_CELLS = 400_000_000;

/** Custom kernels are what holes are for. */
const CUSTOM_IN_HOLE = 0.2;

const KIND_MATCH = 1;
const KIND_SKIP = 2;
const KIND_INSERT = 3;
/** Edge number that stands for the state itself: a hole takes several tokens. */
const SELF = 63;

export function align(tokens: Uint16Array, automaton: Automaton, options: AlignOptions): Alignment {
  const { size, token, share, from, edges } = automaton;
  // Read once: looked up in their module for every cell they take a third of the time.
  const [anything, onlyFused, onlyMask] = [HOLE, FUSED_HOLE, MASK_HOLE];
  const count = tokens.length;
  // Low two bits: kind; above: which predecessor.
  const trace = new Uint8Array((count + 1) * size);
  const edge = options.edge ?? 0.3;
  let previous = new Float64Array(size).fill(Infinity);
  let current = new Float64Array(size).fill(Infinity);
  current[0] = 0;
  relax(automaton, current, trace, 0);
  for (let i = 1; i <= count; i++) {
    [previous, current] = [current, previous];
    const wanted = tokens[i - 1];
    const insert = options.insert[wanted] ?? 1;
    const isFused = options.fused?.[wanted] === 1;
    const isMask = options.mask?.[wanted] === 1;
    const row = i * size;
    for (let state = 0; state < size; state++) {
      let best = previous[state] + (state === 0 ? insert * edge : insert);
      let how = KIND_INSERT;
      const takes = token[state];
      if (takes === wanted || takes === anything || (takes === onlyFused && isFused) || (takes === onlyMask && isMask)) {
        const price = takes === wanted ? 0 : (isFused ? CUSTOM_IN_HOLE : 1) * share[state] * insert;
        if (takes !== wanted && previous[state] + price < best) {
          best = previous[state] + price;
          how = KIND_MATCH | (SELF << 2);
        }
        for (let e = from[state]; e < from[state + 1]; e++) {
          const cost = previous[edges[e]] + price;
          if (cost < best) {
            best = cost;
            how = KIND_MATCH | ((e - from[state]) << 2);
          }
        }
      }
      current[state] = best;
      trace[row + state] = how;
    }
    relax(automaton, current, trace, row);
  }
  return traceBack(tokens, automaton, options, trace, current);
}

/** Leaving states out, within one token position; loops may need several rounds. */
function relax(automaton: Automaton, costs: Float64Array, trace: Uint8Array, row: number): void {
  const { size, skip, from, edges, hasLoops } = automaton;
  for (let round = 0; round < (hasLoops ? 4 : 1); round++) {
    let changed = false;
    for (let state = 1; state < size; state++) {
      const first = from[state];
      const last = from[state + 1];
      for (let e = first; e < last; e++) {
        const cost = costs[edges[e]] + skip[state];
        if (cost < costs[state] - 1e-9) {
          costs[state] = cost;
          trace[row + state] = KIND_SKIP | ((e - first) << 2);
          changed = true;
        }
      }
    }
    if (!changed) {
      return;
    }
  }
}

/** Ending before the end (a window cut in the middle) costs a little, so that whole runs are preferred. */
const EARLY_END = 0.6;

function finalState(size: number, costs: Float64Array): number {
  let best = size - 1;
  for (let state = size - 2; state >= 0; state--) {
    if (costs[state] + EARLY_END < costs[best]) {
      best = state;
    }
  }
  return best;
}

function traceBack(tokens: Uint16Array, automaton: Automaton, options: AlignOptions, trace: Uint8Array, costs: Float64Array): Alignment {
  const { size, token, missing: missed, share, turn, from, edges } = automaton;
  const counts = options.count ?? options.insert;
  const states = new Int32Array(tokens.length).fill(-1);
  const turns = new Int32Array(tokens.length);
  let state = finalState(size, costs);
  const cost = costs[state];
  let unexplained = 0;
  let missing = 0;
  let inHoles = 0;
  let holeCost = 0;
  let turnsLeft = 0;
  const skipped: { state: number; turn: number }[] = [];
  let i = tokens.length;
  const limit = (tokens.length + size) * 8;
  for (let steps = 0; steps < limit && (i > 0 || state > 0); steps++) {
    const how = trace[i * size + state];
    const kind = how & 3;
    if (kind === 0) {
      break;
    }
    if (kind === KIND_SKIP) {
      missing += missed[state];
      if (missed[state] > 0) {
        skipped.push({ state, turn: -turnsLeft });
      }
      turnsLeft += turn[state];
      state = edges[from[state] + (how >> 2)];
      continue;
    }
    i--;
    turns[i] = -turnsLeft;
    const weight = counts[tokens[i]] ?? 1;
    if (kind === KIND_INSERT) {
      unexplained += weight * (state === 0 ? options.edge ?? 0.3 : 1);
      continue;
    }
    states[i] = state;
    if (token[state] < 0) {
      inHoles += token[state] === MASK_HOLE || options.fused?.[tokens[i]] === 1 ? 0 : weight;
      holeCost += (options.fused?.[tokens[i]] === 1 ? CUSTOM_IN_HOLE : 1) * share[state] * weight;
    }
    if (how >> 2 !== SELF) {
      state = edges[from[state] + (how >> 2)];
    }
  }
  for (let t = 0; t < turns.length; t++) {
    turns[t] += turnsLeft;
  }
  skipped.forEach((entry) => { entry.turn += turnsLeft; });
  return { states, turns, cost, unexplained, missing, holeCost, inHoles, skipped };
}
