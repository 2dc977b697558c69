import type { CompareState } from '../protocol/compareView';
import type { FingerprintData } from '../protocol/fingerprints';
import type * as vscode from 'vscode';
import type { RankSummary } from '../protocol/engine';
import type { ViewState } from '../protocol/webview';
import type { ProfileNode } from './views/profileNodes';

export interface ProfileInfo {
  readonly path: string;
  readonly active: boolean;
  readonly status: 'idle' | 'opening' | 'ready' | 'failed';
  /** Whether a worker holds this profile's memory now. */
  readonly engineRuns: boolean;
  readonly ranks: readonly RankSummary[];
}

export interface RunInfo {
  readonly id: string;
  readonly host: string | undefined;
  readonly name: string;
  readonly phase: string | undefined;
  readonly exit: number | undefined;
  readonly stopped: boolean;
  readonly step: number | undefined;
  readonly totalSteps: number | undefined;
  readonly loss: number | undefined;
  /** A terminal of this window streams it. */
  readonly followed: boolean;
  readonly profile: string | undefined;
  /** The row in the Runs tree. */
  readonly row: vscode.TreeItem;
}

/** What `activate()` returns: enough for tests and demos, no promise to other extensions. */
export interface ExtensionApi {
  /** Milliseconds of our own code inside `activate()`. */
  readonly activationMs: number;
  /** As the command does: lists the profile, makes it active, shows its Overview. False when it could not be opened (the user was told why). */
  openProfile(path: string): Promise<boolean>;
  closeProfile(path: string): void;
  profiles(): readonly ProfileInfo[];
  readonly tree: {
    children(node?: ProfileNode): Promise<readonly ProfileNode[]>;
    item(node: ProfileNode): vscode.TreeItem;
  };
  /** State of every open view. */
  views(): readonly ViewState[];
  /** State of every open comparison. */
  comparisons(): readonly CompareState[];
  /** Round trip added between host and views, to see how they fare over a slow connection. */
  readonly latency: { ms: number };
  /** Runs this window knows, newest first. */
  runs(): readonly RunInfo[];
  /** Chains of the active profile and their lines, computed now; undefined when no profile is open. */
  evidence(): Promise<FingerprintData | undefined>;
}
