/**
 * The column store. One rank is two tables of typed arrays (device events and host events) that share one string table.
 * Times are integer nanoseconds relative to the rank's base, held in doubles (exact up to 2^53 ns = 104 days); NaN means
 * "not known". No object exists per event.
 */

/** What a device event is. Compute and communication events are *kernels*; copies and sets are not. */
export const EventKind = { Compute: 0, Communication: 1, Copy: 2, Set: 3 } as const;
export type EventKind = (typeof EventKind)[keyof typeof EventKind];

/** Bits of `DeviceEvents.flags`. */
export const DeviceFlag = {
  /** A fused compute-communication kernel (AllGatherMatmul …): counted as compute, shown as mixed. */
  Mixed: 1,
  /** Part of a graph replay: `launch` is the replay call, shared by all kernels of the graph. */
  GraphReplay: 2,
  /** The forward operator is known through the backward operator (`op` is then the backward one). */
  Backward: 4,
} as const;

/** Device events of one rank, in file order until `sortByStart` (readers deliver them sorted by start, ties in file order). At most 64 bytes an event. */
export interface DeviceEvents {
  readonly count: number;
  readonly startNs: Float64Array;
  readonly durationNs: Float64Array;
  /** String ids. `type` is the operator type where the format has one (`MatMulV3`), else 0. */
  readonly name: Uint32Array;
  readonly type: Uint32Array;
  /** Accelerator core (`AI_CORE`, `AI_VECTOR_CORE`, …) as string id, 0 where the format has none. */
  readonly core: Uint16Array;
  /** Input shapes as written, `4,16;16,16`, quotes removed; input dtypes likewise. */
  readonly shapes: Uint32Array;
  readonly dtypes: Uint32Array;
  /** Index into `RankData.streams`. */
  readonly stream: Uint16Array;
  readonly kind: Uint8Array;
  readonly flags: Uint8Array;
  /** Index into the family table; filled by `analysis/families`. */
  readonly family: Uint8Array;
  /** Index into `RankData.steps`, -1 outside every step. */
  readonly step: Int32Array;
  /** Index of the launching host event (runtime call), -1 unknown. */
  readonly launch: Int32Array;
  /** Index of the innermost host operator of the launch, -1 unknown. */
  readonly op: Int32Array;
  /** Where the event's full text lies: byte offset in the (uncompressed) source and length; length 0 = nothing to decode. `source` index is `RankData.detailSource`. */
  readonly detailAt: Float64Array;
  readonly detailLength: Uint16Array;
}

export const HostKind = {
  /** Framework operator (`aten::mul`, `cpu_op`). */
  Operator: 0,
  /** Runtime or driver call that launches device work (`cudaLaunchKernel`, `AscendCL@…`, `Node@launch`). */
  Runtime: 1,
  /** Python frame. */
  Python: 2,
  /** User range (`record_function`, ProfilerStep, Optimizer.step, NVTX). */
  Annotation: 3,
  /** Task queue of torch_npu. */
  Enqueue: 4,
  Dequeue: 5,
  /** Anything else on a host thread (GC, overhead): shown, never linked. */
  Other: 6,
} as const;
export type HostKind = (typeof HostKind)[keyof typeof HostKind];

/** Host events of one rank, sorted by start (ties: longer first, then file order). */
export interface HostEvents {
  readonly count: number;
  readonly startNs: Float64Array;
  readonly durationNs: Float64Array;
  readonly name: Uint32Array;
  readonly kind: Uint8Array;
  /** Index into `RankData.threads`. */
  readonly thread: Uint16Array;
  /** Autograd sequence number, -1 none. */
  readonly sequence: Int32Array;
  /** Forward thread id as written (0 or absent = forward side), -1 absent. */
  readonly forwardThread: Int32Array;
  /** Forward operator of a backward operator (host event index), -1 none. */
  readonly forward: Int32Array;
  /** Call stack text (`;`-joined, innermost first, as recorded on the operator) as string id, 0 none. */
  readonly stack: Uint32Array;
  /** Python id and parent id of frames; -1 otherwise. */
  readonly pythonId: Int32Array;
  readonly pythonParent: Int32Array;
  readonly detailAt: Float64Array;
  readonly detailLength: Uint32Array;
}

export interface StreamInfo {
  /** Device as written in the file; undefined when the file does not say. */
  readonly device: number | undefined;
  /** Stream as written (`7`, `stream 7` → `7`); undefined when the format has no stream column. */
  readonly stream: string | undefined;
  readonly label: string;
}

export interface ThreadInfo {
  readonly process: string;
  readonly thread: string;
  readonly label: string;
}

export interface StepInfo {
  readonly name: string;
  /** Number in the name (`ProfilerStep#12` → 12) or the Step Id; undefined when there is none. */
  readonly number: number | undefined;
  /** Host range; NaN when only the device side is known. */
  readonly startNs: number;
  readonly durationNs: number;
  /** `profiler` = ProfilerStep / Step Id, `optimizer` = derived from Optimizer.step, `window` = the whole recording. */
  readonly source: 'profiler' | 'optimizer' | 'window';
}

