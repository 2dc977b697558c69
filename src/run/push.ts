import type { RunTools } from './tools';
import type { Shell } from './shell';

/** What `push` would send. Paths are relative, with `/`. */
export interface PushPlan {
  readonly from: string;
  readonly to: string;
  /** `newerThere`: the host's file is younger, so somebody may have edited it there. */
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly why: 'new' | 'changed'; readonly newerThere?: boolean }[];
  /** Files that are the same there already. */
  readonly unchanged: number;
  readonly bytes: number;
  /** Left out by rules, as the topmost path each; `overLimit`: too large for source code. */
  readonly ignored: readonly string[];
  readonly overLimit: readonly { readonly path: string; readonly bytes: number }[];
  readonly notFiles: readonly NotSent[];
}

/** What is no file that could be sent: a link out of the folder, to a folder or to nothing; a socket, pipe or device. */
export interface NotSent {
  readonly path: string;
  readonly why: 'link-outside' | 'link-to-folder' | 'link-to-nothing' | 'special';
}

export interface SyncProgress {
  readonly bytes: number;
  readonly totalBytes: number;
  readonly file: string;
}

export interface PushOptions {
  readonly shell: Shell;
  readonly tools?: RunTools;
  /** Local folder. */
  readonly from: string;
  /** Folder on the host: absolute, or relative to the home folder there. */
  readonly to: string;
  /** Rules as in `.gitignore`, after those of the folder itself (`.gitignore` at any depth, `.fuselensignore` at the top). */
  readonly ignore?: readonly string[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: SyncProgress) => void;
}

export { planPush, push } from './pushFiles';
