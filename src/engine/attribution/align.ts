/**
 * Best path of a token sequence through an automaton (Viterbi). Costs are absolute: what stays unexplained on either side
 * is counted, so that a wrong source shows as a high cost, not as a slightly lower score.
 */
import type { Automaton } from './automaton';
import { HOLE, JUNCTION } from './automaton';

export interface Alignment {
  /** For each token the state that consumed it, -1 when none explains it. */
  readonly states: Int32Array;
  /** Cost in all; tokens and operators weigh as in `automaton.operatorWeight`. */
  readonly cost: number;
  /** Weight of the tokens no state explains, and of the operators no kernel was seen for. */
  readonly unexplained: number;
  readonly missing: number;
  /** Tokens taken by holes, and what they cost. */
  readonly inHoles: number;
  readonly holeCost: number;
}

export interface AlignOptions {
  /** Weight of leaving token t unexplained, by token id. */
  readonly insert: Float32Array;
  /** Tokens before the first and after the last state cost this fraction: a window is rarely cut at a call. */
  readonly edge?: number;
}

/** What a token inside a hole costs, as a share of leaving it unexplained: a kernel of a known operator rarely belongs there. */
const HOLE_SHARE = 0.5;
/** Cells of the traceback table; beyond it the caller must cut the sequence. */
export const MAX_CELLS = 400_000_000;

const KIND_MATCH = 1;
const KIND_SKIP = 2;
const KIND_INSERT = 3;

export function align(tokens: Uint16Array, automaton: Automaton, options: AlignOptions): Alignment {
  const { size, token, skip, from, edges } = automaton;
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
    current.fill(Infinity);
    const wanted = tokens[i - 1];
    const insert = options.insert[wanted] ?? 1;
    const row = i * size;
    for (let state = 0; state < size; state++) {
      const stay = previous[state] + (state === 0 ? insert * edge : insert);
      let best = stay;
      let how = KIND_INSERT;
      if (token[state] === wanted || token[state] === HOLE) {
        const price = token[state] === HOLE ? HOLE_SHARE * insert : 0;
        if (token[state] === HOLE && previous[state] + price < best) {
          // A hole may take several tokens: it precedes itself.
          best = previous[state] + price;
          how = KIND_MATCH | (63 << 2);
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
  return traceBack(tokens, automaton, options, trace, finalState(automaton, current, skip));
}

/** Skipping states within one token position; loops may need several rounds. */
function relax(automaton: Automaton, costs: Float64Array, trace: Uint8Array, row: number): void {
  const { size, skip, from, edges, hasLoops } = automaton;
  for (let round = 0; round < (hasLoops ? 3 : 1); round++) {
    let changed = false;
    for (let state = 1; state < size; state++) {
      const first = from[state];
      const last = from[state + 1];
      for (let e = first; e < last; e++) {
        const cost = costs[edges[e]] + skip[state];
        if (cost < costs[state] - 1e-9) {
          costs[state] = cost;
          trace[row + state] = KIND_SKIP | (Math.min(62, e - first) << 2);
          changed = true;
        }
      }
    }
    if (!changed) {
      return;
    }
  }
}

/** The run may end early (a window cut in the middle): the last state wins ties. */
function finalState(automaton: Automaton, costs: Float64Array, skip: Float32Array): number {
  let best = automaton.size - 1;
  for (let state = automaton.size - 1; state >= 0; state--) {
    // Ending before the end is as dear as leaving out a tenth of what is left, so that whole runs are preferred.
    if (costs[state] + (state === automaton.size - 1 ? 0 : 0.5 + 0.1 * (skip[state] > 0 ? 1 : 0)) < costs[best]) {
      best = state;
    }
  }
  return best;
}

function traceBack(tokens: Uint16Array, automaton: Automaton, options: AlignOptions, trace: Uint8Array, end: number): Alignment {
  const { size, token, skip, from, edges } = automaton;
  const states = new Int32Array(tokens.length).fill(-1);
  let state = end;
  let unexplained = 0;
  let missing = 0;
  let inHoles = 0;
  let holeCost = 0;
  let i = tokens.length;
  const limit = (tokens.length + size) * 4;
  for (let steps = 0; steps < limit && (i > 0 || state > 0); steps++) {
    const how = trace[i * size + state];
    switch (how & 3) {
      case KIND_MATCH:
        states[i - 1] = state;
        if (token[state] === HOLE) {
          inHoles++;
          holeCost += HOLE_SHARE * (options.insert[tokens[i - 1]] ?? 1);
        }
        i--;
        if (how >> 2 !== 63) {
          state = edges[from[state] + (how >> 2)];
        }
        break;
      case KIND_INSERT:
        unexplained += (options.insert[tokens[i - 1]] ?? 1) * (state === 0 ? options.edge ?? 0.3 : 1);
        i--;
        break;
      case KIND_SKIP:
        missing += token[state] === JUNCTION ? 0 : skip[state];
        state = edges[from[state] + (how >> 2)];
        break;
      default:
        // State 0 before the first token.
        return { states, cost: unexplained + missing + holeCost, unexplained, missing, inHoles, holeCost };
    }
  }
  return { states, cost: unexplained + missing + holeCost, unexplained, missing, inHoles, holeCost };
}
