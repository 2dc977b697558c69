/**
 * Messages between the host and the Compare view. As in `webview.ts`: plain data, small JSON back, and a view that can be
 * built again from its two profiles and its state.
 */
import type { CompareOptions, CompareReport, CompareWindow, CompareWindowParams } from './compare';
import type { EngineProgress } from './engine';
import type { FromWebview, NavigateTarget, ToWebview, ViewInit } from './webview';

export interface SideRef {
  readonly path: string;
  readonly prefer?: 'text' | 'db';
}

/** What the view keeps besides its two profiles. */
export interface CompareDetail {
  readonly options?: CompareOptions;
  /** Sums over one rank or over all. */
  readonly scope?: 'rank' | 'all';
  readonly table?: string;
  readonly sort?: { readonly key: string; readonly descending: boolean };
  readonly filter?: string;
  /** What the bars show. */
  readonly bars?: string;
  /** Id of the pair of windows that is shown. */
  readonly window?: string;
}

export interface CompareState {
  readonly version: 1;
  readonly view: 'compare';
  readonly base: SideRef;
  readonly candidate: SideRef;
  readonly detail?: CompareDetail;
}

export interface CompareInit {
  readonly state: CompareState;
  readonly base: { readonly name: string; readonly path: string };
  readonly candidate: { readonly name: string; readonly path: string };
  readonly language: ViewInit['language'];
  readonly bundle: ViewInit['bundle'];
}

export type Side = 'base' | 'candidate';

/** What the view asks the host; the host asks the engines of both profiles. */
export interface CompareViewMethods {
  compareReport: { readonly params: { readonly options: CompareOptions }; readonly result: CompareReport };
  comparedWindow: { readonly params: CompareWindowParams & { readonly side: Side }; readonly result: CompareWindow };
}

export type ToCompare =
  | { readonly kind: 'init'; readonly init: CompareInit }
  | Extract<ToWebview, { readonly kind: 'opening' | 'failed' | 'reply' | 'error' }>
  | { readonly kind: 'progress'; readonly id: number; readonly progress: CompareProgress };

/** Ranks read so far, and how far the one at hand is. */
export interface CompareProgress {
  readonly done: number;
  readonly total: number;
  readonly name: string;
  readonly reading?: EngineProgress;
}

export type FromCompare =
  | { readonly kind: 'ready'; readonly state?: unknown }
  | { readonly kind: 'call'; readonly id: number; readonly method: keyof CompareViewMethods; readonly params: unknown }
  | { readonly kind: 'state'; readonly state: CompareState }
  | Extract<FromWebview, { readonly kind: 'cancel' | 'copy' | 'saveText' | 'openSource' | 'reopen' }>
  | { readonly kind: 'swap' }
  | { readonly kind: 'showSide'; readonly side: Side; readonly target: NavigateTarget };
