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
  /** Round trip added between host and views, to see how they fare over a slow connection. */
  readonly latency: { ms: number };
  /** Chains of the active profile and their lines, computed now; undefined when no profile is open. */
  evidence(): Promise<FingerprintData | undefined>;
}
