/**
 * Timeline data: the first message is a pyramid of all lanes (at most 1 MB); then windows of 3× the viewport (at most
 * 256 KB). Typed arrays host → webview, small JSON back. Times are ns relative to `originNs` of the layout.
 * (The timeline owner refines these types.)
 */
export interface TimelineLane {
  readonly id: string;
  readonly kind: 'compute' | 'communication' | 'other' | 'compute-idle' | 'free' | 'stream' | 'thread' | 'python';
  readonly label: string;
  readonly events: number;
}

export interface TimelineMethods {
  timelineLayout: { readonly params: { readonly rank: string; readonly step?: number }; readonly result: { readonly lanes: readonly TimelineLane[]; readonly originNs: number; readonly spanNs: number } };
}
