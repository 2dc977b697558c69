import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { until } from './sshLab';

export type EngineName = 'podman' | 'docker';

/** Real container engines that keep everything in one folder and in a mount namespace of their own: what is left of them ends with both. */
export interface ContainerLab {
  readonly folder: string;
  /** Enters the namespace: for the sshd whose sessions use the engines. */
  readonly serverPrefix: readonly string[];
  /** For the sessions of that sshd: where the engines' settings are. */
  readonly environment: Readonly<Record<string, string>>;
  /** A folder of this machine; the containers of the `full` image see it as `/work`. */
  readonly work: string;
  /** A folder for `runc`: `config.json` and the `full` image. */
  readonly bundle: () => string;
  /** Runs an engine's program to its end; throws with what it printed when it fails. */
  readonly engine: (name: EngineName, ...args: readonly string[]) => string;
  readonly dispose: () => Promise<void>;
}

/** What has to be installed for an engine; see `scripts/remote.mjs`. */
const PROGRAMS: Readonly<Record<EngineName, readonly string[]>> = { podman: ['podman', 'crun'], docker: ['dockerd', 'docker', 'runc'] };
const has = (program: string): boolean => [...(process.env.PATH ?? '').split(':'), '/usr/sbin'].some((folder) => existsSync(path.join(folder, program)));
export const hasEngine = (name: EngineName): boolean => process.getuid?.() === 0 && existsSync('/bin/busybox') && PROGRAMS[name].every(has);

/**
 * Images, each of a few hundred files: `full` has this machine's /usr (with `FULL`), so bash and Python; `small` is BusyBox, without
 * both; `bare` has not even a shell.
 */
export const FULL = ['-v', '/usr:/usr:ro'] as const;
export const IMAGES = { full: 'fuselens-full', small: 'fuselens-small', bare: 'fuselens-bare' } as const;

