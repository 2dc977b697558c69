/** What to know before an edit that is right by itself: `fuse.caution.<code>`. */
import type { Program } from '../python/program';

/** Frameworks that sample with one engine and train with another. */
const ROLLOUT = /^\s*(?:import|from)\s+(verl|trl|openrlhf|vllm|sglang|lmdeploy|slime|areal)\b|XTUNER_USE_(?:VLLM|SGLANG|LMDEPLOY)/m;

const known = new WeakMap<Program, boolean>();

/**
 * Whether the program trains by reinforcement learning with a rollout engine of its own: a trainer that rounds in other
 * places than the sampler shifts the ratio of their probabilities.
 */
export function usesRollout(program: Program, text: string): boolean {
  let answer = known.get(program);
  if (answer === undefined) {
    answer = [...(program.modules?.() ?? [])].some((module) => ROLLOUT.test(module.text));
    known.set(program, answer);
  }
  return answer || ROLLOUT.test(text);
}
