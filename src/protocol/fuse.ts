/** Replacing eager forms, as it crosses a border: offsets are UTF-16, end exclusive, in the text that was sent. */

export interface FuseEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface FuseEntry {
  /** Catalogue id. */
  readonly fusion: string;
  /** Lines from 1. */
  readonly startLine: number;
  readonly endLine: number;
  readonly status: 'fixable' | 'advice' | 'refused';
  /** Message codes below `fuse.reason.`, `fuse.remedy.` and `fuse.promise.`. */
  readonly reason: string | undefined;
  readonly remedy: string | undefined;
  readonly promise: string | undefined;
  /** The new expression. */
  readonly replacement: string | undefined;
  readonly edits: readonly FuseEdit[];
}

/** Lines of a chain that the profile shows. */
export interface FusePlace {
  readonly fusion: string;
  readonly startLine: number;
  readonly endLine: number;
}

export interface FuseAnswer {
  readonly entries: readonly FuseEntry[];
  /** All fixable entries as one edit, imports made once; those that overlap an earlier one wait for the next time. */
  readonly together: { readonly edits: readonly FuseEdit[]; readonly count: number };
}

export interface FuseMethods {
  /** What can be done about the eager forms of one file, for the device of the open profile; only those at `places`. */
  fuse: {
    readonly params: { readonly file: string; readonly text: string; readonly sources: readonly string[]; readonly places: readonly FusePlace[] };
    readonly result: FuseAnswer;
  };
}
