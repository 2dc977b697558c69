import { eventsOf, freeRuns, type WasteRun } from '../chains/wasteView';
import type { Fusion } from './fusion';

/** Update rules have at most ten kernels a parameter (AdamW with weight decay and maximum); a little more for scaling. */
const LONGEST = 12;
/** A model has more than eight parameters; eight equal lines of arithmetic with no product between them stand in no layer. */
const REPEATS = 8;
/** What update rules, scalings and clippings are made of. Reductions are not among them: metrics loop over those. */
const ARITHMETIC: ReadonlySet<string> = new Set(['add', 'adds', 'sub', 'subs', 'rsubs', 'mul', 'muls', 'div', 'divs', 'pow', 'sqrt', 'rsqrt', 'reciprocal', 'addcmul', 'addcdiv', 'lerp', 'neg', 'sign', 'abs', 'clamp', 'where', 'cast', 'copy', 'fill']);
/** One of these is in every update; sums alone are a sum of many tensors. */
const UPDATES: ReadonlySet<string> = new Set(['mul', 'muls', 'div', 'divs', 'addcmul', 'addcdiv', 'lerp']);

/** An optimizer, a scaling or a clipping that walks over the parameters, some kernels for each. */
export const parameterLoop: Fusion = {
  id: 'parameter-loop', title: 'Loop over parameters, kernel by kernel', family: 'optimizer', kind: 'waste', forms: [],
  find: (view) => view.sequences.flatMap((sequence) => {
    const { tokens } = sequence;
    const updates = view.names.names.map((name) => UPDATES.has(name));
    return freeRuns(view, sequence, (op) => ARITHMETIC.has(op)).flatMap(([start, end]) => {
      const runs: WasteRun[] = [];
      for (let from = start; from < end;) {
        const [length, until] = repetition(tokens, from, end);
        if (length === 0) {
          from++;
          continue;
        }
        if (tokens.subarray(from, from + length).some((token) => updates[token])) {
          const chain = [...tokens.subarray(from, from + length)].map((token) => view.names.names[token]).join(' ');
          for (let at = from; at < until; at += length) {
            runs.push({ events: eventsOf(sequence, at, at + length), chain });
          }
        }
        from = until;
      }
      return runs;
    });
  }),
};

/** The shortest run of tokens that begins here and comes at least `REPEATS` times in a row: its length, and where the last one ends. */
function repetition(tokens: Uint16Array, from: number, end: number): readonly [number, number] {
  for (let length = 1; length <= LONGEST && from + length * REPEATS <= end; length++) {
    let at = from + length;
    while (at < end && tokens[at] === tokens[at - length]) {
      at++;
    }
    const repeats = Math.floor((at - from) / length);
    if (repeats >= REPEATS) {
      return [length, from + repeats * length];
    }
  }
  return [0, from];
}
