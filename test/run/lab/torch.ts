import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as path from 'node:path';

/** A Python with PyTorch: FUSELENS_PYTHON, else the environment that `npm run test:torch` makes; undefined where neither has it. */
export const TORCH_PYTHON = [process.env.FUSELENS_PYTHON, path.resolve(import.meta.dirname, '../../../.torch-venv/bin/python')]
  .find((file) => file !== undefined && existsSync(file) && spawnSync(file, ['-c', 'import torch']).status === 0);
