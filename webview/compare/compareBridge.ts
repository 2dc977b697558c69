import type { CompareProgress, CompareState, CompareViewMethods, FromCompare, ToCompare } from '../../src/protocol/compareView';
import { MessageBridge } from '../shared/bridge';

export type CompareMessage = Exclude<ToCompare, { kind: 'reply' | 'error' | 'progress' }>;

/** The webview's end of `protocol/compareView`. */
export class CompareBridge extends MessageBridge<CompareMessage, FromCompare, CompareState> {
  call<M extends keyof CompareViewMethods>(method: M, params: CompareViewMethods[M]['params'], options: { readonly signal?: AbortSignal; readonly progress?: (progress: CompareProgress) => void } = {}): Promise<CompareViewMethods[M]['result']> {
    return this.request(method, params, options) as Promise<CompareViewMethods[M]['result']>;
  }
}
