import type { KernelSequence } from '../chains/kernelSequence';
import { eventsOf, freeRuns, type WasteRun } from '../chains/wasteView';
import type { Fusion } from './fusion';

/** Kernels that build masks. What makes one from nothing is among them: a triangle, or positions that are compared. */
const PIECES: ReadonlySet<string> = new Set(['arange', 'triu', 'compare', 'fill', 'where', 'maskedFill', 'logical', 'cumsum', 'any', 'cast', 'copy', 'add', 'adds', 'sub', 'subs', 'rsubs', 'muls', 'cat']);
const GLUE: ReadonlySet<string> = new Set(['cast', 'copy', 'add', 'muls', 'cat']);
/**
 * A mask made once per pass has all attentions of the pass behind it. With at most two attentions (self and cross, or
 * global and local) until the same mask is made again, it is made in the layers.
 */
const ATTENTIONS_BETWEEN = 2;
/** Two masks in short order may be one for each kind of attention. */
const TIMES = 4;

/** The attention mask, made again in every layer: it depends on lengths alone. */
export const maskRebuilt: Fusion = {
  id: 'mask-rebuilt', title: 'Attention mask rebuilt in each layer', family: 'elementwise', kind: 'waste', forms: [],
  find: (view) => view.sequences.flatMap((sequence) => {
    const nameAt = (i: number): string => view.names.names[sequence.tokens[i]];
    const groups = new Map<string, [number, number][]>();
    for (const [from, to] of freeRuns(view, sequence, (op) => PIECES.has(op))) {
      let [start, end] = [from, to];
      while (start < end && GLUE.has(nameAt(start))) {
        start++;
      }
      while (end > start && GLUE.has(nameAt(end - 1))) {
        end--;
      }
      const ops = Array.from({ length: end - start }, (_, i) => nameAt(start + i));
      if (ops.length >= 2 && (ops.includes('triu') || (ops.includes('arange') && ops.includes('compare')))) {
        const chain = ops.join(' ');
        groups.set(chain, [...(groups.get(chain) ?? []), [start, end]]);
      }
    }
    return [...groups].flatMap(([chain, ranges]) => perLayer(sequence, ranges, nameAt).map(([start, end]): WasteRun => ({ events: eventsOf(sequence, start, end), chain })));
  }),
};

/** Ranges that follow each other after one or two attentions, where that happens often enough. */
function perLayer({ tokens }: KernelSequence, ranges: readonly (readonly [number, number])[], nameAt: (i: number) => string): readonly (readonly [number, number])[] {
  const attentions = new Uint32Array(tokens.length + 1);
  for (let i = 0; i < tokens.length; i++) {
    attentions[i + 1] = attentions[i] + (nameAt(i) === 'attention' || nameAt(i) === 'softmax' ? 1 : 0);
  }
  const found: (readonly [number, number])[] = [];
  let run: (readonly [number, number])[] = [];
  for (const range of ranges) {
    const last = run[run.length - 1];
    const between = last === undefined ? 0 : attentions[range[0]] - attentions[last[1]];
    if (last !== undefined && (between < 1 || between > ATTENTIONS_BETWEEN)) {
      found.push(...(run.length >= TIMES ? run : []));
      run = [];
    }
    run.push(range);
  }
  return [...found, ...(run.length >= TIMES ? run : [])];
}
