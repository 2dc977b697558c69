/**
 * Runs of three operators as a file's text spells them, without lowering: cheap enough for thousands of files, and good
 * enough to say which few dozen are worth lowering.
 */
import { canonicalOperator } from '../chains/kernelSequence';
import type { ModuleScope } from '../python/program';
import type { SourceText } from '../python/sourceText';
import { operatorsByName } from '../python/spelledOperators';
import { operatorWeight } from './automaton';
import { followedForwards, spellingOf } from './spelledLayers';

/** Operators lighter than this come and go and make no run. */
const WEIGHTY = 0.4;

export const isWeighty = (op: string): boolean => operatorWeight(op) >= WEIGHTY;

const weightyOperators = (ops: readonly string[]): readonly string[] => ops.filter(isWeighty).map(canonicalOperator);

export function trigrams(tokens: readonly string[]): ReadonlySet<string> {
  const grams = new Set<string>();
  for (let i = 0; i + 2 < tokens.length; i++) {
    grams.add(`${tokens[i]} ${tokens[i + 1]} ${tokens[i + 2]}`);
  }
  return grams;
}

/** A file without such a method has no candidate: half of a model collection's files. */
const FORWARD = /\bdef\s+(?:forward|construct)\b/;
const NONE: ReadonlySet<string> = new Set();

/** Whether a file's text has such a method at all. */
const mayHoldForward = ({ source }: ModuleScope): boolean => FORWARD.test(source.text);

const known = new WeakMap<SourceText, ReadonlySet<string>>();

/** Trigrams of all functions of a file that may hold a candidate; none of another. Found once for each text. */
export function spelledGrams(scope: ModuleScope): ReadonlySet<string> {
  let grams = known.get(scope.source);
  if (grams === undefined) {
    grams = mayHoldForward(scope) ? new Set(spellingOf(scope).all.flatMap((spelling) => [...trigrams(weightyOperators(operatorsByName(spelling)))])) : NONE;
    known.set(scope.source, grams);
  }
  return grams;
}

/**
 * Trigrams of a file's forwards with what they call in place, one operator left out between or not: followed by name alone,
 * both branches of a condition stand there, and dropout that a run has not.
 */
export const followedGrams = (scope: ModuleScope, importsOf: (scope: ModuleScope) => readonly ModuleScope[]): ReadonlySet<string> =>
  (mayHoldForward(scope) ? new Set(followedForwards(scope, importsOf).flatMap((ops) => [...looseTrigrams(weightyOperators(ops))])) : NONE);

/** Three of each four neighbours, in order. */
function looseTrigrams(tokens: readonly string[]): ReadonlySet<string> {
  const grams = new Set(trigrams(tokens));
  for (let i = 0; i + 3 < tokens.length; i++) {
    const [first, second, third, fourth] = tokens.slice(i, i + 4);
    grams.add(`${first} ${second} ${fourth}`).add(`${first} ${third} ${fourth}`);
  }
  return grams;
}
