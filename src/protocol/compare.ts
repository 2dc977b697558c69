/**
 * Comparing two profiles. Each rank is boiled down to a digest (counts and sums per step: bounded, plain data); the comparison
 * is a pure function of the digests of both sides, so that a side may be one profile or several runs of the same settings.
 * Times in microseconds unless a name says otherwise; unknown is null.
 */
import type { FingerprintMethods } from './fingerprints';
import type { KernelFigures, LaneFigures } from './report';

/** One window that is compared: a step of a rank, or its whole recording where no step was marked. */
export interface DigestStep {
  readonly name: string;
  readonly number: number | null;
  readonly source: 'profiler' | 'optimizer' | 'window';
  /** Index into the rank's steps, null for the whole recording. */
  readonly index: number | null;
  /** The step's range as the profiler or the optimizer marks it on the host. */
  readonly durationUs: number | null;
  readonly kernels: KernelFigures;
  readonly lanes: LaneFigures;
}

export interface DigestRow {
  /** The same on both sides for the same thing. */
  readonly key: string;
  readonly label: string;
  readonly type?: string;
  readonly family?: string;
  readonly phase?: string;
  /** Catalogue id of a recognised chain. */
  readonly fusion?: string;
  /** Tokens of kernels that do the chain at once. */
  readonly fused?: readonly string[];
  /** Ids of the chain's spellings, as the other views know them. */
  readonly chains?: readonly string[];
  /** Kernels of one occurrence of the chain. */
  readonly chainLength?: number;
  /** Mean distance between neighbouring occurrences. */
  readonly periodUs?: number | null;
  readonly file?: string;
  readonly line?: number;
  readonly function?: string;
}

/** Counts and sums of every row in every step: row-major by step, `counts[step * rows.length + row]`. */
export interface DigestTable {
  readonly rows: readonly DigestRow[];
  readonly counts: Float64Array;
  readonly totalsNs: Float64Array;
}

/** Multiplications by one weight: how often, and how many numbers the other operand has. */
export interface WeightUse {
  /** `2048,6144`, dimensions ascending. */
  readonly shape: string;
  /** Over all compared steps. */
  readonly kernels: number;
  readonly otherElements: number;
}

/** A weight of linear or convolution layers, whatever the batch: `2048,6144`, dimensions ascending. */
export interface ModelWeight {
  readonly shape: string;
  /** Multiplications of the forward and the backward pass it takes part in, over all compared steps. */
  readonly kernels: number;
}

export interface MemoryDigest {
  readonly component: string;
  readonly peakReservedBytes: number | null;
  readonly peakAllocatedBytes: number | null;
  /** Reserved bytes over time, ms since the first record, thinned; peaks kept. */
  readonly curve: readonly (readonly [number, number])[];
}

export const DIGEST_TABLES = ['families', 'phases', 'chains', 'operators', 'kernels', 'lines'] as const;
export type DigestTableId = (typeof DIGEST_TABLES)[number];

export interface RankDigest {
  /** `RankSource.id`. */
  readonly id: string;
  readonly label: string;
  readonly rank: number | null;
  /** Run or step folder. */
  readonly group: string;
  readonly backend: string;
  /** Chip as the profile names it. */
  readonly chip: string | null;
  readonly facts: Readonly<Record<string, string>>;
  /** Whether Python frames or call stacks were recorded, by the data; null where the host side, which would hold them, is missing. */
  readonly stacks: boolean | null;
  readonly worldSize: number | null;
  readonly tokensPerStep: number | null;
  readonly ranksPerCard: number | null;
  readonly steps: readonly DigestStep[];
  /** Steps of a long recording that were passed over. */
  readonly stepsLeftOut: number;
  /** Where the recording lacks something, so that counts and totals are lower bounds. */
  readonly losses: readonly string[];
  readonly tables: Readonly<Record<DigestTableId, DigestTable>>;
  readonly density: { readonly edgesUs: readonly number[]; readonly density: readonly number[]; readonly counts: readonly number[] };
  readonly matmul: { readonly kernels: number; readonly shaped: number; readonly weights: readonly WeightUse[]; readonly modelWeights: readonly ModelWeight[] };
  readonly memory: MemoryDigest | null;
}

