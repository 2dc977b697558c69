import type { MessageArguments } from '../engine/profile/problems';
import type { CaptureSettings, RunSettings } from './runSettings';

/** `starting`: the folder is there, nothing runs yet; `lost`: it runs no more and nobody wrote down how it ended (host restarted, killed). */
export type RunPhase = 'starting' | 'queued' | 'running' | 'exited' | 'lost';

/** What a batch system says of a job. */
export interface QueueState {
  /** Job id of Slurm or submission id of Ray. */
  readonly job: string;
  /** In the system's own words, e.g. `PENDING`, `RUNNING`, `TIMEOUT`. */
  readonly state: string;
  /** Why it waits or how it ended, in the system's own words. */
  readonly reason?: string;
  /** A sentence for the reason, where we know it. */
  readonly explanation?: { readonly code: string; readonly args: MessageArguments };
  /** Jobs before it in the queue. */
  readonly ahead?: number;
  /** Expected start, in the host's local time as the system prints it. */
  readonly startEstimate?: string;
  readonly nodes?: string;
}

/** Tasks of an array by their number: how many there are and run, the exit code of each that ended, and what Slurm says of the others. */
export interface ArrayTasks {
  readonly total: number;
  readonly running: number;
  readonly exits: Readonly<Record<string, number>>;
  /** Only those in the queue. */
  readonly live: Readonly<Record<string, Pick<QueueState, 'state' | 'reason' | 'explanation' | 'nodes'>>>;
}

export interface RunState {
  readonly phase: RunPhase;
  /** 128 + n for signal n. Only when `exited`; an array's is its worst task's. */
  readonly exit?: number;
  /** A user stopped it. */
  readonly stopped?: boolean;
  /** Bytes of output so far. */
  readonly logBytes: number;
  readonly pid?: number;
  /** Seconds since it began, by the host's clock. */
  readonly elapsedSeconds?: number;
  readonly queue?: QueueState;
  readonly tasks?: ArrayTasks;
}

/** Where a run's output came from: several hosts have several logs, each with offsets of its own. */
export interface LogChunk {
  readonly host: string | undefined;
  /** Byte offset of `bytes` in that host's log. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface FollowOptions {
  readonly signal?: AbortSignal;
  /** Byte offset to go on from, for each host by its name (`''` is this machine); absent: from the beginning. */
  readonly offsets?: Readonly<Record<string, number>>;
  /** Every byte of output exactly once, in order (per host). */
  readonly onOutput: (chunk: LogChunk) => void | Promise<void>;
  /** The connection was lost (`reconnected: false`, with why) or is back. Following goes on by itself. */
  readonly onConnection?: (event: { readonly host: string | undefined; readonly reconnected: boolean; readonly failure?: Error }) => void;
  /** Queue state or phase changed. */
  readonly onState?: (state: RunState) => void;
  /** Give up after so many seconds without a connection; absent: never. */
  readonly giveUpAfterSeconds?: number;
}

export interface StopResult {
  readonly exit: number | undefined;
  /** Processes that had to be killed after the time given to them, and those still there. */
  readonly killed: readonly number[];
  readonly left: readonly number[];
}

/** One run, on a host or on several: a handle, no connection. Losing it changes nothing about the run. */
export interface Run {
  readonly id: string;
  /** Hosts it runs on; the first is rank 0's. `[undefined]` is this machine. */
  readonly hosts: readonly (string | undefined)[];
  /** Absolute path of its folder on the (first) host. */
  readonly folder: string;
  readonly record: RunRecord;
  readonly state: (options?: { readonly signal?: AbortSignal; readonly quiet?: boolean }) => Promise<RunState>;
  /** Streams output until the run has ended; survives lost connections. Resolves with the final state; an abort detaches (`Cancelled`). */
  readonly follow: (options: FollowOptions) => Promise<RunState>;
  /** Ends every process of the run, in containers and on all hosts too; torchrun gets 35 s to end its ranks before the kill. */
  readonly stop: (options?: { readonly graceSeconds?: number; readonly signal?: AbortSignal }) => Promise<StopResult>;
}

/** `settings.json` of a run folder. */
export interface RunRecord {
  readonly schema: 'fuselens-run/1';
  readonly id: string;
  readonly name: string;
  readonly settings: RunSettings;
  /** UTC, ISO 8601, by the clock of who started it. */
  readonly startedAt: string;
  /** Hosts of a run over several (`''` is this machine), rank 0's first. */
  readonly hosts?: readonly string[];
  /** Working directory on the (first) host, absolute. */
  readonly workdir?: string;
  readonly provenance?: Provenance;
  /** What the next pass of this capture records: the editor starts it where it follows this run to its end, once. */
  readonly nextPass?: CaptureSettings;
}

/** What the code was. */
export interface Provenance {
  /** Full commit id; undefined outside a repository. */
  readonly commit?: string;
  readonly branch?: string;
  /** SHA-256 of `git diff HEAD` and the untracked files, as hex; undefined when nothing was changed. */
  readonly diffHash?: string;
  /** Changed and new files, workspace-relative. */
  readonly changedFiles?: readonly string[];
  /** Whether `patch.diff` in the run folder holds the difference (it was small enough). */
  readonly patchKept?: boolean;
}

/** What a capture (or whoever else) adds to a run without touching the user's settings. Called with absolute paths as the job sees them. */
export interface RunAddition {
  readonly env?: Readonly<Record<string, string>>;
  /** Put in front of a path-like variable: `{ PYTHONPATH: '/…/files' }`. */
  readonly prependPaths?: Readonly<Record<string, string>>;
  /** Further `setup` lines, run last. */
  readonly setup?: readonly string[];
  /** argv instead of `command` and `args`, e.g. with `nsys profile` in front. */
  readonly argv?: readonly string[];
}

/** A file that travels with the run: lies in `filesFolder` where the job runs, in a container too. */
export interface RunFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly content: string;
}

export interface StartOptions {
  readonly signal?: AbortSignal;
  /** Absent: made from time and chance. Starting the same id twice starts nothing the second time. */
  readonly id?: string;
  /** How it is called in lists; absent: made from the command. */
  readonly name?: string;
  /** The local folder whose commit and changes are written down, and in which relative workdirs of local runs lie. */
  readonly workspace?: string;
  /** See `RunRecord`. */
  readonly nextPass?: CaptureSettings;
  readonly files?: readonly RunFile[];
  /** `workdir` and `filesFolder` are absolute, as the job sees them (inside the container). */
  readonly add?: (place: { readonly id: string; readonly filesFolder: string; readonly workdir: string }) => RunAddition;
}

/** One row of `listRuns`, read in one go. */
export interface RunSummary {
  readonly id: string;
  readonly folder: string;
  readonly host: string | undefined;
  readonly record: RunRecord | undefined;
  readonly state: RunState;
}

export { Hosts } from './hosts';
export { newRunId, pushedFolder, startRun } from './startRun';
export { attachRun, handleOf, listRuns } from './listRuns';
