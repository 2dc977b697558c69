import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import * as path from 'node:path';

/** A Ray head on loopback, from the environment that `scripts/remote.mjs` made. */
export interface RayLab {
  readonly address: string;
  /** For `RunSettings.setup`. */
  readonly setup: readonly string[];
  readonly dispose: () => void;
}

/** Folder with `ray` in it, where there is one. */
export const RAY_BIN = [process.env.FUSELENS_RAY].find((folder) => folder !== undefined && existsSync(path.join(folder, 'ray')));

export function startRayLab(): RayLab {
  if (RAY_BIN === undefined) {
    throw new Error('no Ray');
  }
  const folder = mkdtempSync('/tmp/fl-ray-');
  const env = { ...process.env, PATH: `${RAY_BIN}:${process.env.PATH ?? ''}`, RAY_USAGE_STATS_ENABLED: '0' };
  // Ray's own workers take ports 10002 to 19999.
  const { status, stdout, stderr } = spawnSync('ray', ['start', '--head', '--node-ip-address', '127.0.0.1', '--port', '6397', '--dashboard-host', '127.0.0.1', '--dashboard-port', '28267', '--include-dashboard', 'true', '--num-cpus', '2', '--object-store-memory', '100000000', '--temp-dir', folder, '--disable-usage-stats'], { env, encoding: 'utf8' });
  if (status !== 0) {
    throw new Error(`ray start: ${stdout}${stderr}`);
  }
  return {
    address: 'http://127.0.0.1:28267', setup: [`export PATH=${RAY_BIN}:$PATH`],
    dispose: () => {
      // Only the processes of this head: a `ray stop` would end others as well.
      spawnSync('sh', ['-c', 'for p in $(ps -eo pid=,args= | grep -F "$1" | grep -vF "grep -F" | sed "s/^ *//" | cut -d" " -f1); do [ "$p" = "$$" ] || kill -s KILL "$p"; done', 'sh', folder], { stdio: 'ignore' });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
