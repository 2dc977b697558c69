import type { ModuleScope } from '../python/program';
import { applyEdits, mergedEdits, type FusePlan } from './plan';

/** An edit can make way for another (two forms that share a cast); more rounds than this would be a mistake of ours. */
const MOST_ROUNDS = 8;

export interface Fused {
  /** The file after all edits, parsed. */
  readonly scope: ModuleScope;
  /** Plans that were carried out, in the order of their rounds. */
  readonly used: readonly FusePlan[];
}

/** Everything that can be fused in a file, planned again after each round of edits until nothing is left to do. */
export function fuseAll(scope: ModuleScope, first: readonly FusePlan[], reparse: (text: string) => ModuleScope, replan: (scope: ModuleScope) => readonly FusePlan[]): Fused {
  let edited = scope;
  const done: FusePlan[] = [];
  for (let round = 0, plans = first; round < MOST_ROUNDS; round++) {
    const { edits, used } = mergedEdits(plans.filter(({ status }) => status === 'fixable'));
    if (edits.length === 0) {
      break;
    }
    done.push(...used);
    edited = reparse(applyEdits(edited.text, edits));
    plans = replan(edited);
  }
  return { scope: edited, used: done };
}
