/**
 * Timeline data. First a layout and a pyramid of all lanes (at most 1 MB), then windows of about 3× the viewport (at most
 * 256 KB). Typed arrays host → webview, small JSON back. Every time is in ns relative to the *rank's* base; the axis
 * starts at `originNs`.
 */

/**
 * Which table an event index points into. `gap` = a derived interval of the lanes Compute idle and Free; `counter` = a value
 * of a counter, whose lane tells which one.
 */
export type EventSide = 'device' | 'host' | 'step' | 'gap' | 'counter';

export interface EventRef {
  readonly side: EventSide;
  readonly index: number;
}

/** An event's place in time; `durationNs` is NaN where the file does not say. */
export interface EventPlace extends EventRef {
  readonly startNs: number;
  readonly durationNs: number;
  readonly name: string;
  /** Lane the event is found on (for device events its stream). */
  readonly lane: string;
  readonly row: number;
}

export type LaneKind = 'steps' | 'compute' | 'communication' | 'other' | 'compute-idle' | 'free' | 'stream' | 'thread' | 'python' | 'counters' | 'counter';

export interface TimelineLane {
  /** Stable over sessions of one profile: `compute`, `stream:0`, `thread:3`, `python:3`, `counter:7`. */
  readonly id: string;
  readonly kind: LaneKind;
  readonly side: EventSide;
  /** Name from the file; '' for lanes the view names itself. */
  readonly label: string;
  /** Events drawn on the lane; values of a counter; counters of their group. */
  readonly events: number;
  /** Sub-lanes: overlapping events never share one. At least 1. */
  readonly rows: number;
  /** Events that cannot be drawn because their start is not known. */
  readonly untimed: number;
  /** Of counters: as the file writes it, `B` for sizes, '' where it does not say. */
  readonly unit?: string;
  /** Of memory over time: which of its figures. */
  readonly measure?: 'allocated' | 'reserved' | 'active';
  /** Values of a counter before or after the recording. */
  readonly outside?: number;
}

/** One colour of the timeline; windows refer to it by position in `TimelineLayout.families`. */
export interface TimelineFamily {
  /** Suffix of the theme colour: `--vscode-fuselens-family-<id>`. */
  readonly id: string;
  /** Device kernels (or copies) of this family; 0 for host kinds and gaps. */
  readonly events: number;
  /** Sum of their durations (not a union). */
  readonly sumNs: number;
  readonly group: 'device' | 'gap' | 'host' | 'step';
}

export interface TimelineStep {
  readonly index: number;
  readonly name: string;
  readonly startNs: number;
  readonly endNs: number;
  readonly source: 'profiler' | 'optimizer' | 'window';
}

export interface TimelineLayout {
  readonly lanes: readonly TimelineLane[];
  readonly families: readonly TimelineFamily[];
  readonly steps: readonly TimelineStep[];
  /** Start and length of the recording; far-off outliers are left out of it and counted. */
  readonly originNs: number;
  readonly spanNs: number;
  readonly outliers: number;
  /** What to show first: the asked step, else the whole recording. */
  readonly window: { readonly startNs: number; readonly endNs: number };
}

/** Whole recording at one resolution, all lanes in layout order, all sub-lanes; at most 1 MB. */
export interface TimelinePyramid {
  readonly originNs: number;
  readonly nsPerBin: number;
  readonly binCount: number;
  /** First row of each lane (lane order of the layout), plus the total at the end; at most 1024 rows a lane. */
  readonly laneRows: Uint32Array;
  /** Rows × binCount. Busy share 0 … 255; a bin with any event has at least 1. */
  readonly busy: Uint8Array;
  /** Family with the most time in the bin. */
  readonly family: Uint8Array;
}

export interface TimelineWindowParams {
  readonly rank: string;
  readonly requestId: number;
  readonly lanes: readonly LaneRows[];
  readonly startNs: number;
  readonly endNs: number;
  /** Pixels the range will cover. */
  readonly pixels: number;
  /** Positions in `TimelineLayout.families` left out by the legend. */
  readonly hiddenFamilies?: readonly number[];
}