export interface CompareOptions {
  /** Tokens of one step of the whole job, where the profile does not say it. */
  readonly tokensBase?: number;
  readonly tokensCandidate?: number;
  readonly ranksPerCard?: number;
}

/** Digests of one side, by run; ranks with the same number in several runs are samples of one rank. */
export interface CompareSide {
  readonly name: string;
  readonly runs: readonly (readonly RankDigest[])[];
}

/** Median and spread of the samples of one figure. `low` and `high` are quartiles from eight samples on, else the range. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly samples: number;
}

export type CheckId = 'backend' | 'chip' | 'steps' | 'ranks' | 'model' | 'batch' | 'level' | 'stacks' | 'settings' | 'versions' | 'parallel' | 'environment';
export interface CompareCheck {
  readonly id: CheckId;
  /** `blocks`: no verdict. `perToken`: the verdict is per token. `warns`: part of the difference. `unknown`: not recorded. */
  readonly outcome: 'same' | 'blocks' | 'perToken' | 'warns' | 'unknown';
  readonly base: string | null;
  readonly candidate: string | null;
  readonly code: string;
  readonly args?: Readonly<Record<string, string | number>>;
}

export type Judgement = 'faster' | 'slower' | 'same' | 'unjudged';

export interface CompareVerdict {
  /** `unjudged`: comparable, but a single sample a side has no spread. */
  readonly kind: Judgement | 'notComparable';
  /** What one unit of work is. */
  readonly per: 'step' | 'token';
  /** Where step times come from. */
  readonly stepTime: 'profiler' | 'span';
  /** Time of a step. */
  readonly baseStepUs: Spread | null;
  readonly candidateStepUs: Spread | null;
  /** Time per unit of work: of a step, or of a thousand tokens of the job. */
  readonly baseUs: Spread | null;
  readonly candidateUs: Spread | null;
  /** Candidate minus base, per unit of work; and as a share of base. */
  readonly differenceUs: number | null;
  readonly change: number | null;
  /** Differences up to this are noise; null with a single sample. */
  readonly noiseUs: number | null;
  readonly reasons: readonly { readonly code: string; readonly args?: Readonly<Record<string, string | number>> }[];
}

export interface RowSide {
  /** One rank, one step: medians over all samples. */
  readonly count: number;
  readonly totalUs: number;
  readonly meanUs: number | null;
  readonly low: number;
  readonly high: number;
  /** All compared ranks together, one step: the sum of each rank's median over its steps. */
  readonly allCount: number;
  readonly allTotalUs: number;
}

export interface CompareRow extends DigestRow {
  readonly base: RowSide | null;
  readonly candidate: RowSide | null;
  /** Per unit of work (a step of one rank, or of it the share of a thousand tokens): candidate minus base. Null for a line located on one side only. */
  readonly differenceUs: number | null;
  readonly allDifferenceUs: number | null;
  /** Share of base; null where base has none. */
  readonly change: number | null;
  readonly noiseUs: number | null;
  /** `faster` and `slower`: less or more time in total per unit of work. */
  readonly status: RowStatus;
  /** What moved the total more: how often it runs, or how long each run takes; null where a side has none or nothing moved. */
  readonly by: 'calls' | 'mean' | null;
}

export type RowStatus = Judgement | 'gone' | 'new';

/** One figure of a step of one rank, over all samples. */
export interface CompareFigure {
  readonly id: string;
  readonly kind: 'count' | 'us' | 'share' | 'bytes' | 'rate';
  readonly base: Spread | null;
  readonly candidate: Spread | null;
  readonly difference: number | null;
  /** Share of base. */
  readonly change: number | null;
  /** The same per unit of work (step or token); null where the figure is no amount of work. */
  readonly unitChange: number | null;
}

/** What a window is chosen for. */
export interface WindowFocus {
  /** Chain ids. */
  readonly chains: readonly string[];
  /** Operator tokens of kernels that are in no chain of `chains`. */
  readonly operators: readonly string[];
  readonly phase: string | null;
}

/** Two windows to be shown beneath one another: where a difference is largest. */
export interface WindowPair {
  readonly id: string;
  readonly fusion: string | null;
  readonly label: string;
  readonly phase: string | null;
  readonly base: WindowFocus;
  readonly candidate: WindowFocus;
  /** The side that has what the windows are chosen for, and so says where they lie. */
  readonly lead: 'base' | 'candidate';
  readonly widthNs: number;
  /** One rank, one step, per unit of work. */
  readonly differenceUs: number;
}

