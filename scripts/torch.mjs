/**
 * `npm run test:torch`: the tests that run models in PyTorch. Uses FUSELENS_PYTHON where it is set and has torch, else makes a
 * virtual environment in `.torch-venv` and installs PyTorch for the CPU into it, once, and says so.
 */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ensureDependencies, root } from './environment.mjs';

const TORCH = 'torch==2.13.0';
const run = (command, args, quiet = false) => spawnSync(command, args, { cwd: root, stdio: quiet ? 'ignore' : 'inherit' }).status === 0;
const hasTorch = python => run(python, ['-c', 'import torch'], true);

function pythonWithTorch() {
  const given = process.env.FUSELENS_PYTHON;
  if (given !== undefined) {
    return hasTorch(given) ? given : undefined;
  }
  const folder = path.join(root, '.torch-venv');
  const own = path.join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  if (fs.existsSync(own) && hasTorch(own)) {
    return own;
  }
  console.log(`Installing ${TORCH} into .torch-venv (once) ...`);
  fs.rmSync(folder, { recursive: true, force: true });
  return run('python3', ['-m', 'venv', folder]) && run(own, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', TORCH]) ? own : undefined;
}

if (!ensureDependencies()) {
  process.exit(1);
}
const python = pythonWithTorch();
if (python === undefined) {
  console.error(`No Python with PyTorch: python3 with venv and pip is needed, or FUSELENS_PYTHON naming one that has ${TORCH}.`);
  process.exit(1);
}
const files = fs.readdirSync(path.join(root, 'test/torch')).filter(file => file.endsWith('.test.ts')).map(file => path.join('test/torch', file));
const mocha = spawnSync(process.execPath, ['node_modules/mocha/bin/mocha.js', '--timeout', '600000', ...files], { cwd: root, stdio: 'inherit', env: { ...process.env, FUSELENS_TORCH: '1', FUSELENS_PYTHON: python } });
process.exitCode = mocha.status ?? 1;
