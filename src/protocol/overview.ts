/** What the Overview draws: the report of one rank (whole recording or one step) plus distributions. */
import type { CountTotal, RankReport } from './report';

export interface OverviewData {
  readonly report: RankReport;
  /** Name of the window the figures cover and how it was chosen (ProfilerStep, optimizer step, whole recording). */
  readonly window: { readonly name: string; readonly source: 'profiler' | 'optimizer' | 'window' };
  /** Log-log probability density of kernel durations: bin edges in µs (n+1) and density per µs (n); empty bins 0. */
  readonly density: { readonly edgesUs: readonly number[]; readonly density: readonly number[]; readonly counts: readonly number[] };
  /** Share of summed kernel time of the five longest communication kernels; null when there are none. */
  readonly topFiveCommunicationShare: number | null;
  readonly longest: { readonly name: string; readonly durationUs: number; readonly eventIndex: number } | null;
  /** All kernels by name and type, by total time, with their family; capped, `omitted` says how many names were left off. */
  readonly kernels: readonly ({ readonly name: string; readonly type: string; readonly family: string; readonly meanUs: number | null; readonly maxUs: number | null; /** Device event of the longest one. */ readonly longestIndex: number } & CountTotal)[];
  readonly omitted: number;
  /** Message codes of what was assumed for these figures. */
  readonly assumptions: readonly { readonly code: string; readonly args?: Readonly<Record<string, string | number>> }[];
  /** Profiler's own step_trace_time row(s) for this window, as text cells, to stand beside ours. */
  readonly profilerStepTrace: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] } | null;
  /** The profiler's own figures of each collective (communication.json), the longest first, in ms as written; capped. */
  readonly profilerCommunication: { readonly omitted: number; readonly rows: readonly ProfilerCollective[] } | null;
}

export interface ProfilerCollective {
  readonly step: string;
  readonly kind: 'collective' | 'p2p';
  readonly name: string;
  readonly group: string;
  readonly elapseMs: number | null;
  readonly waitMs: number | null;
  readonly transitMs: number | null;
  readonly idleMs: number | null;
}
