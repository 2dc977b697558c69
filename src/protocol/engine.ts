/**
 * The one Engine interface: the worker, the CLI and the tests speak it. Params and results are plain data (numbers,
 * strings, arrays, typed arrays; no bigint, no class), so that they cross a worker or webview border unchanged.
 * Times here are nanoseconds relative to the *rank's* base unless a name ends in `Us`.
 */
import type { AnalyzeReport, RankReport } from './report';
import type { TimelineMethods } from './timeline';
import type { FingerprintMethods } from './fingerprints';
import type { FuseMethods } from './fuse';
import type { VerifyMethods } from './verify';
import type { OverviewData } from './overview';
import type { CompareMethods } from './compare';

export interface Problem {
  readonly kind: string;
  readonly severity: 'info' | 'warning' | 'error';
  readonly count: number;
  readonly where: string;
  readonly args?: Readonly<Record<string, string | number>>;
}

export interface StepSummary {
  readonly index: number;
  readonly name: string;
  readonly number: number | undefined;
  readonly startNs: number;
  readonly durationNs: number;
  readonly source: 'profiler' | 'optimizer' | 'window';
}

export interface RankSummary {
  /** `RankSource.id`. */
  readonly id: string;
  readonly label: string;
  readonly rank: number | undefined;
  readonly group: string;
  readonly format: string;
  readonly bytes: number;
  /** False when the rank is listed but cannot be read; its problem says why. */
  readonly readable: boolean;
  /** The rank's kernel table and trace are missing; only what the profiler summed up of it can be read. */
  readonly withoutKernels?: true;
  /** Present once the rank has been loaded. */
  readonly loaded?: {
    readonly backend: string;
    readonly device: string | undefined;
    readonly host: string | undefined;
    /** Decimal text: does not fit a double. */
    readonly baseNs: string;
    /** Undefined where no kernels could be read. */
    readonly kernels: number | undefined;
    readonly steps: readonly StepSummary[];
    readonly facts: Readonly<Record<string, string>>;
    readonly problems: readonly Problem[];
  };
}

export interface ProfileSummary {
  readonly path: string;
  readonly name: string;
  readonly format: string;
  readonly backend: string | undefined;
  readonly ranks: readonly RankSummary[];
  readonly problems: readonly Problem[];
  /** Set when text and DB exports lie side by side. */
  readonly alternative: 'text' | 'db' | undefined;
}

/** A file of a rank's folder, or one that is expected there. */
export interface RankFile {
  /** Relative to the rank's folder; a folder ends in `/`. */
  readonly name: string;
  readonly bytes: number | null;
  readonly state: 'read' | 'unused' | 'missing';
  /** Code of what it gives, why it was passed over, or what is unknown without it. */
  readonly about: string;
}

export interface OpenOptions {
  /** Which export to read where a folder holds both. */
  readonly prefer?: 'text' | 'db';
}

/** Method name → params and result. */
export interface EngineMethods extends TimelineMethods, FingerprintMethods, FuseMethods, VerifyMethods, CompareMethods {
  open: { readonly params: { readonly path: string; readonly options?: OpenOptions }; readonly result: ProfileSummary };
  /** Loads one rank (from the cache when it can) and returns its summary. */
  load: { readonly params: { readonly rank: string }; readonly result: RankSummary };
  /** Drops a loaded rank's columns. */
  release: { readonly params: { readonly rank: string }; readonly result: boolean };
  /** What lies in a rank's folder; reads no columns. */
  rankFiles: { readonly params: { readonly rank: string }; readonly result: readonly RankFile[] };
  rankReport: { readonly params: { readonly rank: string; readonly step?: number }; readonly result: RankReport };
  analyze: { readonly params: { readonly ranks?: readonly string[]; readonly step?: number; readonly sources?: readonly string[] }; readonly result: AnalyzeReport };
  overview: { readonly params: { readonly rank: string; readonly step?: number }; readonly result: OverviewData };
}

export type EngineMethod = keyof EngineMethods;
export type EngineParams<M extends EngineMethod> = EngineMethods[M]['params'];
export type EngineResult<M extends EngineMethod> = EngineMethods[M]['result'];

export interface EngineProgress {
  readonly bytes: number;
  readonly totalBytes: number;
  readonly file: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (progress: EngineProgress) => void;
}

export interface Engine {
  call<M extends EngineMethod>(method: M, params: EngineParams<M>, options?: CallOptions): Promise<EngineResult<M>>;
  /** Ends the worker and frees its memory. */
  dispose(): Promise<void>;
}

/** Worker → client. An error carries a message code that `protocol/text` renders. */
export type EngineReply =
  | { readonly id: number; readonly kind: 'result'; readonly result: unknown }
  | { readonly id: number; readonly kind: 'error'; readonly code: string; readonly args?: Readonly<Record<string, string | number>>; readonly detail?: string }
  | { readonly id: number; readonly kind: 'progress'; readonly progress: EngineProgress };

/** Client → worker. */
export type EngineRequest =
  | { readonly id: number; readonly kind: 'call'; readonly method: EngineMethod; readonly params: unknown }
  | { readonly id: number; readonly kind: 'cancel' };
