import { explainRunFailure, RunFailure } from './failure';
import type { Shell } from './shell';

/** What a host has, asked once a session. */
export interface HostFacts {
  readonly home: string;
  /** `Linux`, `Darwin`, … */
  readonly system: string;
  readonly machine: string;
  /** First address, for other hosts of a cluster. */
  readonly address: string | undefined;
  readonly programs: ReadonlySet<string>;
}

const PROGRAMS = ['bash', 'setsid', 'rsync', 'tar', 'gzip', 'node', 'python3', 'sbatch', 'ray', 'git'] as const;

const SCRIPT = `printf 'home=%s\\n' "$HOME"
printf 'system=%s\\nmachine=%s\\n' "$(uname -s)" "$(uname -m)"
printf 'address=%s\\n' "$(hostname -I 2>/dev/null | cut -d' ' -f1)"
for p in ${PROGRAMS.join(' ')}; do command -v "$p" >/dev/null 2>&1 && printf 'program=%s\\n' "$p"; done; :`;

const known = new WeakMap<Shell, Promise<HostFacts>>();

/** Rejects with `RunFailure` when the host cannot be asked. */
export function hostFacts(shell: Shell, signal?: AbortSignal): Promise<HostFacts> {
  const asked = known.get(shell) ?? ask(shell, signal);
  known.set(shell, asked);
  asked.catch(() => { known.delete(shell); });
  return asked;
}

async function ask(shell: Shell, signal: AbortSignal | undefined): Promise<HostFacts> {
  const { exit, stdout, stderr } = await shell.run(SCRIPT, signal === undefined ? {} : { signal });
  const lines = stdout.split('\n').map((line) => [line.slice(0, Math.max(0, line.indexOf('='))), line.slice(line.indexOf('=') + 1)] as const);
  const value = (key: string): string | undefined => lines.find(([name]) => name === key)?.[1];
  const home = value('home');
  if (home === undefined || home === '') {
    throw new RunFailure(explainRunFailure(stderr, exit, shell.host === undefined ? {} : { host: shell.host }));
  }
  const address = value('address');
  return {
    home, system: value('system') ?? '', machine: value('machine') ?? '', address: address === '' ? undefined : address,
    programs: new Set(lines.filter(([name]) => name === 'program').map(([, program]) => program)),
  };
}

/** A path on a host, made absolute: relative ones and `~/…` start at the home folder. */
export function absoluteThere(home: string, path: string): string {
  const plain = path === '~' ? '' : path.startsWith('~/') ? path.slice(2) : path;
  return plain.startsWith('/') ? plain : plain === '' || plain === '.' ? home : `${home.replace(/\/$/, '')}/${plain.replace(/^\.\//, '')}`;
}
