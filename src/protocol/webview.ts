/**
 * Messages between the extension host and a view (Overview, Timeline). Plain data only: typed arrays travel host → webview
 * as `ArrayBuffer`s, the way back is small JSON, times are doubles relative to the rank's base, no bigint.
 * A view can be rebuilt from (profile, view state): hidden views are thrown away and built again when shown.
 */
import type { EngineMethod, EngineProgress, ProfileSummary } from './engine';

export type ViewKind = 'overview' | 'timeline' | 'fingerprints';

export const VIEW_KINDS: readonly ViewKind[] = ['overview', 'timeline', 'fingerprints'];

/** What a view remembers while hidden and over a restart of the editor: at most 16 KB as JSON. */
export interface ViewState {
  readonly version: 1;
  readonly path: string;
  readonly view: ViewKind;
  readonly prefer?: 'text' | 'db';
  readonly rank?: string;
  /** Index of the step, absent for the whole recording. */
  readonly step?: number;
  /** Whatever else the view wants to keep (viewport, sort order, filters); its own business. */
  readonly detail?: unknown;
}

export const VIEW_STATE_LIMIT = 16 * 1024;

/** Where a view is asked to go: the timeline shows this event, or this range, of this rank. */
export interface NavigateTarget {
  readonly rank: string;
  readonly step?: number;
  /** Index into the rank's device events. */
  readonly event?: number;
  readonly startNs?: number;
  readonly endNs?: number;
}

/** Methods a view may call on the engine; opening and releasing stay with the host. */
export type ViewMethod = Exclude<EngineMethod, 'open' | 'release'>;

export interface ViewInit {
  readonly view: ViewKind;
  readonly profile: ProfileSummary;
  readonly state: ViewState;
  /** BCP 47 tag of the editor's display language. */
  readonly language: string;
  /** English → translated, empty for English. */
  readonly bundle: Readonly<Record<string, string>>;
}

export type ToWebview =
  /** First message after `ready`, and again after the profile was reloaded. */
  | { readonly kind: 'init'; readonly init: ViewInit }
  /** The profile is being opened: nothing to show yet. The first one brings the language, for a failure may follow. */
  | { readonly kind: 'opening'; readonly name: string; readonly progress?: EngineProgress; readonly language?: string; readonly bundle?: ViewInit['bundle'] }
  /** The profile could not be opened, or its engine ended; `message` is a finished sentence. */
  | { readonly kind: 'failed'; readonly message: string; readonly crashed: boolean }
  | { readonly kind: 'reply'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly code: string; readonly message: string }
  | { readonly kind: 'progress'; readonly id: number; readonly progress: EngineProgress }
  | { readonly kind: 'navigate'; readonly target: NavigateTarget };

export type FromWebview =
  /** The script runs and listens; nothing is posted to it before. `state` is what it had saved, if anything. */
  | { readonly kind: 'ready'; readonly state?: unknown }
  | { readonly kind: 'call'; readonly id: number; readonly method: ViewMethod; readonly params: unknown }
  /** Stops a call; id 0 stops the opening of the profile. */
  | { readonly kind: 'cancel'; readonly id: number }
  /** The view's state changed (rank, step, viewport): the host keeps the last one beside the tab. */
  | { readonly kind: 'state'; readonly state: ViewState }
  | { readonly kind: 'copy'; readonly text: string }
  /** Asks where to save, then writes; `name` is the suggested file name. */
  | { readonly kind: 'saveText'; readonly name: string; readonly text: string }
  | { readonly kind: 'show'; readonly view: ViewKind; readonly target: NavigateTarget }
  /** Opens a source file of the user's at a line (1-based). */
  | { readonly kind: 'openSource'; readonly file: string; readonly line: number }
  | { readonly kind: 'reopen' }
  /** Opens another profile: the buttons of an error page. */
  | { readonly kind: 'openOther' };
