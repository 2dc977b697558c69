import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as path from 'node:path';

/** A Python with PyTorch: FUSELENS_PYTHON, else the environment that `npm run test:torch` makes; undefined where neither has it. */
export const TORCH_PYTHON = [process.env.FUSELENS_PYTHON, path.resolve(import.meta.dirname, '../../../.torch-venv/bin/python')]
  .find((file) => file !== undefined && existsSync(file) && spawnSync(file, ['-c', 'import torch']).status === 0);

/** Options of a container engine that show a container this Python and what it stands on, at the same paths; `/usr` is there already. */
export function pythonMounts(python: string): readonly string[] {
  const { stdout } = spawnSync(python, ['-c', 'import sys; print(sys.prefix); print(sys.base_prefix)'], { encoding: 'utf8' });
  return [...new Set(stdout.trim().split('\n'))].filter((folder) => folder !== '/usr').flatMap((folder) => ['-v', `${folder}:${folder}:ro`]);
}
