/**
 * What repeats and is in no catalogue: runs of small kernels between the heavy ones (products, attention, communication,
 * fused kernels) and the recognised chains. A heavy kernel is a call boundary far more often than the end of a repeat is.
 */
import { isFused } from '../operators/kernelToken';
import type { TokenNames } from './kernelSequence';
import type { Occurrence } from './recognise';

/** Shorter runs are not worth a name; longer ones are cut, since no single operator spells out so many kernels. */
const MIN_LENGTH = 3;
const MAX_LENGTH = 64;

const HEAVY = new Set(['matmul', 'attention', 'attentionBackward', 'conv', 'convBackward', 'communication', '']);

/** Runs of tokens that no chain has taken, by their tokens; only those that occur at least `minimum` times. */
export function unknownChains(tokens: Uint16Array, names: TokenNames, taken: Uint8Array, minimum: number): readonly (readonly Occurrence[])[] {
  const heavy = names.names.map((name) => HEAVY.has(name) || isFused(name));
  const groups = new Map<string, Occurrence[]>();
  let from = 0;
  for (let i = 0; i <= tokens.length; i++) {
    const inside = i < tokens.length && taken[i] === 0 && !heavy[tokens[i]] && i - from < MAX_LENGTH;
    if (inside) {
      continue;
    }
    if (i - from >= MIN_LENGTH) {
      const key = tokens.subarray(from, i).join(',');
      const group = groups.get(key);
      const occurrence: Occurrence = { pattern: -1, first: from, last: i - 1, matched: indices(from, i) };
      if (group === undefined) {
        groups.set(key, [occurrence]);
      } else {
        group.push(occurrence);
      }
    }
    // A run cut for its length goes on at once; else the kernel that ended it is stepped over.
    from = i < tokens.length && taken[i] === 0 && !heavy[tokens[i]] ? i : i + 1;
  }
  return [...groups.values()].filter((group) => group.length >= minimum);
}

function indices(from: number, to: number): Int32Array {
  const all = new Int32Array(to - from);
  for (let i = 0; i < all.length; i++) {
    all[i] = from + i;
  }
  return all;
}
