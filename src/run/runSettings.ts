/**
 * What a run is: the fields of a `fuselens` task, the same in `tasks.json`, on the command line and in a run folder. Plain
 * data; absent means "not asked", never a default hidden elsewhere.
 */
export type Launcher = 'command' | 'torchrun' | 'slurm' | 'ray';

/** A container the command runs in. `prefix` is argv that starts it; `path` is the working directory as seen inside. */
export interface ContainerSettings {
  readonly prefix: readonly string[];
  readonly path?: string;
}

export interface SlurmSettings {
  readonly partition?: string;
  readonly account?: string;
  /** As Slurm reads it, e.g. `01:30:00`. */
  readonly time?: string;
  readonly gpusPerNode?: number;
  readonly cpusPerTask?: number;
  readonly array?: string;
  /** Each node runs torchrun with `procs` processes. Absent: `srun` starts `procs` tasks a node, with RANK and the like set. */
  readonly torchrun?: boolean;
  /** Further arguments of `sbatch`, each a whole argument. */
  readonly arguments?: readonly string[];
}

export interface RaySettings {
  /** Address of the dashboard as the host sees it; absent: `http://127.0.0.1:8265`. */
  readonly address?: string;
  readonly cpus?: number;
  readonly gpus?: number;
}

export interface CaptureSettings {
  /** First and last profiled optimizer step, from 1, both included; or steps and ranges with gaps between, as text: `3,5`, `3-5,9`. */
  readonly steps: readonly [number, number] | string;
  /** Steps before the first that run with the profiler on and are thrown away. */
  readonly warmup?: number;
  readonly stacks?: boolean;
  readonly shapes?: boolean;
  readonly memory?: boolean;
  /** Level of the Ascend profiler. */
  readonly level?: 0 | 1 | 2;
  /** Absent: all ranks. */
  readonly ranks?: readonly number[];
  /** One pass for timing and one with stacks. Absent: yes when stacks are asked for. */
  readonly twoPass?: boolean;
  /** How steps are profiled. Absent: our helper, which needs no change to the script. */
  readonly method?: 'helper' | 'xtuner' | 'dynamic' | 'nsys';
}

export interface SyncSettings {
  readonly push?: boolean;
  /** Rules as in `.gitignore`, after those of the folder itself. */
  readonly ignore?: readonly string[];
  /** Absent: what analysis needs. `trace`: the big traces too. `none`: analyse there. */
  readonly fetch?: 'analysis' | 'trace' | 'none';
}

export interface RunSettings {
  /** A name that `ssh` accepts. Absent: this machine. */
  readonly host?: string;
  readonly launcher: Launcher;
  readonly exec?: ContainerSettings;
  /** Absolute path on the host, or relative to the home folder there (here: to the workspace folder). */
  readonly workdir?: string;
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Shell lines run before the command, such as `source set_env.sh`. */
  readonly setup?: readonly string[];
  /** A number of nodes, or the hosts themselves (torchrun over a list of hosts). */
  readonly nodes?: number | readonly string[];
  /** Processes a node. */
  readonly procs?: number;
  /** `host:port` where several hosts find each other. Absent: the first host's address and a port made from the run's id. */
  readonly rendezvous?: string;
  readonly slurm?: SlurmSettings;
  readonly ray?: RaySettings;
  readonly capture?: CaptureSettings;
  readonly sync?: SyncSettings;
  readonly tokensPerStep?: number;
  readonly ranksPerCard?: number;
}