export async function startContainerLab(engines: readonly EngineName[]): Promise<ContainerLab> {
  const folder = mkdtempSync('/tmp/fl-containers-');
  chmodSync(folder, 0o755);
  const work = path.join(folder, 'work');
  mkdirSync(work);
  // Some kernels show both generations of cgroups, which crun refuses; what is unmounted here stays mounted for everybody else.
  const holder = spawn('unshare', ['-m', 'sh', '-c', 'umount /sys/fs/cgroup/unified 2>/dev/null; : > "$1"; exec sleep infinity', 'sh', path.join(folder, 'ready')], { stdio: 'ignore' });
  await until(() => existsSync(path.join(folder, 'ready')), 'the mount namespace did not come up');
  const serverPrefix = ['nsenter', '-t', String(holder.pid), '-m', '--'];
  writeSettings(folder);
  const environment = { CONTAINERS_CONF: path.join(folder, 'containers.conf'), CONTAINERS_STORAGE_CONF: path.join(folder, 'storage.conf'), DOCKER_HOST: `unix://${folder}/docker.sock`, DOCKER_CONFIG: folder };
  const call = (argv: readonly string[], input?: Buffer): string => {
    const [file, ...args] = [...serverPrefix, ...argv];
    const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8', env: { ...process.env, ...environment }, ...(input === undefined ? {} : { input }) });
    if (status !== 0) {
      throw new Error(`${argv.join(' ')}: ${stderr}`);
    }
    return stdout.trim();
  };
  const daemon = engines.includes('docker') ? startDocker(folder, serverPrefix) : undefined;
  const dispose = async (): Promise<void> => {
    for (const name of engines) {
      try {
        const left = call([name, 'ps', '-aq']).split('\n').filter((id) => id !== '');
        call(left.length === 0 ? ['true'] : [name, 'rm', '-f', ...(name === 'podman' ? ['-t', '0'] : []), ...left]);
      } catch (error) {
        console.log(error instanceof Error ? error.message : error);
      }
    }
    await ended(daemon, 'SIGTERM');
    await ended(holder, 'SIGKILL');
    // The engines' last helpers may be about to end.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  };
  try {
    if (daemon !== undefined) {
      await until(() => existsSync(`${folder}/docker.sock`), `dockerd did not come up: ${existsSync(`${folder}/dockerd.log`) ? readFileSync(`${folder}/dockerd.log`, 'utf8').slice(-2000) : ''}`, 30);
    }
    makeRoots(folder);
    for (const [root, image] of Object.entries(IMAGES)) {
      const tar = spawnSync('tar', ['-C', path.join(folder, 'roots', root), '-c', '.'], { maxBuffer: 1e8 }).stdout;
      engines.forEach((name) => call([name, 'import', '-', image], tar));
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  return { folder, serverPrefix, environment, work, bundle: () => makeBundle(folder), engine: (name, ...args) => call([name, ...args]), dispose };
}

/** No network of their own, no limits above those of this process (which may not raise them), and files copied rather than layered. */
function writeSettings(folder: string): void {
  writeFileSync(path.join(folder, 'containers.conf'), `[containers]
netns = "host"
default_ulimits = ["nofile=${openFiles()}", "nproc=1000:1000"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "crun"
`);
  writeFileSync(path.join(folder, 'config.json'), '{}');
  writeFileSync(path.join(folder, 'storage.conf'), `[storage]
driver = "vfs"
runroot = "${folder}/podman-run"
graphroot = "${folder}/podman"
`);
}

function openFiles(): string {
  const found = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
  return found === null ? '1024:1024' : `${found[1]}:${found[1]}`;
}

function startDocker(folder: string, serverPrefix: readonly string[]): ChildProcess {
  const [file, ...args] = [...serverPrefix, 'sh', '-c', 'exec dockerd "$@" > "$0" 2>&1', `${folder}/dockerd.log`,
    '--host', `unix://${folder}/docker.sock`, '--data-root', `${folder}/docker`, '--exec-root', `${folder}/docker-run`, '--pidfile', `${folder}/docker.pid`,
    '--bridge', 'none', '--iptables=false', '--ip6tables=false', '--storage-driver', 'vfs', '--default-ulimit', `nofile=${openFiles()}`];
  return spawn(file, args, { stdio: 'ignore' });
}

function makeRoots(folder: string): void {
  for (const root of Object.keys(IMAGES)) {
    for (const name of ['bin', 'dev', 'etc', 'proc', 'root', 'sys', 'tmp', 'usr', 'var', 'work']) {
      mkdirSync(path.join(folder, 'roots', root, name), { recursive: true });
    }
    chmodSync(path.join(folder, 'roots', root, 'tmp'), 0o1777);
  }
  const at = (root: string, file: string): string => path.join(folder, 'roots', root, file);
  rmSync(at('full', 'bin'), { recursive: true });
  ['bin', 'sbin', 'lib', 'lib64'].forEach((name) => { symlinkSync(`usr/${name}`, at('full', name)); });
  copyFileSync('/etc/ld.so.cache', at('full', 'etc/ld.so.cache'));
  writeFileSync(at('full', 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  copyFileSync('/bin/busybox', at('small', 'bin/busybox'));
  for (const name of spawnSync('/bin/busybox', ['--list'], { encoding: 'utf8' }).stdout.split('\n').filter((one) => one !== '' && one !== 'busybox')) {
    symlinkSync('busybox', at('small', `bin/${name}`));
  }
  copyFileSync('/bin/busybox', at('bare', 'bin/pause'));
  symlinkSync('pause', at('bare', 'bin/sleep'));
}

/** As `runc spec` makes it, with this machine's /usr, the folder `work`, and without a terminal or limits. */
function makeBundle(folder: string): string {
  const bundle = path.join(folder, 'bundle');
  if (existsSync(bundle)) {
    return bundle;
  }
  mkdirSync(bundle);
  // No link: runc wants a folder of its own.
  cpSync(path.join(folder, 'roots/full'), path.join(bundle, 'rootfs'), { recursive: true, verbatimSymlinks: true });
  execFileSync('runc', ['spec', '--bundle', bundle]);
  const file = path.join(bundle, 'config.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { process: { terminal: boolean; rlimits?: unknown }; root: { path: string; readonly: boolean }; mounts: unknown[]; linux: { namespaces: { type: string }[] } };
  config.process.terminal = false;
  delete config.process.rlimits;
  config.root = { path: 'rootfs', readonly: false };
  config.mounts.push(...[['/usr', '/usr', 'ro'], [path.join(folder, 'work'), '/work', 'rw']].map(([source, destination, mode]) => ({ source, destination, type: 'bind', options: ['rbind', mode] })));
  config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== 'network');
  writeFileSync(file, JSON.stringify(config));
  return bundle;
}

async function ended(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const over = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await over;
}
