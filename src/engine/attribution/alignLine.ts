/** Alignment with a sequence that leaves no choice (the reversed tape of a forward pass), within a band that follows the best path. */

export interface Line {
  /** Token ids in order. */
  readonly tokens: Uint16Array;
  /** Cost of leaving an entry out. */
  readonly skip: Float32Array;
}

const MATCH = 1;
const SKIP = 2;
const INSERT = 3;

/**
 * For each token the index of the line's entry that explains it, -1 for none. Time and memory are tokens × band: a step of
 * twenty thousand kernels has a line twice as long, and its path stays near where it was a kernel ago.
 */
export function alignLine(tokens: Uint16Array, line: Line, insert: Float32Array, band = 3000): Int32Array {
  const entries = line.tokens.length;
  const width = Math.min(band, entries + 1);
  const count = tokens.length;
  const trace = new Uint8Array((count + 1) * width);
  const lows = new Int32Array(count + 1);
  let previous = new Float64Array(width).fill(Infinity);
  let current = new Float64Array(width).fill(Infinity);
  let low = 0;
  current[0] = 0;
  skipOn(0);
  let bestAt = 0;
  for (let i = 1; i <= count; i++) {
    [previous, current] = [current, previous];
    const before = low;
    low = Math.max(low, Math.min(entries + 1 - width, bestAt - (width >> 1)));
    lows[i] = low;
    const moved = low - before;
    const wanted = tokens[i - 1];
    const price = insert[wanted] ?? 1;
    const row = i * width;
    bestAt = low;
    let best = Infinity;
    for (let w = 0; w < width; w++) {
      const from = w + moved;
      let cost = from < width ? previous[from] + price : Infinity;
      let how = INSERT;
      const at = low + w;
      if (at > 0 && line.tokens[at - 1] === wanted && from >= 1 && from - 1 < width && previous[from - 1] < cost) {
        cost = previous[from - 1];
        how = MATCH;
      }
      if (w > 0 && current[w - 1] + line.skip[at - 1] < cost) {
        cost = current[w - 1] + line.skip[at - 1];
        how = SKIP;
      }
      current[w] = cost;
      trace[row + w] = how;
      if (cost < best) {
        best = cost;
        bestAt = at;
      }
    }
  }
  return traceBack();

  function skipOn(row: number): void {
    for (let w = 1; w < width; w++) {
      current[w] = current[w - 1] + line.skip[w - 1];
      trace[row + w] = SKIP;
    }
  }

  function traceBack(): Int32Array {
    const answer = new Int32Array(count).fill(-1);
    // The rest of the line may be missing: a window is cut where the optimizer begins.
    let at = bestAt;
    for (let i = count; i > 0 || at > 0;) {
      const w = at - lows[i];
      const how = w >= 0 && w < width ? trace[i * width + w] : 0;
      if (how === MATCH) {
        i--;
        at--;
        answer[i] = at;
      } else if (how === SKIP) {
        at--;
      } else if (how === INSERT && i > 0) {
        i--;
      } else {
        break;
      }
    }
    return answer;
  }
}
