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
  /** Where the reason stands, where that is elsewhere: `train.py:12`. */
  readonly reasonPlace: string | undefined;
  readonly remedy: string | undefined;
  readonly promise: string | undefined;
  /** The new expression. */
  readonly replacement: string | undefined;
  /** Oldest version that has the operator, and whether it is installed; undefined where that is not known. */
  readonly requires: string | undefined;
  readonly requirementMet: boolean | undefined;
  /** Below `fuse.caution.`. */
  readonly cautions: readonly string[];
  /** Switches of the code's framework; `note` below `fuse.switch.note.`. They come before an edit. */
  readonly switches: readonly { readonly distribution: string; readonly version: string | undefined; readonly setting: string; readonly note: string | undefined }[];
  /** Advice of the workspace that added the fusion. */
  readonly note: string | undefined;
  /** The file is not edited, and a patch module can replace the function. */
  readonly patchable: boolean;
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
  /** A module that replaces the functions of an installed file, where one was asked for and can be written. */
  readonly patch?: { readonly name: string; readonly text: string; readonly replaced: readonly string[]; readonly left: readonly string[] };
  /** What is wrong with files of `.fuselens/fusions`. */
  readonly problems: readonly { readonly code: string; readonly args?: Readonly<Record<string, string | number>> }[];
}

export interface FuseParams {
  readonly file: string;
  readonly text: string;
  /** Folders whose Python is followed. */
  readonly sources: readonly string[];
  /** Folders that may be edited. Default: `sources`. */
  readonly workspace?: readonly string[];
  /** Only entries at these places; undefined for all of the file. */
  readonly places?: readonly FusePlace[];
  /** Instead of the profile's device. */
  readonly backend?: 'ascend' | 'cuda' | 'torch';
  /** The interpreter whose installed versions count: its packages' metadata are read, it is not run. */
  readonly interpreter?: string;
  /** Trusted workspaces whose `.fuselens/fusions` are read. */
  readonly fusionFolders?: readonly string[];
  /** Reasons that shall not hold an edit back, of those that may be waived. */
  readonly allow?: readonly string[];
  /** SHA-256 of the installed file's bytes: asks for a patch module. */
  readonly patchDigest?: string;
}

export interface FuseMethods {
  /** What can be done about the eager forms of one file, for the device of the open profile; only those at `places`. */
  fuse: {
    readonly params: FuseParams;
    readonly result: FuseAnswer;
  };
}
