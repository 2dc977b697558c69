import { explainRunFailure, type FailureContext, type RunExplanation } from './failure';
import type { ArrayTasks, RunState } from './run';

/** How Slurm says that it was Slurm, not the command, that ended a job. See JOB STATE CODES in `man squeue`. */
const ENDED_BY_SLURM: readonly (readonly [RegExp, string])[] = [
  [/^(?:TIMEOUT|DEADLINE)/, 'error.run-slurm-timeout'],
  [/^OUT_OF_ME/, 'error.run-slurm-memory'],
  [/^(?:NODE_FAIL|BOOT_FAIL)/, 'error.run-slurm-node'],
  [/^PREEMPTED/, 'error.run-slurm-preempted'],
  [/^CANCELLED/, 'error.run-slurm-cancelled'],
];
/** More tasks would be a list nobody reads. */
const MOST_NAMED = 8;

/**
 * Why a run that has ended failed; undefined when it did not, or when a user stopped it. What Slurm says of a job's end goes before
 * what its output says, since the output ends in the middle of something else.
 */
export function explainRunEnd(state: RunState, tail: string, id: string, context: Omit<FailureContext, 'transport'> = {}): RunExplanation | undefined {
  const { phase, exit, stopped, queue, tasks } = state;
  if (phase === 'lost') {
    return { code: 'error.run-lost', args: { id }, raw: tail };
  }
  if (exit === 0 || stopped === true) {
    return undefined;
  }
  const bySlurm = ENDED_BY_SLURM.find(([pattern]) => queue !== undefined && pattern.test(queue.state))?.[1];
  if (bySlurm !== undefined) {
    return { code: bySlurm, args: { job: queue?.job ?? '' }, raw: tail };
  }
  const failed = failedTasks(tasks);
  if (tasks !== undefined && failed.length > 0) {
    const list = failed.slice(0, MOST_NAMED).map(([task, code]) => `${task} (${code})`).join(', ');
    return { code: 'error.run-array-failed', args: { count: failed.length, total: tasks.total, list: failed.length > MOST_NAMED ? `${list} …` : list }, raw: tail };
  }
  return explainRunFailure(tail, exit, { transport: false, ...context });
}

/** Number and exit code of the tasks that failed, in order. */
export function failedTasks(tasks: ArrayTasks | undefined): readonly (readonly [string, number])[] {
  return Object.entries(tasks?.exits ?? {}).filter(([, code]) => code !== 0).sort(([a], [b]) => Number(a) - Number(b));
}