/** A small side table, as text cells (op_statistic.csv, api_statistic.csv, step_trace_time.csv …). */
export interface SideTable {
  readonly file: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Memory over time of one component, columns of equal length; NaN unknown. Sizes in bytes. */
export interface MemorySeries {
  readonly component: string;
  readonly device: string;
  readonly timeNs: Float64Array;
  readonly allocatedBytes: Float64Array;
  readonly reservedBytes: Float64Array;
  readonly activeBytes: Float64Array;
}

/**
 * A sampled counter (frequency, bandwidth, memory …), columns of equal length by time. A value holds until the next one; NaN
 * = not known from then on. How long the last one holds is not known.
 */
export interface CounterSeries {
  /** Process of the trace it belongs to (`HBM`, `LLC`, `NPU MEM`). */
  readonly group: string;
  readonly name: string;
  /** As written in the file, `B` for sizes; '' where it does not say. */
  readonly unit: string;
  readonly timeNs: Float64Array;
  readonly value: Float64Array;
}

/** One collective or point-to-point operation as the profiler summarised it (communication.json, analysis.db). Milliseconds as written; NaN unknown. */
export interface CommunicationSummary {
  readonly step: string;
  readonly kind: 'collective' | 'p2p';
  readonly name: string;
  readonly group: string;
  readonly startUs: number;
  readonly elapseMs: number;
  readonly transitMs: number;
  readonly waitMs: number;
  readonly synchronizationMs: number;
  readonly idleMs: number;
  /** Transport (`SDMA`, `RDMA`, `HCCS` …) → size in MB, time in ms, bandwidth in GB/s. */
  readonly bandwidth: Readonly<Record<string, { readonly sizeMb: number; readonly timeMs: number; readonly bandwidthGbs: number }>>;
}

export interface CommunicationLink {
  readonly step: string;
  readonly kind: 'collective' | 'p2p';
  readonly operation: string;
  readonly group: string;
  readonly source: number;
  readonly destination: number;
  readonly transport: string;
  readonly sizeMb: number;
  readonly timeMs: number;
  readonly bandwidthGbs: number;
}

/** Tasks inside collectives (planes of an Ascend trace), by start: who waits and who moves bytes. String ids; -1 and NaN unknown. */
export interface CommunicationTasks {
  readonly count: number;
  readonly startNs: Float64Array;
  readonly durationNs: Float64Array;
  /** `Memcpy`, `Notify_Wait`, `Reduce_Inline`, `RDMASend` … */
  readonly name: Uint32Array;
  /** Lane as the file labels it, `Plane 3`. */
  readonly plane: Uint32Array;
  readonly transport: Uint32Array;
  readonly link: Uint32Array;
  /** Ranks within the group. */
  readonly source: Int32Array;
  readonly destination: Int32Array;
  readonly bytes: Float64Array;
  /** The collective it is part of, as index into `RankData.deviceEvents`. */
  readonly collective: Int32Array;
}

/** What a kernel table lacks, so that views say so instead of showing blanks. */
export interface Coverage {
  /** Whether device events were recorded where we could read them: without, their number is unknown, not 0. */
  readonly kernels: boolean;
  readonly stepIds: boolean;
  readonly streams: boolean;
  readonly shapes: boolean;
  readonly types: boolean;
  readonly hostOperators: boolean;
  readonly launches: boolean;
  readonly pythonFrames: boolean;
  readonly callStacks: boolean;
}

/** Where `detailAt` points. */
export type DetailSource =
  /** `member`: the file inside an archive; compressed files are inflated again up to the wanted place. */
  | { readonly kind: 'file'; readonly path: string; readonly format: 'json' | 'csv'; readonly header?: readonly string[]; readonly member?: string }
  /** `path` and `member`: where the text came from, for when the spill has been deleted to make room. */
  | { readonly kind: 'spill'; readonly key: string; readonly format: 'json'; readonly path: string; readonly member?: string }
  | { readonly kind: 'none' };

export type Backend = 'ascend' | 'cuda' | 'rocm' | 'mtia' | 'cpu';

/** Everything read from one rank. */
export interface RankData {
  readonly backend: Backend;
  /** Rank in the job; undefined when nothing says it. */
  readonly rank: number | undefined;
  readonly device: string | undefined;
  readonly host: string | undefined;
  /** Absolute time of relative time 0, in ns since the Unix epoch (or of the file's own clock where it has no epoch). */
  readonly baseNs: bigint;
  readonly strings: StringTableLike;
  readonly deviceEvents: DeviceEvents;
  readonly hostEvents: HostEvents;
  readonly streams: readonly StreamInfo[];
  readonly threads: readonly ThreadInfo[];
  readonly steps: readonly StepInfo[];
  readonly coverage: Coverage;
  readonly detailSource: DetailSource;
  /** Device details come from here when they differ from the host's file (kernel_details.csv beside trace_view.json). */
  readonly deviceDetailSource: DetailSource;
  readonly tables: readonly SideTable[];
  readonly memory: readonly MemorySeries[];
  /** Absent where the profile has none. */
  readonly counters?: readonly CounterSeries[];
  readonly communication: readonly CommunicationSummary[];
  readonly links: readonly CommunicationLink[];
  /** Absent where the format has no such detail. */
  readonly communicationTasks?: CommunicationTasks;
  /** Free facts shown to the user: versions, level, chip name, record_shapes … */
  readonly facts: Readonly<Record<string, string>>;
}

export interface StringTableLike {
  readonly size: number;
  get(id: number): string;
  toArray(): readonly string[];
}
