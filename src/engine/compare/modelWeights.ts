import type { ModelWeight } from '../../protocol/compare';

/** Dimensions of one tensor as written. */
type Dimensions = readonly number[];

/** Operands of one kind of multiplication, in the order in which the operator takes them, and how often it ran. */
export interface Multiplication {
  readonly tensors: readonly Dimensions[];
  readonly kernels: number;
}

/** Micro-batches, chunks of a loss, and prefill beside decode each have a number of tokens of their own. */
const MOST_TOKEN_DIMENSIONS = 16;
/** A dimension of tokens is in every first operand, and in the last one in a weight gradient only: one multiplication of three. */
const LEAST_LEAD = 0.4;
/** Where there are as many tokens as hidden values no side tells them apart; but only tokens are in every first operand. */
const NEARLY_ALL = 0.9;

/**
 * Weights of a model, whatever its batch. Of a linear layer every multiplication has tokens, inputs and outputs: forward
 * `T,I × I,O`, gradient `T,O × O,I`, gradient of the weight `O,T × T,I`; without the tokens, the weight is left. Tokens are told
 * from a hidden size by the side they are on: operators take activations first and weights last. Attention is left out.
 */
export function modelWeights(multiplications: readonly Multiplication[]): readonly ModelWeight[] {
  const weights = new Map<string, number>();
  let rest = multiplications.filter(({ tensors }) => tensors.length >= 2);
  for (let round = 0; round < MOST_TOKEN_DIMENSIONS && rest.length > 0; round++) {
    const tokens = leadingDimension(rest) ?? (round === 0 ? omnipresentDimension(rest) : undefined);
    if (tokens === undefined) {
      break;
    }
    for (const { tensors, kernels } of rest.filter(({ tensors: [first] }) => first.includes(tokens))) {
      const weight = weightOf(tensors, tokens);
      if (weight !== undefined) {
        const shape = [...weight].sort((a, b) => a - b).join(',');
        weights.set(shape, (weights.get(shape) ?? 0) + kernels);
      }
    }
    rest = rest.filter(({ tensors: [first] }) => !first.includes(tokens));
  }
  return [...weights].map(([shape, kernels]): ModelWeight => ({ shape, kernels })).sort((a, b) => b.kernels - a.kernels || (a.shape < b.shape ? -1 : 1));
}

function leadingDimension(multiplications: readonly Multiplication[]): number | undefined {
  const firsts = countDimensions(multiplications, ([first]) => first);
  const lasts = countDimensions(multiplications, (tensors) => tensors[tensors.length - 1]);
  const [dimension, lead] = most([...firsts].map(([dimension, count]) => [dimension, count - (lasts.get(dimension) ?? 0)]));
  return lead >= LEAST_LEAD * sumOf(multiplications) ? dimension : undefined;
}

function omnipresentDimension(multiplications: readonly Multiplication[]): number | undefined {
  const plain = multiplications.filter(({ tensors }) => tensors.every(({ length }) => length === 2));
  const [dimension, count] = most([...countDimensions(plain, ([first]) => first)]);
  return count > 0 && count >= NEARLY_ALL * sumOf(plain) ? dimension : undefined;
}

const sumOf = (multiplications: readonly Multiplication[]): number => multiplications.reduce((sum, { kernels }) => sum + kernels, 0);

const most = (counts: readonly (readonly [number, number])[]): readonly [number, number] => counts.reduce((best, each) => (each[1] > best[1] || (each[1] === best[1] && each[0] > best[0]) ? each : best), [0, 0] as const);

function countDimensions(multiplications: readonly Multiplication[], pick: (tensors: readonly Dimensions[]) => Dimensions): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { tensors, kernels } of multiplications) {
    new Set(pick(tensors)).forEach((dimension) => counts.set(dimension, (counts.get(dimension) ?? 0) + kernels));
  }
  return counts;
}

/** Dimensions of the weight; undefined where none takes part. */
function weightOf(tensors: readonly Dimensions[], tokens: number): Dimensions | undefined {
  const [first, last] = [tensors[0], tensors[tensors.length - 1]];
  if (!last.includes(tokens)) {
    return last;
  }
  if (tensors.length > 2 || first.length !== 2 || last.length !== 2) {
    return undefined;
  }
  const inner = first[first[0] === tokens ? 1 : 0];
  const outer = last[last[0] === tokens ? 1 : 0];
  // `T,I × I,T`: a weight with as many outputs as there are tokens, in the forward pass.
  return outer === inner && first[0] === tokens && last[0] === inner ? last : [inner, outer];
}
