/** What to know before an edit that is right by itself: `fuse.caution.<code>`, read from the rest of the workspace. */
import type { ModuleScope, Program } from '../python/program';

/** What surrounds the code, by what a file must say for it. */
const SIGNS: Readonly<Record<string, RegExp>> = {
  // Frameworks that sample with one engine and train with another: rounding in other places shifts the ratio of their probabilities.
  rollout: /^[ \t]*(?:import|from)[ \t]+(?:verl|trl|openrlhf|vllm|sglang|lmdeploy|slime|areal)\b|XTUNER_USE_(?:VLLM|SGLANG|LMDEPLOY)/m,
  compile: /\btorch\.compile\(|^[ \t]*@torch\.compile\b/m,
  autocast: /\bautocast\(/,
  dtensor: /\b(?:parallelize_module|SequenceParallel|distribute_tensor|ColwiseParallel|RowwiseParallel)\b/,
  'checkpoint-policy': /\b(?:create_selective_checkpoint_contexts|CheckpointPolicy)\b/,
  'lm-head-sharded': /\b(?:fully_shard|FullyShardedDataParallel|FSDP)\b/,
  'lm-head-shared': /\b(?:mtp|MTP|num_nextn_predict_layers|MultiTokenPrediction\w*)\b/,
};

/** Texts do not change under a scope, and programs share scopes. */
const known = new WeakMap<ModuleScope, ReadonlySet<string>>();

function signsOf(scope: ModuleScope): ReadonlySet<string> {
  let signs = known.get(scope);
  if (signs === undefined) {
    signs = new Set(Object.entries(SIGNS).filter(([, sign]) => sign.test(scope.text)).map(([code]) => code));
    known.set(scope, signs);
  }
  return signs;
}

/** What some file of the program says, the one at hand included. */
export function surroundings(program: Program, scope: ModuleScope): ReadonlySet<string> {
  return new Set([scope, ...(program.modules?.() ?? [])].flatMap((module) => [...signsOf(module)]));
}

/** Cautions that every edit shares; a fusion adds its own. */
export const GENERAL_CAUTIONS: readonly string[] = ['compile', 'autocast', 'dtensor', 'checkpoint-policy'];
