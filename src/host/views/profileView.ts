import type * as vscode from 'vscode';
import type { EngineParams } from '../../protocol/engine';
import { VIEW_KINDS, type FromWebview, type NavigateTarget, type ToWebview, type ViewKind, type ViewMethod, type ViewState } from '../../protocol/webview';
import { isCrash, type Profile } from '../profile';
import { sentenceOf } from '../sentences';
import type { SourceRequest } from '../sourceRequest';
import { isSmallState, speech, WebviewBridge, type AskOptions, type BridgeServices } from './webviewBridge';

/** What a view needs from the rest of the host. */
export interface ViewServices extends BridgeServices {
  readonly show: (profile: Profile, view: ViewKind, target: NavigateTarget) => void;
  readonly openOther: () => void;
  /** The user's source, as a request names it. */
  readonly sources: () => SourceRequest;
}

/**
 * The bridge between the page of one view and its profile: answers the view's calls through the profile's engine and keeps
 * the view's state. Custom editors and panels both use it.
 */
export class ProfileView extends WebviewBridge<ViewMethod, FromWebview, ToWebview> {
  private initialised = false;
  private pendingTarget: NavigateTarget | undefined;

  constructor(webview: vscode.Webview, readonly profile: Profile, public state: ViewState, protected override readonly services: ViewServices) {
    super(webview, state.view, [profile], services);
    this.disposables.push(profile.onDidChange(() => this.noteCrash()));
  }

  /** Shows a rank, step, event or range; kept until the view is ready. */
  navigate(target: NavigateTarget): void {
    const { step: _step, ...rest } = this.state;
    this.state = { ...rest, rank: target.rank, ...(target.step === undefined ? {} : { step: target.step }) };
    if (this.initialised) {
      this.post({ kind: 'navigate', target });
    } else {
      this.pendingTarget = target;
    }
  }

  protected override receive(message: FromWebview): void {
    switch (message.kind) {
      case 'show':
        this.services.show(this.profile, message.view, message.target);
        break;
      case 'openOther':
        this.services.openOther();
        break;
      default:
        this.receiveShared(message);
    }
  }

  protected override start(): Promise<void> {
    this.initialised = false;
    return super.start();
  }

  protected override opened(): void {
    const { summary } = this.profile;
    if (summary === undefined) {
      return;
    }
    const profile = { ...summary, name: this.profile.name, ranks: this.profile.rankSummaries() };
    this.post({ kind: 'init', init: { view: this.state.view, profile, state: this.state, ...speech() } });
    this.initialised = true;
    if (this.pendingTarget !== undefined) {
      this.post({ kind: 'navigate', target: this.pendingTarget });
      this.pendingTarget = undefined;
    }
  }

  protected override ask(method: ViewMethod, params: unknown, options: AskOptions): Promise<unknown> {
    // The webview's own types guarantee the params of each method; the engine checks what it reads.
    return this.profile.call(method, this.withSources(method, params) as EngineParams<typeof method>, options);
  }

  /** A view knows no folders: chains are located in the workspace's code, which the host adds. */
  private withSources(method: ViewMethod, params: unknown): unknown {
    return method === 'fingerprints' ? { ...(params as object), ...this.services.sources() } : params;
  }

  private noteCrash(): void {
    const { status } = this.profile;
    if (this.initialised && status.kind === 'failed' && isCrash(status.error)) {
      this.initialised = false;
      this.post({ kind: 'failed', message: sentenceOf(status.error), crashed: true });
    }
  }

  protected override adopt(state: unknown): void {
    const saved = asViewState(state);
    if (saved?.view === this.state.view && saved.path === this.state.path && this.pendingTarget === undefined && isSmallState(saved)) {
      this.state = saved;
    }
  }
}

/** A view state as saved by a webview, or undefined when it is something else (an older version, another extension's). */
export function asViewState(value: unknown): ViewState | undefined {
  const state = value as Partial<ViewState> | undefined | null;
  const valid = typeof state === 'object' && state !== null && state.version === 1 && typeof state.path === 'string' && VIEW_KINDS.some((kind) => kind === state.view);
  return valid ? (state as ViewState) : undefined;
}
