/**
 * The webview's end of `protocol/webview`: posts requests, matches replies, and hands everything else to a listener. The
 * only file that touches `acquireVsCodeApi`.
 */
import type { EngineParams, EngineProgress, EngineResult } from '../../src/protocol/engine';
import { VIEW_STATE_LIMIT, type FromWebview, type ToWebview, type ViewMethod, type ViewState } from '../../src/protocol/webview';

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

/** A request that failed; `message` is in the user's language. */
export class RequestFailed extends Error {
  constructor(readonly code: string, message: string) {
    super(message);
    this.name = 'RequestFailed';
  }
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly progress: ((progress: EngineProgress) => void) | undefined;
}

export type OtherMessage = Exclude<ToWebview, { kind: 'reply' | 'error' | 'progress' }>;

export class Bridge {
  private readonly api = acquireVsCodeApi();
  private readonly pending = new Map<number, Pending>();
  private nextId = 1;

  /** Listens first, then says `ready`: the host posts nothing before that. */
  start(listener: (message: OtherMessage) => void): void {
    window.addEventListener('message', (event: MessageEvent<ToWebview>) => {
      const message = event.data;
      switch (message.kind) {
        case 'reply':
          this.take(message.id)?.resolve(message.result);
          return;
        case 'error':
          this.take(message.id)?.reject(new RequestFailed(message.code, message.message));
          return;
        case 'progress':
          this.pending.get(message.id)?.progress?.(message.progress);
          return;
        case 'init':
        case 'opening':
        case 'failed':
        case 'navigate':
          listener(message);
      }
    });
    const state = this.api.getState();
    this.post(state === undefined ? { kind: 'ready' } : { kind: 'ready', state });
  }

  post(message: FromWebview): void {
    this.api.postMessage(message);
  }

  call<M extends ViewMethod>(method: M, params: EngineParams<M>, options: { readonly signal?: AbortSignal; readonly progress?: (progress: EngineProgress) => void } = {}): Promise<EngineResult<M>> {
    const id = this.nextId++;
    return new Promise<EngineResult<M>>((resolve, reject) => {
      this.pending.set(id, { resolve: resolve as (result: unknown) => void, reject, progress: options.progress });
      options.signal?.addEventListener('abort', () => this.post({ kind: 'cancel', id }), { once: true });
      this.post({ kind: 'call', id, method, params });
    });
  }

  /** Keeps the state in the webview and at the host; refuses (false) what is over the limit. */
  saveState(state: ViewState): boolean {
    if (JSON.stringify(state).length > VIEW_STATE_LIMIT) {
      return false;
    }
    this.api.setState(state);
    this.post({ kind: 'state', state });
    return true;
  }

  private take(id: number): Pending | undefined {
    const entry = this.pending.get(id);
    this.pending.delete(id);
    return entry;
  }
}
