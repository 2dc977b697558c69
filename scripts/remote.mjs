/**
 * `npm run test:remote [-- --grep TEXT] [FILE.remote.ts]`: runs over a real sshd, Slurm, Ray, Podman and Docker on this machine, with keys made for
 * the occasion, the whole round with PyTorch, where `npm run test:torch -- --prepare` has put it, and Slurm's jobs as the editor
 * shows them. As root on Debian it installs what is missing (and says so); elsewhere a part that cannot run is skipped and named.
 * With `--prepare` it only installs.
 */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ensureChromium, ensureDependencies, ensureServer, findTorch, root } from './environment.mjs';

const PACKAGES = { sshd: 'openssh-server', ip: 'iproute2', ps: 'procps', rsync: 'rsync', zsh: 'zsh', fish: 'fish', tcsh: 'tcsh', slurmctld: 'slurm-wlm', munged: 'munge', git: 'git', python3: 'python3' };
/** Apart from the others: another distribution may call these otherwise, and then nothing at all would be installed. */
const CONTAINERS = { podman: 'podman', crun: 'crun', dockerd: 'docker.io', runc: 'runc', busybox: 'busybox-static' };
const FOLDERS = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin'];
const has = program => FOLDERS.some(folder => fs.existsSync(path.join(folder, program)));
const missing = programs => Object.keys(programs).filter(program => !has(program));
const run = (command, args, options = {}) => spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options }).status === 0;

function installPrograms() {
  const groups = [PACKAGES, CONTAINERS].map(programs => missing(programs).map(program => programs[program])).filter(names => names.length > 0);
  if (groups.length === 0 || process.getuid?.() !== 0 || !has('apt-get')) {
    return;
  }
  console.log(`Installing from Debian, once: ${groups.flat().join(' ')} ...`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const wait = ['-o', 'DPkg::Lock::Timeout=600', '-qq'];
  const apt = args => run('apt-get', [...args, ...wait], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  apt(['update']);
  groups.forEach(names => apt(['install', '-y', '--no-install-recommends', ...names]));
}

/** Folder with `ray` in it: FUSELENS_RAY, or a virtual environment of our own. */
function rayFolder() {
  const given = process.env.FUSELENS_RAY;
  if (given !== undefined) {
    return given;
  }
  const folder = path.join(root, '.ray-venv');
  const bin = path.join(folder, 'bin');
  if (!fs.existsSync(path.join(bin, 'ray'))) {
    console.log('Installing Ray from PyPI into .ray-venv, once ...');
    fs.rmSync(folder, { recursive: true, force: true });
    const made = run('python3', ['-m', 'venv', folder]) && run(path.join(bin, 'python'), ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', 'ray[default]>=2.40']);
    if (!made) {
      return undefined;
    }
  }
  return bin;
}

if (!ensureDependencies()) {
  process.exit(1);
}
if (process.platform !== 'linux') {
  console.log(`The remote tests need Linux, this is ${process.platform}: skipped.`);
  process.exit(0);
}
installPrograms();
const absent = missing(PACKAGES);
if (absent.includes('sshd')) {
  console.log(`The remote tests need sshd: skipped. To run them: sudo apt-get install ${PACKAGES.sshd}`);
  process.exit(process.env.CI === undefined ? 0 : 1);
}
absent.forEach(program => console.log(`${program} is not installed (Debian: ${PACKAGES[program]}): its tests are skipped.`));
missing(CONTAINERS).forEach(program => console.log(`${program} is not installed: tests with containers are skipped. To run them: sudo apt-get install ${CONTAINERS[program]}`));
if (process.getuid?.() !== 0) {
  console.log('Not root: tests with other users, network namespaces, small disks, Slurm, Podman and Docker are skipped.');
}
const python = findTorch();
if (python === undefined) {
  console.log('No Python with PyTorch: torchrun and the whole round are left out. To run them: npm run test:torch -- --prepare');
}
const ray = rayFolder();
if (ray === undefined) {
  console.log('Ray could not be installed: its tests are skipped.');
}
if (process.argv.includes('--prepare')) {
  process.exit(0);
}
const options = process.argv.slice(2);
const files = options.filter(option => option.endsWith('.remote.ts'));
/** The story in the editor takes the package, as all stories do; the build that goes with it serves the others as well. */
const withEditor = (files.length === 0 || files.some(file => file.endsWith('Story.remote.ts'))) && process.getuid?.() === 0 && !absent.includes('slurmctld');
const obstacle = withEditor ? ensureServer() ?? ensureChromium() : undefined;
if (obstacle !== undefined) {
  console.log(`Slurm in the editor is left out, ${obstacle.reason}. To run it: ${obstacle.remedy}`);
}
const editor = withEditor && obstacle === undefined;
if (!run(process.execPath, [editor ? 'scripts/package.mjs' : 'esbuild.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] })) {
  process.exit(1);
}
const folder = path.join(root, 'test/run/remote');
const all = fs.readdirSync(folder).filter(file => file.endsWith('.remote.ts')).sort().map(file => path.join('test/run/remote', file));
const mocha = spawnSync(process.execPath, ['node_modules/mocha/bin/mocha.js', '--timeout', '300000', '--retries', '1',
  // Here nothing may be skipped.
  ...(process.env.CI === undefined ? [] : ['--forbid-pending']), ...options.filter(option => !option.endsWith('.remote.ts')), ...(files.length > 0 ? files : all)], {
  cwd: root, stdio: 'inherit', env: { ...process.env, ...(ray === undefined ? {} : { FUSELENS_RAY: ray }), ...(python === undefined ? {} : { FUSELENS_PYTHON: python }), ...(editor ? { FUSELENS_EDITOR: '1' } : {}) },
});
process.exitCode = mocha.status ?? 1;
