/** Fingerprints as they cross a border and as `fuselens analyze` prints them: times in µs, lines from 1, columns from 0 (UTF-16). */

export interface FingerprintKernel {
  readonly name: string;
  readonly type: string;
  readonly meanUs: number | null;
  /** As the timeline colours it. */
  readonly family: string;
  /** The part of the formula this kernel is: source text of the eager form's operator; '' where none is known. */
  readonly term: string;
}

export interface FingerprintSourceEntry {
  readonly file: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly function: string;
  readonly method: 'stack' | 'alignment' | 'carried';
  /** Launched by the replay of a recorded graph, or by what a compiler made of the place. */
  readonly through?: 'replay' | 'compiled';
  readonly confidence: number;
  /** Other files whose body is the same. */
  readonly equals: readonly string[];
  readonly occurrences: number;
  /** The file was changed since the run: the lines are where the function stands now. */
  readonly changed?: boolean;
  readonly kernels: readonly { readonly line: number; readonly startColumn: number; readonly endLine: number; readonly endColumn: number }[];
}

export interface FingerprintEntry {
  readonly id: string;
  /** Catalogue id; null for an unknown chain, which is then named by its operators. */
  readonly fusion: string | null;
  /** English title; the l10n bundle translates it. */
  readonly title: string;
  readonly kind: 'fusion' | 'waste' | 'unknown';
  readonly form: string;
  readonly phase: string;
  readonly kernels: readonly FingerprintKernel[];
  /** `operator`: the run had no device, and these are operators of the CPU. Absent: kernels. */
  readonly unit?: 'operator';
  readonly occurrences: number;
  readonly perStep: number;
  /** In each repeat of the layer pattern (one layer, or the shortest mix of layers that repeats); null outside repeated layers. */
  readonly perLayer: number | null;
  readonly meanUs: number;
  readonly totalUs: number;
  readonly periodUs: number | null;
  readonly gapUs: number;
  /** How long the host waited, all occurrences together; null where nothing tells. */
  readonly stallUs: number | null;
  readonly recoverableDeviceUs: readonly [number, number];
  readonly recoverableStepUs: readonly [number, number];
  /** First occurrence, to zoom to: ns relative to the rank's base, and the device event it starts with. */
  readonly first: { readonly startNs: number; readonly endNs: number; readonly event: number };
  readonly source: readonly FingerprintSourceEntry[];
}

/** Device time of one source line, all kernels located there together. */
export interface LineCost {
  readonly file: string;
  readonly line: number;
  readonly kernels: number;
  /** As in `FingerprintEntry`. */
  readonly unit?: 'operator';
  readonly totalUs: number;
  /** Of it, kernels that are the backward of the line. */
  readonly backwardUs: number;
  readonly method: 'stack' | 'alignment' | 'carried';
}

export interface Attribution {
  /** Share of kernel time with a source. */
  readonly locatedShare: number;
  /** How the alignment with the workspace went; null when no folder was given or it was not needed. */
  readonly alignment:
    | { readonly file: string; readonly function: string; readonly confidence: number; readonly equals: readonly string[]; readonly holeShare: number }
    | { readonly code: string; readonly args?: Readonly<Record<string, string | number>> }
    | null;
  /** Whether the profile has Python stacks; `empty`: they were asked for and none was recorded. */
  readonly stacks: 'recorded' | 'empty' | 'none';
  /** How much a second capture with stacks has in common with this one, 0 to 1; `enough`: its lines were carried over. Null when none was given. */
  readonly carried: { readonly share: number; readonly enough: boolean } | null;
  /** Of the files the run was aligned with: operators read, and places that could not be read, which explain nothing. */
  readonly holes: readonly { readonly file: string; readonly operators: number; readonly holes: number }[];
  readonly files: number;
  readonly capped: boolean;
  /** Files of the run that several files here fit equally: the user says which, by `pathMap`. */
  readonly ambiguous: readonly { readonly recorded: string; readonly candidates: readonly string[] }[];
}

export interface FingerprintData {
  readonly fingerprints: readonly FingerprintEntry[];
  readonly lines: readonly LineCost[];
  readonly attribution: Attribution;
}

/** What is known of a run besides its kernels; it puts equal answers in order. */
export interface SourceHints {
  /** Scripts the run may have been started with, the likeliest first. */
  readonly entries?: readonly string[] | undefined;
  /** `model_type` and `architectures` of the model that ran. */
  readonly models?: readonly string[] | undefined;
  /** Files open in the editor, the active one first. */
  readonly open?: readonly string[] | undefined;
}

export interface FingerprintMethods {
  /** Chains of one rank; with `sources` (folders or files) they are located in the code. `overlay` has the text of open documents by path, `pathMap` prefixes of paths in the run → prefixes here. */
  fingerprints: {
    readonly params: { readonly rank: string; readonly step?: number; readonly sources?: readonly string[]; readonly overlay?: Readonly<Record<string, string>>; readonly pathMap?: Readonly<Record<string, string>>; /** Trusted workspaces whose `.fuselens/fusions` are read. */ readonly fusionFolders?: readonly string[];
      /** Packages of an environment that are source too, by the names of their folders. */ readonly packages?: { readonly interpreter: string; readonly names: readonly string[] };
      /** A second profile of the same code, with Python stacks: its lines are carried over. */ readonly stacks?: string; readonly hints?: SourceHints };
    readonly result: FingerprintData;
  };
}
