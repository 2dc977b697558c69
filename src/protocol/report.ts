/** The JSON of `fuselens analyze` (`"schema": "fuselens/1"`): times in microseconds relative to `baseNs`; unknown = null. */
import type { FingerprintEntry } from './fingerprints';

export interface KernelFigures {
  /** Null, like all below, where no kernels were recorded that could be read: their number is unknown, not 0. */
  readonly count: number | null;
  /** Kernels with a known start and duration: the base of every time below. */
  readonly timedCount: number | null;
  readonly totalUs: number | null;
  readonly spanUs: number | null;
  readonly busyUs: number | null;
  readonly idleUs: number | null;
  readonly p50Us: number | null;
  readonly p90Us: number | null;
  readonly p99Us: number | null;
  readonly minUs: number | null;
  readonly maxUs: number | null;
  readonly shareLe50us: number | null;
  readonly shareLe100us: number | null;
  readonly meanIntervalUs: number | null;
}

export interface LaneFigures {
  readonly computeBusyUs: number | null;
  readonly communicationBusyUs: number | null;
  readonly copyBusyUs: number | null;
  readonly overlappedUs: number | null;
  readonly exposedCommunicationUs: number | null;
  readonly exposedCopyUs: number | null;
  readonly computeIdleUs: number | null;
  readonly mainStreamIdleUs: number | null;
  readonly freeUs: number | null;
}

export interface CountTotal {
  readonly count: number;
  readonly totalUs: number;
}

/** A count and a sum that nobody recorded are null, not 0. */
export interface MaybeCountTotal {
  readonly count: number | null;
  readonly totalUs: number | null;
}

export interface StreamFigures {
  readonly device: string | null;
  readonly stream: string | null;
  /** How the profiler calls it: streams without a number (communication groups) are told apart by it. */
  readonly label?: string;
  readonly count: number;
  readonly totalUs: number;
  readonly busyUs: number | null;
  readonly idleUs: number | null;
  readonly firstUs: number | null;
  readonly lastUs: number | null;
}

export interface StepReport extends LaneFigures {
  readonly name: string;
  readonly startUs: number | null;
  readonly durationUs: number | null;
  /** From the step's start on the host to its first kernel; not part of the span. */
  readonly leadInUs?: number | null;
  /** Null where no kernels could be read. */
  readonly kernels: number | null;
}

export interface RankReport {
  readonly rank: number | null;
  /** How the rank is called where it has no number (file or folder name). */
  readonly label: string;
  readonly kernels: KernelFigures;
  readonly lanes: LaneFigures;
  readonly split: { readonly compute: MaybeCountTotal; readonly communication: MaybeCountTotal; readonly memcpy: MaybeCountTotal; readonly memset: MaybeCountTotal };
  readonly streams: readonly StreamFigures[];
  readonly families: readonly ({ readonly family: string } & CountTotal)[];
  readonly topKernels: readonly ({ readonly name: string; readonly type: string } & CountTotal)[];
  readonly steps: readonly StepReport[];
}

export interface AnalyzeReport {
  readonly schema: 'fuselens/1';
  readonly profile: {
    readonly path: string;
    readonly format: string;
    readonly backend: string | null;
    readonly baseNs: string | null;
    readonly ranks: readonly { readonly rank: number | null; readonly label: string; readonly device: string | null; readonly host: string | null; readonly steps: number; readonly kernels: number | null }[];
    readonly versions: Readonly<Record<string, string>>;
  };
  readonly problems: readonly { readonly kind: string; readonly count: number; readonly message: string; readonly where: string; readonly effect: string }[];
  readonly ranks: readonly RankReport[];
  /** Chains of the first rank, with what the other ranks say of the same ones. */
  readonly fingerprints: readonly ReportedFingerprint[];
  /** Source files the first rank was aligned with, and how much of each could not be read. */
  readonly sources: readonly { readonly file: string; readonly operators: number; readonly holes: number }[];
  readonly findings: readonly unknown[];
}

export interface ReportedFingerprint extends FingerprintEntry {
  /** Why a waste is one, in a sentence; null for what is none. */
  readonly explanation: string | null;
  /** The same chain on each rank that was read. */
  readonly ranks: readonly { readonly rank: number | null; readonly label: string; readonly occurrences: number; readonly totalUs: number; readonly recoverableDeviceUs: readonly [number, number] }[];
}
