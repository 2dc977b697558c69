import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A real sshd on loopback (or inside a network namespace) with keys made for the occasion. */
export interface SshLab {
  /** 0755, so that other users can read what they must. */
  readonly folder: string;
  readonly port: number;
  /** For `RunTools.sshArguments`. */
  readonly sshArguments: readonly string[];
  /** Appends lines to the client's ssh config. */
  readonly configure: (lines: string) => void;
  readonly stopServer: () => Promise<void>;
  readonly startServer: () => Promise<void>;
  /** Ends the server's part of every connection, as a crash would; the server itself goes on. */
  readonly killConnections: () => void;
  readonly log: () => string;
  readonly dispose: () => Promise<void>;
}

export interface SshLabOptions {
  /** Address to listen on and to connect to. */
  readonly address?: string;
  /** Put before sshd and before ssh, such as `['ip', 'netns', 'exec', 'B']`. */
  readonly serverPrefix?: readonly string[];
  /** Further lines of sshd_config. */
  readonly server?: string;
  /** Set for every session; values without blanks. */
  readonly environment?: Readonly<Record<string, string>>;
}

export const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find((file) => existsSync(file));

/** A free port of loopback. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => { resolve(typeof address === 'object' && address !== null ? address.port : 0); });
    });
  });
}

/** Starts a server; the client reaches it as `lab` (this user), or as `lab-NAME` for users that `addUser` made. */
export async function startSshLab(options: SshLabOptions = {}): Promise<SshLab> {
  if (SSHD === undefined) {
    throw new Error('no sshd');
  }
  const { address = '127.0.0.1', serverPrefix = [] } = options;
  const folder = mkdtempSync('/tmp/fl-sshlab-');
  chmodSync(folder, 0o755);
  if (process.getuid?.() === 0) {
    mkdirSync('/run/sshd', { recursive: true });
  }
  for (const key of ['host', 'id']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path.join(folder, key)]);
  }
  cpSync(path.join(folder, 'id.pub'), path.join(folder, 'authorized'));
  chmodSync(path.join(folder, 'authorized'), 0o644);
  const port = await freePort();
  const home = path.join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  const user = spawnSync('id', ['-un'], { encoding: 'utf8' }).stdout.trim();
  const environment = Object.entries(options.environment ?? {}).map(([name, value]) => `${name}=${value}`).join(' ');
  const configFile = path.join(folder, 'config');
  writeFileSync(path.join(folder, 'sshd_config'), [
    `Port ${port}`, `ListenAddress ${address}`, `HostKey ${folder}/host`, `PidFile ${folder}/pid`, `AuthorizedKeysFile ${folder}/authorized`, 'StrictModes no', 'UsePAM no',
    'PasswordAuthentication no', 'KbdInteractiveAuthentication no', 'ClientAliveInterval 5', 'ClientAliveCountMax 2', 'MaxStartups 100', 'Subsystem sftp internal-sftp', options.server ?? '',
    environment === '' ? '' : `SetEnv ${environment}`,
    // A home of its own: what this user's shells do when they start is not what is tested (some of it waits for locks that a killed shell has left).
    `Match User ${user}`, `SetEnv HOME=${home} ${environment}`, '',
  ].join('\n'));
  const common = [` HostName ${address}`, ` Port ${port}`, ` IdentityFile ${folder}/id`, ' IdentitiesOnly yes', ` UserKnownHostsFile ${folder}/known`, ' GlobalKnownHostsFile /dev/null', ' StrictHostKeyChecking yes'];
  writeFileSync(configFile, ['Host lab lab-*', ...common, 'Host lab', ` User ${user}`, ''].join('\n'));
  writeFileSync(path.join(folder, 'known'), `[${address}]:${port} ${readFileSync(path.join(folder, 'host.pub'), 'utf8').split(' ').slice(0, 2).join(' ')}\n`);

  const pid = (): number | undefined => {
    try {
      return Number(readFileSync(path.join(folder, 'pid'), 'utf8'));
    } catch {
      // sshd takes it away as it ends.
      return undefined;
    }
  };
  const startServer = async (): Promise<void> => {
    const [file, ...args] = [...serverPrefix, SSHD, '-f', path.join(folder, 'sshd_config'), '-E', path.join(folder, 'log')];
    const child = spawn(file, args, { stdio: 'ignore' });
    await new Promise((resolve) => child.once('exit', resolve));
    await until(() => pid() !== undefined, 'sshd did not start');
  };
  const killConnections = (): void => {
    const server = pid();
    for (const child of server === undefined ? [] : descendants(server)) {
      try {
        process.kill(child, 'SIGKILL');
      } catch {
        // Gone already.
      }
    }
  };
  const stopServer = async (): Promise<void> => {
    const server = pid();
    if (server !== undefined) {
      killConnections();
      process.kill(server, 'SIGTERM');
      await until(() => pid() === undefined, 'sshd did not end');
    }
  };
  await startServer();
  return {
    folder, port, sshArguments: ['-F', configFile], startServer, stopServer, killConnections,
    configure: (lines) => { writeFileSync(configFile, `${lines}\n${readFileSync(configFile, 'utf8')}`); },
    log: () => readFileSync(path.join(folder, 'log'), 'utf8'),
    dispose: async () => {
      await stopServer();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** sshd's own processes of each connection; what the sessions started lies in sessions of its own and is left alone. */
function descendants(server: number): readonly number[] {
  const rows = spawnSync('ps', ['-eo', 'pid=,ppid=,comm='], { encoding: 'utf8' }).stdout.trim().split('\n').map((row) => row.trim().split(/\s+/));
  const found: number[] = [];
  const visit = (parent: number): void => {
    for (const [pid, ppid, name] of rows) {
      if (Number(ppid) === parent && name.startsWith('sshd')) {
        found.push(Number(pid));
        visit(Number(pid));
      }
    }
  };
  visit(server);
  return found;
}

/** Waits until something holds; the limit is generous, since a loaded machine is no failure. */
export async function until(holds: () => boolean | Promise<boolean>, otherwise: string, seconds = 60): Promise<void> {
  for (const end = Date.now() + seconds * 1000; ;) {
    if (await holds()) {
      return;
    }
    if (Date.now() > end) {
      throw new Error(otherwise);
    }
    await sleep(100);
  }
}

export interface LabUser {
  readonly name: string;
  readonly home: string;
  readonly remove: () => void;
}

/** An ordinary user with a login shell, while the tests run; needs root. `lab-NAME` reaches it. */
export function addUser(lab: SshLab, name: string, shell: string): LabUser {
  spawnSync('userdel', ['-r', name], { stdio: 'ignore' });
  execFileSync('useradd', ['-m', '-s', shell, name], { stdio: 'ignore' });
  // An account without a password counts as locked for sshd; `*` does not.
  execFileSync('usermod', ['-p', '*', name], { stdio: 'ignore' });
  lab.configure(`Host lab-${name}\n User ${name}`);
  return {
    name, home: `/home/${name}`,
    remove: () => {
      spawnSync('sh', ['-c', 'for p in $(ps -u "$1" -o pid=); do kill -s KILL "$p"; done', 'sh', name], { stdio: 'ignore' });
      spawnSync('userdel', ['-r', name], { stdio: 'ignore' });
    },
  };
}