export interface ComparedRank {
  readonly rank: number | null;
  readonly base: { readonly run: number; readonly id: string; readonly label: string; readonly group: string; readonly steps: readonly (number | null)[] };
  readonly candidate: { readonly run: number; readonly id: string; readonly label: string; readonly group: string; readonly steps: readonly (number | null)[] };
}

export interface CompareReport {
  readonly schema: 'fuselens-compare/1';
  readonly base: SideSummary;
  readonly candidate: SideSummary;
  readonly checks: readonly CompareCheck[];
  readonly verdict: CompareVerdict;
  /** Kernels of the two sides come from different compilers: kernel names cannot be paired, operators and chains can. */
  readonly crossVendor: boolean;
  /** `token`: differences of rows are per thousand tokens. */
  readonly per: 'step' | 'token';
  /** Time of a step times this is the time of a unit of work. */
  readonly factors: { readonly base: number; readonly candidate: number };
  readonly ranks: readonly ComparedRank[];
  readonly figures: readonly CompareFigure[];
  readonly lanes: readonly CompareFigure[];
  readonly tables: Readonly<Record<DigestTableId, readonly CompareRow[]>>;
  readonly density: { readonly base: RankDigest['density']; readonly candidate: RankDigest['density'] };
  readonly memory: { readonly base: MemoryDigest | null; readonly candidate: MemoryDigest | null };
  readonly windows: readonly WindowPair[];
  readonly notes: readonly { readonly code: string; readonly args?: Readonly<Record<string, string | number>> }[];
}

export interface SideSummary {
  readonly name: string;
  readonly backend: string | null;
  readonly chip: string | null;
  readonly runs: number;
  readonly ranks: number;
  readonly steps: number;
  readonly samples: number;
  readonly worldSize: number | null;
  readonly tokensPerStep: number | null;
  /** Where the number of tokens comes from. */
  readonly tokensFrom: 'option' | 'profile' | null;
}

export interface WindowKernel {
  readonly event: number;
  /** ns from the window's start; may be negative for a kernel that began before. */
  readonly startNs: number;
  readonly durationNs: number;
  readonly name: string;
  readonly type: string;
  readonly family: string;
  readonly lane: 'compute' | 'side' | 'communication' | 'copy';
  /** Token of the operator table, '' where it is none we know. */
  readonly operator: string;
  /** Part of what the window was chosen for. */
  readonly focus: boolean;
}

/** A chain, or neighbouring kernels of the focus, bracketed: how many kernels, and their summed time. */
export interface WindowBracket {
  readonly startNs: number;
  readonly endNs: number;
  readonly kernels: number;
  readonly totalNs: number;
}

export interface CompareWindow {
  /** ns relative to the rank's base. */
  readonly startNs: number;
  readonly widthNs: number;
  readonly kernels: readonly WindowKernel[];
  /** Kernels that start in the window, drawn or not. */
  readonly count: number;
  readonly focusCount: number;
  readonly focusNs: number;
  readonly brackets: readonly WindowBracket[];
  /** Times in which no compute kernel runs. */
  readonly idle: readonly (readonly [number, number])[];
  readonly idleNs: number;
  /** Share of the step's large operators (matmul and attention) that ran before the window: the same place on both sides. */
  readonly place: number | null;
}

/** `place` says where on the other side the window was, null for the side that is asked first. */
export interface CompareWindowParams {
  readonly rank: string;
  /** Index of the step, null for the whole recording. */
  readonly step: number | null;
  readonly focus: WindowFocus;
  readonly widthNs: number;
  readonly place: number | null;
}

export interface CompareMethods {
  /** Boils one rank down. The rank is dropped again where it was not loaded before. Sources give the lines. */
  compareDigest: { readonly params: Omit<FingerprintMethods['fingerprints']['params'], 'step'>; readonly result: RankDigest };
  /** Pure: needs no open profile's ranks. */
  compareDigests: { readonly params: { readonly base: CompareSide; readonly candidate: CompareSide; readonly options?: CompareOptions }; readonly result: CompareReport };
  /** The window of one side of a pair. */
  compareWindow: { readonly params: CompareWindowParams; readonly result: CompareWindow };
}
