/**
 * `npm run test:torch`: the tests that run models in PyTorch. Uses FUSELENS_PYTHON where it is set and has torch, else makes a
 * virtual environment in `.torch-venv` and installs PyTorch for the CPU into it, once, and says so. With `--prepare` it stops
 * there: the stories then verify with PyTorch as well.
 */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ensureDependencies, findTorch, hasTorch, root, torchFolder, torchFolderPython } from './environment.mjs';

const TORCH = 'torch==2.13.0';
const run = (command, args) => spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status === 0;

function pythonWithTorch() {
  const given = process.env.FUSELENS_PYTHON;
  if (given !== undefined) {
    return hasTorch(given) ? given : undefined;
  }
  const found = findTorch();
  if (found !== undefined) {
    return found;
  }
  console.log(`Installing ${TORCH} into .torch-venv (once) ...`);
  fs.rmSync(torchFolder, { recursive: true, force: true });
  return run('python3', ['-m', 'venv', torchFolder]) && run(torchFolderPython, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', TORCH]) ? torchFolderPython : undefined;
}

if (!ensureDependencies()) {
  process.exit(1);
}
const python = pythonWithTorch();
if (python === undefined) {
  console.error(`No Python with PyTorch: python3 with venv and pip is needed, or FUSELENS_PYTHON naming one that has ${TORCH}.`);
  process.exit(1);
}
if (process.argv.includes('--prepare')) {
  process.exit(0);
}
const files = fs.readdirSync(path.join(root, 'test/torch')).filter(file => file.endsWith('.test.ts')).map(file => path.join('test/torch', file));
const mocha = spawnSync(process.execPath, ['node_modules/mocha/bin/mocha.js', '--timeout', '600000', ...files], { cwd: root, stdio: 'inherit', env: { ...process.env, FUSELENS_TORCH: '1', FUSELENS_PYTHON: python } });
process.exitCode = mocha.status ?? 1;
