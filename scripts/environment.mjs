/** What this machine can run, and the one line that would make the rest run. Imports nothing from node_modules. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';

export const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..');
/** Git-ignored: the VS Code server, and where test servers, workspaces and screenshots of a run live. */
export const hostFolder = path.join(root, '.vscode-host');
export const runFolder = path.join(root, '.e2e');

const APT = 'apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core fonts-noto-cjk';

/** Whether an interpreter can import PyTorch. */
export const hasTorch = python => spawnSync(python, ['-c', 'import torch'], { stdio: 'ignore' }).status === 0;

/** The environment that `npm run test:torch` makes. */
export const torchFolder = path.join(root, '.torch-venv');
export const torchFolderPython = path.join(torchFolder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');

/** An interpreter with PyTorch, as far as one is there already: FUSELENS_PYTHON, else the one of `npm run test:torch`. */
export function findTorch() {
  return [process.env.FUSELENS_PYTHON, torchFolderPython].find(file => file !== undefined && file !== '' && hasTorch(file));
}

/** Path of a Chromium or Chrome, undefined when there is none. */
export function findChromium() {
  const names = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable'];
  return [process.env.FUSELENS_CHROMIUM, ...names].find(file => file !== undefined && file !== '' && fs.existsSync(file));
}

function run(command, args, options = {}) {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], cwd: root, ...options });
  return status === 0;
}

/** Why a VS Code server cannot run here, or undefined. */
export function serverObstacle() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { reason: `the VS Code server of the tests runs on Linux x64, this is ${process.platform} ${process.arch}`, remedy: 'npm test -- --desktop' };
  }
  if (process.report?.getReport().header.glibcVersionRuntime === undefined) {
    return { reason: 'the VS Code server of the tests needs glibc', remedy: 'npm test -- --desktop' };
  }
  return undefined;
}

/** Installs the VS Code server if it is absent. Returns an obstacle or undefined. */
export function ensureServer() {
  const obstacle = serverObstacle();
  if (obstacle !== undefined) {
    return obstacle;
  }
  if (!run('bash', [path.join(root, 'scripts/ensure-vscode-host.sh'), hostFolder])) {
    return { reason: 'the VS Code server could not be installed (see above)', remedy: `bash scripts/ensure-vscode-host.sh ${hostFolder}` };
  }
  return undefined;
}

/** Makes sure there is a Chromium; as root on Debian it is installed. Returns an obstacle or undefined. */
export function ensureChromium() {
  if (findChromium() !== undefined) {
    return undefined;
  }
  const hasApt = fs.existsSync('/usr/bin/apt-get');
  if (!hasApt) {
    return { reason: 'no Chromium was found', remedy: 'FUSELENS_CHROMIUM=/path/to/chromium npm test' };
  }
  if (process.getuid?.() !== 0) {
    return { reason: 'no Chromium was found', remedy: `sudo sh -c '${APT}'` };
  }
  console.log('Installing Debian\'s chromium and fonts (by apt-get, once) ...');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const wait = ['-o', 'DPkg::Lock::Timeout=600', '-qq'];
  run('apt-get', ['update', ...wait], { env });
  run('apt-get', ['install', '-y', '--no-install-recommends', ...wait, 'chromium', 'fonts-dejavu-core', 'fonts-noto-cjk'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  return findChromium() === undefined ? { reason: 'Chromium could not be installed', remedy: APT } : undefined;
}

/** True when node_modules holds what package-lock.json asks for. */
export function dependenciesFresh() {
  const read = file => JSON.parse(fs.readFileSync(path.join(root, file), 'utf8')).packages;
  try {
    const installed = read('node_modules/.package-lock.json');
    return Object.entries(read('package-lock.json')).every(([name, { version, optional, devOptional }]) =>
      name === '' || optional === true || devOptional === true || installed[name]?.version === version);
  } catch {
    return false;
  }
}

/** Runs `npm ci` when node_modules is absent or stale, and says so. Nothing we use needs an install script. */
export function ensureDependencies() {
  if (dependenciesFresh()) {
    return true;
  }
  console.log('Installing the npm packages of package-lock.json into node_modules (npm ci) ...');
  return run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { shell: process.platform === 'win32' });
}
