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
  readonly progress: ((progress: never) => void) | undefined;
}

/** What the host answers a call with; every kind of view has these. */
type Answer = Extract<ToWebview, { kind: 'reply' | 'error' }> | { readonly kind: 'progress'; readonly id: number; readonly progress: unknown };
type Posted = { readonly kind: 'ready'; readonly state?: unknown } | { readonly kind: 'call'; readonly id: number; readonly method: string; readonly params: unknown } | { readonly kind: 'cancel'; readonly id: number } | { readonly kind: 'state'; readonly state: unknown };

export type OtherMessage = Exclude<ToWebview, { kind: 'reply' | 'error' | 'progress' }>;

/** Requests with replies over the webview's channel, for views with messages of their own (`Other` from the host, `Out` to it). */
export class MessageBridge<Other extends { readonly kind: string }, Out extends { readonly kind: string }, State> {
  private readonly api = acquireVsCodeApi();
  private readonly pending = new Map<number, Pending>();
  private nextId = 1;

  /** Listens first, then says `ready`: the host posts nothing before that. */
  start(listener: (message: Other) => void): void {
    window.addEventListener('message', (event: MessageEvent<Answer | Other>) => {
      const message = event.data;
      if (isAnswer(message)) {
        this.answer(message);
      } else {
        listener(message);
      }
    });
    const state = this.api.getState();
    this.send(state === undefined ? { kind: 'ready' } : { kind: 'ready', state });
  }

  post(message: Out): void {
    this.api.postMessage(message);
  }

  /** Keeps the state in the webview and at the host; refuses (false) what is over the limit. */
  saveState(state: State): boolean {
    if (JSON.stringify(state).length > VIEW_STATE_LIMIT) {
      return false;
    }
    this.api.setState(state);
    this.send({ kind: 'state', state });
    return true;
  }

  protected request(method: string, params: unknown, { signal, progress }: { readonly signal?: AbortSignal; readonly progress?: (progress: never) => void }): Promise<unknown> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject, progress });
      signal?.addEventListener('abort', () => this.send({ kind: 'cancel', id }), { once: true });
      this.send({ kind: 'call', id, method, params });
    });
  }

  private send(message: Posted): void {
    this.api.postMessage(message);
  }

  private answer(message: Answer): void {
    switch (message.kind) {
      case 'reply':
        this.take(message.id)?.resolve(message.result);
        break;
      case 'error':
        this.take(message.id)?.reject(new RequestFailed(message.code, message.message));
        break;
      case 'progress':
        (this.pending.get(message.id)?.progress as ((progress: unknown) => void) | undefined)?.(message.progress);
        break;
    }
  }

  private take(id: number): Pending | undefined {
    const entry = this.pending.get(id);
    this.pending.delete(id);
    return entry;
  }
}

function isAnswer(message: { readonly kind: string }): message is Answer {
  return message.kind === 'reply' || message.kind === 'error' || message.kind === 'progress';
}

/** The bridge of the views of one profile. */
export class Bridge extends MessageBridge<OtherMessage, FromWebview, ViewState> {
  call<M extends ViewMethod>(method: M, params: EngineParams<M>, options: { readonly signal?: AbortSignal; readonly progress?: (progress: EngineProgress) => void } = {}): Promise<EngineResult<M>> {
    return this.request(method, params, options) as Promise<EngineResult<M>>;
  }
}
