/** Finds the catalogue's chains in a token sequence: leftmost, most tokens first, without overlap. */
import type { ChainPattern } from './patterns';
import type { TokenNames } from './kernelSequence';

export interface Occurrence {
  /** Index into the patterns, -1 for an unknown chain. */
  readonly pattern: number;
  /** First and last index into the sequence's tokens (inclusive). */
  readonly first: number;
  readonly last: number;
  /** For each token of the pattern the index it matched, -1 where an optional one is absent. */
  readonly matched: Int32Array;
}

/** Glue that may stand between two kernels of a chain without belonging to it. */
const SKIPPABLE = ['copy', 'cast', 'fill'];
const MAX_SKIPS = 2;

export function recognise(tokens: Uint16Array, patterns: readonly ChainPattern[], names: TokenNames): readonly Occurrence[] {
  const starts = startTable(patterns, names.names.length);
  const skippable = new Set(SKIPPABLE.map((name) => names.id(name)));
  const found: Occurrence[] = [];
  let from = 0;
  while (from < tokens.length) {
    let best: Occurrence | undefined;
    let bestScore = 0;
    for (const pattern of starts[tokens[from]] ?? []) {
      if (patterns[pattern].notAfter.size > 0 && patterns[pattern].notAfter.has(before(tokens, from, skippable))) {
        continue;
      }
      const matched = new Int32Array(patterns[pattern].tokens.length).fill(-1);
      const last = matchAt(tokens, from, patterns[pattern], matched, skippable);
      if (last < 0) {
        continue;
      }
      const score = scoreOf(patterns[pattern], matched);
      if (score > bestScore) {
        bestScore = score;
        best = { pattern, first: from, last, matched };
      }
    }
    if (best === undefined) {
      from++;
    } else {
      found.push(best);
      from = best.last + 1;
    }
  }
  return found;
}

/** The token in front of `from`, glue left out; -1 at the beginning. */
function before(tokens: Uint16Array, from: number, skippable: ReadonlySet<number>): number {
  let at = from - 1;
  while (at >= 0 && skippable.has(tokens[at])) {
    at--;
  }
  return at < 0 ? -1 : tokens[at];
}

/** Required tokens count most, then optional ones that are there, less a little for those that are not. */
function scoreOf(pattern: ChainPattern, matched: Int32Array): number {
  let present = 0;
  let absent = 0;
  for (let i = 0; i < matched.length; i++) {
    if (pattern.tokens[i].optional) {
      if (matched[i] >= 0) {
        present++;
      } else {
        absent++;
      }
    }
  }
  return pattern.required * 10 + present * 2 - absent;
}

/** For each token the patterns that may begin with it: their optional head and their first required token. */
function startTable(patterns: readonly ChainPattern[], tokenCount: number): readonly (readonly number[])[] {
  const starts: number[][] = Array.from({ length: tokenCount }, () => []);
  patterns.forEach((pattern, index) => {
    for (const { token, optional } of pattern.tokens) {
      if (!starts[token].includes(index)) {
        starts[token].push(index);
      }
      if (!optional) {
        break;
      }
    }
  });
  return starts;
}

/** Matches a pattern from `from`; returns the last index matched or -1. Greedy with one way back per optional token. */
function matchAt(tokens: Uint16Array, from: number, pattern: ChainPattern, matched: Int32Array, skippable: ReadonlySet<number>): number {
  let at = from;
  let last = -1;
  for (let i = 0; i < pattern.tokens.length; i++) {
    const { token, optional } = pattern.tokens[i];
    let next = at;
    let skips = 0;
    while (next < tokens.length && tokens[next] !== token && last >= 0 && skips < MAX_SKIPS && skippable.has(tokens[next]) && !optional) {
      next++;
      skips++;
    }
    if (next < tokens.length && tokens[next] === token) {
      matched[i] = next;
      last = next;
      at = next + 1;
    } else if (!optional) {
      return -1;
    }
  }
  return last;
}