/** Sub-lanes `[from, to)` of a lane. */
export interface LaneRows {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Events longer than a bin come one by one, the others as bins: each event that starts inside the window is in exactly
 * one of the two. Rows are listed lane after lane; row r owns the next `rows[4r+2]` events and `rows[4r+3]` segments.
 */
export interface TimelineWindow {
  readonly requestId: number;
  /** Aligned to bins, so a little wider than asked. */
  readonly startNs: number;
  readonly endNs: number;
  /** A power of two. Larger than asked for when the window would not fit 256 KB. */
  readonly nsPerBin: number;
  readonly lanes: readonly LaneRows[];
  readonly hiddenFamilies: readonly number[];
  /** Per row: position in `lanes`, row, number of events, number of segments. */
  readonly rows: Uint32Array;
  readonly events: {
    /** Add to `start`. */
    readonly baseNs: number;
    readonly start: Uint32Array | Float64Array;
    /** Unknown durations come as 0. */
    readonly duration: Uint32Array | Float64Array;
    readonly index: Uint32Array;
    /** Position in `names`; 65535 = ask `eventDetail`. */
    readonly name: Uint16Array;
    readonly family: Uint8Array;
  };
  readonly bins: {
    /** Per segment: first bin, number of bins. Bins between segments are empty. */
    readonly segments: Uint32Array;
    readonly busy: Uint8Array;
    readonly family: Uint8Array;
    /** Events that start in the bin, at most 65535. */
    readonly count: Uint16Array;
  };
  /** Shortened to 96 characters, with the id of the whole name. */
  readonly names: readonly string[];
  readonly nameIds: Uint32Array;
}

export interface TimelineCountersParams {
  readonly rank: string;
  readonly requestId: number;
  /** Lanes of kind `counter`. */
  readonly lanes: readonly string[];
  readonly startNs: number;
  readonly endNs: number;
  /** Pixels the range will cover: no lane has more columns, but for one at each end. */
  readonly pixels: number;
}

/**
 * Counters over a stretch of time; lane i owns the columns `[first[i], first[i + 1])`, in order of time. A value holds until
 * the next column; the first column may lie before `startNs`. At most 256 KB.
 */
export interface TimelineCounters {
  readonly requestId: number;
  readonly startNs: number;
  readonly endNs: number;
  readonly lanes: readonly string[];
  readonly first: Uint32Array;
  /** Per lane: a power of two, larger than asked for where the message would not fit. */
  readonly nsPerBin: Float64Array;
  /** Per lane: time of the value after its last column, else of the lane's last value, after which nothing is known. */
  readonly untilNs: Float64Array;
  /** Per column: exact time of its last value, and that value; NaN = not known from then on. */
  readonly timeNs: Float64Array;
  readonly value: Float64Array;
  /** Lowest and highest known value in the column. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** Values in the column. */
  readonly count: Uint32Array;
}

export interface StackFrame {
  /** As recorded. */
  readonly text: string;
  /** Looks like the user's own code, going by its path. */
  readonly isUser: boolean;
  readonly file?: string;
  readonly line?: number;
  readonly function?: string;
}

export interface EventLink extends EventRef {
  readonly name: string;
  readonly startNs: number;
  readonly durationNs: number;
}

export interface EventDetail extends EventPlace {
  readonly kind: string;
  readonly type?: string;
  readonly core?: string;
  readonly stream?: string;
  readonly thread?: string;
  /** `TimelineFamily.id`. */
  readonly family: string;
  readonly shapes?: string;
  readonly dtypes?: string;
  readonly mixed: boolean;
  readonly graphReplay: boolean;
  readonly step?: string;
  readonly launch?: EventLink;
  readonly operator?: EventLink;
  readonly forwardOperator?: EventLink;
  /** Time from the launch call's start to the kernel's start. */
  readonly launchDelayNs?: number;
  /** Python frames, innermost last; of the forward operator where the kernel is a backward one and has none itself. */
  readonly frames: readonly StackFrame[];
  readonly framesFrom: 'self' | 'forward' | 'none';
  /** Set where `frames` were not recorded but found by aligning the run with the source: how sure that is, 0 to 1. */
  readonly alignedConfidence?: number;
  /** The frame comes from a second capture with stacks, which has this share of its kernels in common with this one. */
  readonly carriedShare?: number;
  /** The repeated chain the kernel belongs to, as a catalogue id; '' for an unknown chain, absent when it is in none or chains were not looked for. */
  readonly chain?: string;
  /** Of a counter; NaN where it is not known. */
  readonly value?: number;
  readonly unit?: string;
  /** Recorded arguments, decoded on demand; absent when there are none or they cannot be read again. */
  readonly args?: readonly (readonly [string, string])[];
}

export interface FlowResult {
  /** Launch call and operator of a kernel, or of the first kernel. */
  readonly launch: EventPlace | null;
  readonly operator: EventPlace | null;
  /** Kernels of the launch (graph replays have many) or of everything the host event launched; at most 200. */
  readonly kernels: readonly EventPlace[];
  readonly total: number;
}

export interface SearchParams {
  readonly rank: string;
  readonly text?: string;
  readonly regex?: boolean;
  /** Matched against name, type, input shapes (any of them). Default all. */
  readonly fields?: readonly ('name' | 'type' | 'shapes')[];
  readonly minNs?: number;
  readonly maxNs?: number;
  readonly sides?: readonly ('device' | 'host')[];
  /** At most 2000; default 500. */
  readonly limit?: number;
}

export interface SearchResult {
  /** All matches; `places` holds the first ones in time order. */
  readonly total: number;
  readonly sumNs: number;
  readonly places: readonly EventPlace[];
  /** The regular expression does not compile. */
  readonly badPattern: boolean;
}

export interface AreaGroup {
  readonly name: string;
  readonly events: number;
  readonly sumNs: number;
}

export interface AreaStats {
  readonly startNs: number;
  readonly endNs: number;
  /** Events that touch the area, each once, even when two of the lanes show it. */
  readonly events: number;
  /** Time inside the area: added up, and as a union of intervals. */
  readonly sumNs: number;
  readonly unionNs: number;
  /** Whole durations of those events (nearest rank); null without events. */
  readonly minNs: number | null;
  readonly meanNs: number | null;
  readonly medianNs: number | null;
  readonly p95Ns: number | null;
  readonly maxNs: number | null;
  readonly families: readonly AreaGroup[];
  /** By summed time inside the area; at most 50. */
  readonly names: readonly AreaGroup[];
  readonly omittedNames: number;
}

export interface NeighbourParams {
  readonly rank: string;
  readonly from: EventRef;
  readonly direction: 1 | -1;
  /** `row`: on the same sub-lane; `name`: next event of the same name (and type) on its side. */
  readonly by: 'row' | 'name';
  /** Lane for `by: 'row'` (a device event lies on its stream and on an aggregate lane). */
  readonly lane?: string;
}

export interface NearestParams {
  readonly rank: string;
  readonly lane: string;
  readonly row?: number;
  readonly timeNs: number;
}

export interface TimelineMethods {
  timelineLayout: { readonly params: { readonly rank: string; readonly step?: number }; readonly result: TimelineLayout };
  timelinePyramid: { readonly params: { readonly rank: string; readonly hiddenFamilies?: readonly number[] }; readonly result: TimelinePyramid };
  timelineWindow: { readonly params: TimelineWindowParams; readonly result: TimelineWindow };
  timelineCounters: { readonly params: TimelineCountersParams; readonly result: TimelineCounters };
  /** The longest times when nothing runs on the device, start and end alternating, in time order; for "hide gaps". */
  timelineGaps: { readonly params: { readonly rank: string; readonly minNs: number }; readonly result: Float64Array };
  /** `lane` tells the two kinds of gap apart, and counters. */
  eventDetail: { readonly params: { readonly rank: string; readonly lane?: string } & EventRef; readonly result: EventDetail | null };
  flow: { readonly params: { readonly rank: string } & EventRef; readonly result: FlowResult };
  search: { readonly params: SearchParams; readonly result: SearchResult };
  areaStats: { readonly params: { readonly rank: string; readonly startNs: number; readonly endNs: number; readonly lanes: readonly string[] }; readonly result: AreaStats };
  neighbour: { readonly params: NeighbourParams; readonly result: EventPlace | null };
  /** The event of a lane under or nearest to a time. */
  nearest: { readonly params: NearestParams; readonly result: EventPlace | null };
}
