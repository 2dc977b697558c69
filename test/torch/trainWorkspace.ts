import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as path from 'node:path';
import { root } from '../../scripts/environment.mjs';

export interface Trained {
  readonly losses: readonly number[];
  readonly finite: boolean;
  /** Packages a reference stood in for. */
  readonly references: readonly string[];
}

/** Trains the sample's workspace for four steps; packages that are not installed are replaced by the references that verify uses. */
export function trainWorkspace(python: string, workspace: string): Trained {
  const result = spawnSync(python, ['-W', 'ignore', path.join(root, 'test/torch/train_workspace.py'), workspace, path.join(root, 'media/python/verify/reference')], { encoding: 'utf8' });
  assert.equal(result.status, 0, result.stderr);
  return JSON.parse(result.stdout) as Trained;
}

/** The same training but for rounding: it learns, and each loss lies within a few bf16 steps of the other's. */
export function assertTrainsAlike(before: Trained, after: Trained): void {
  assert.ok(after.finite && after.losses.every(Number.isFinite), after.losses.join(' '));
  assert.ok(after.losses[after.losses.length - 1] < after.losses[0], after.losses.join(' '));
  after.losses.forEach((loss, step) => assert.ok(Math.abs(loss - before.losses[step]) <= 2 ** -7 * Math.abs(before.losses[step]), `step ${step}: ${loss} instead of ${before.losses[step]}`));
}
