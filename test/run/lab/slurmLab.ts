import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import * as path from 'node:path';
import { freePort, until } from './sshLab';

/** Debian's Slurm with four virtual nodes on this machine, without systemd, cgroups or accounting. Needs root. */
export interface SlurmLab {
  /** For `RunSettings.setup`: where the configuration is. */
  readonly setup: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly nodes: readonly string[];
  readonly stopController: () => Promise<void>;
  readonly startController: () => void;
  readonly dispose: () => Promise<void>;
}

export const HAS_SLURM = ['slurmctld', 'slurmd', 'munged'].every((name) => existsSync(`/usr/sbin/${name}`));

const NODES = ['n1', 'n2', 'n3', 'n4'] as const;

export async function startSlurmLab(): Promise<SlurmLab> {
  const folder = mkdtempSync('/tmp/fl-slurm-');
  chmodSync(folder, 0o755);
  for (const name of ['munge', 'state', 'spool', 'log']) {
    mkdirSync(path.join(folder, name));
  }
  writeFileSync(path.join(folder, 'munge/key'), randomBytes(1024), { mode: 0o400 });
  writeFileSync(path.join(folder, 'fakegpu0'), '');
  writeFileSync(path.join(folder, 'fakegpu1'), '');
  const name = hostname().split('.')[0];
  const port = await freePort();
  const first = 17001 + port % 900 * 4;
  const conf = path.join(folder, 'slurm.conf');
  writeFileSync(conf, `ClusterName=lab
SlurmctldHost=${name}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${folder}/munge/sock
CryptoType=crypto/munge
SlurmctldPort=${port}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
GresTypes=gpu
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool/%n
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd.%n.pid
SlurmctldLogFile=${folder}/log/slurmctld.log
SlurmdLogFile=${folder}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MinJobAge=300
KillWait=5
SlurmdParameters=config_overrides
PropagateResourceLimits=NONE
NodeName=n[1-4] NodeHostname=${name} NodeAddr=127.0.0.1 Port=[${first}-${first + 3}] CPUs=2 RealMemory=4000 Gres=gpu:fake:2 State=UNKNOWN
PartitionName=debug Nodes=n[1-4] Default=YES MaxTime=01:00:00 State=UP
`);
  // `srun --container BUNDLE`; see `man oci.conf`.
  const runc = `"runc --root=${folder}/runc`;
  const task = '%n.%u.%j.%s.%t';
  writeFileSync(path.join(folder, 'oci.conf'), `RunTimeQuery=${runc} state ${task}"
RunTimeKill=${runc} kill -a ${task}"
RunTimeDelete=${runc} delete --force ${task}"
RunTimeRun=${runc} run ${task} -b %b"
`);
  writeFileSync(path.join(folder, 'gres.conf'), `NodeName=n[1-4] Name=gpu Type=fake File=${folder}/fakegpu[0-1]\n`);
  const munge = path.join(folder, 'munge');
  execFileSync('munged', ['--force', `--key-file=${munge}/key`, `--socket=${munge}/sock`, `--pid-file=${munge}/pid`, `--log-file=${munge}/log`, `--seed-file=${munge}/seed`], { stdio: 'ignore' });
  const environment = { SLURM_CONF: conf };
  const run = (file: string, ...args: readonly string[]): string => spawnSync(file, args, { encoding: 'utf8', env: { ...process.env, ...environment } }).stdout;
  const startController = (): void => { run('slurmctld', '-f', conf); };
  const pidOf = (file: string): number | undefined => (existsSync(path.join(folder, file)) ? Number(readFileSync(path.join(folder, file), 'utf8')) : undefined);
  const end = (file: string): void => {
    const pid = pidOf(file);
    try {
      if (pid !== undefined && pid > 1) {
        process.kill(pid, 'SIGTERM');
      }
    } catch {
      // Gone already.
    }
  };
  startController();
  for (const node of NODES) {
    run('slurmd', '-f', conf, '-N', node);
  }
  await until(() => /^4$/m.test(run('sinfo', '-h', '-t', 'idle', '-o', '%D')), `Slurm's nodes did not come up: ${run('sinfo')}`);
  return {
    setup: [`export SLURM_CONF=${conf}`], environment, nodes: NODES, startController,
    stopController: async () => {
      const pid = pidOf('slurmctld.pid');
      end('slurmctld.pid');
      await until(() => pid === undefined || !existsSync(`/proc/${pid}`), 'slurmctld did not end');
    },
    dispose: async () => {
      run('scancel', '-u', 'root');
      for (const file of readdirSync(folder).filter((entry) => /^slurmd\..*\.pid$/.test(entry))) {
        end(file);
      }
      end('slurmctld.pid');
      end('munge/pid');
      await until(() => !readdirSync(folder).some((entry) => entry.endsWith('.pid')), 'Slurm did not end', 20).catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
