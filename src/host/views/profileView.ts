import * as vscode from 'vscode';
import type { EngineParams, EngineProgress } from '../../protocol/engine';
import { VIEW_KINDS, VIEW_STATE_LIMIT, type FromWebview, type NavigateTarget, type ToWebview, type ViewKind, type ViewMethod, type ViewState } from '../../protocol/webview';
import { isCrash, type Profile } from '../profile';
import { codeOf, isCancelled, sentenceOf } from '../sentences';
import type { SourceRequest } from '../sourceRequest';
import { viewHtml } from './viewHtml';

/** What a view needs from the rest of the host. */
export interface ViewServices {
  readonly extensionUri: vscode.Uri;
  /** Milliseconds every message to and from a view is held back: tests put a slow connection here. */
  readonly latency: { ms: number };
  readonly show: (profile: Profile, view: ViewKind, target: NavigateTarget) => void;
  readonly openSource: (file: string, line: number) => Promise<void>;
  readonly openOther: () => void;
  /** The user's source, as a request names it. */
  readonly sources: () => SourceRequest;
}

/** Id of the opening among the running calls; calls of the webview count from 1. */
const OPENING = 0;

/**
 * The bridge between one webview and its profile: answers the view's calls through the profile's engine and keeps the view's
 * state. Custom editors and panels both use it. Nothing is posted before the webview said `ready`, which it says again each
 * time it was hidden and shown.
 */
export class ProfileView implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[] = [];
  private readonly running = new Map<number, AbortController>();
  private readonly engineUse: vscode.Disposable;
  private ready = false;
  private initialised = false;
  private pendingTarget: NavigateTarget | undefined;

  constructor(private readonly webview: vscode.Webview, readonly profile: Profile, public state: ViewState, private readonly services: ViewServices) {
    this.engineUse = profile.use();
    webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(services.extensionUri, 'dist'), vscode.Uri.joinPath(services.extensionUri, 'media')] };
    this.disposables.push(
      webview.onDidReceiveMessage((message: FromWebview) => this.afterLatency(() => this.receive(message))),
      profile.onDidReload(() => void this.start()),
      profile.onDidChange(() => this.noteCrash()),
    );
    webview.html = viewHtml(webview, services.extensionUri, state.view);
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

  dispose(): void {
    this.cancelAll();
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
    this.engineUse.dispose();
  }

  private receive(message: FromWebview): void {
    switch (message.kind) {
      case 'ready':
        this.ready = true;
        this.adopt(message.state);
        void this.start();
        break;
      case 'call':
        void this.answer(message.id, message.method, message.params);
        break;
      case 'cancel':
        this.running.get(message.id)?.abort();
        break;
      case 'state':
        this.adopt(message.state);
        break;
      case 'copy':
        void vscode.env.clipboard.writeText(message.text);
        vscode.window.setStatusBarMessage(vscode.l10n.t('FuseLens: copied'), 2000);
        break;
      case 'saveText':
        void saveText(message.name, message.text, this.profile);
        break;
      case 'show':
        this.services.show(this.profile, message.view, message.target);
        break;
      case 'openSource':
        void this.services.openSource(message.file, message.line);
        break;
      case 'reopen':
        void this.profile.reload().catch(() => undefined);
        break;
      case 'openOther':
        this.services.openOther();
        break;
      default:
        message satisfies never;
    }
  }

  /** Opens the profile and hands the view what it starts with. */
  private async start(): Promise<void> {
    if (!this.ready) {
      return;
    }
    this.cancelAll();
    this.initialised = false;
    const { name } = this.profile;
    const speech = { language: vscode.env.language, bundle: vscode.l10n.bundle ?? {} };
    this.post({ kind: 'opening', name, ...speech });
    const abort = new AbortController();
    this.running.set(OPENING, abort);
    try {
      await this.profile.open({ signal: abort.signal, progress: (progress) => this.post({ kind: 'opening', name, progress }) });
    } catch (error) {
      const message = isCancelled(error) ? vscode.l10n.t('Opening {0} was cancelled.', name) : sentenceOf(error);
      this.post({ kind: 'failed', message, crashed: isCrash(error) });
      return;
    } finally {
      this.running.delete(OPENING);
    }
    const { summary } = this.profile;
    if (summary === undefined) {
      return;
    }
    const profile = { ...summary, name: this.profile.name, ranks: this.profile.rankSummaries() };
    this.post({ kind: 'init', init: { view: this.state.view, profile, state: this.state, ...speech } });
    this.initialised = true;
    if (this.pendingTarget !== undefined) {
      this.post({ kind: 'navigate', target: this.pendingTarget });
      this.pendingTarget = undefined;
    }
  }

  private async answer(id: number, method: ViewMethod, params: unknown): Promise<void> {
    const abort = new AbortController();
    this.running.set(id, abort);
    const progress = (value: EngineProgress): void => this.post({ kind: 'progress', id, progress: value });
    try {
      // The webview's own types guarantee the params of each method; the engine checks what it reads.
      const result = await this.profile.call(method, this.withSources(method, params) as EngineParams<typeof method>, { signal: abort.signal, progress });
      this.post({ kind: 'reply', id, result });
    } catch (error) {
      const message = isCancelled(error) ? vscode.l10n.t('Cancelled.') : sentenceOf(error);
      this.post({ kind: 'error', id, code: isCancelled(error) ? 'cancelled' : codeOf(error), message });
    } finally {
      this.running.delete(id);
    }
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

  /** Takes over what the webview remembers, if it belongs to this tab and is small enough to keep. */
  private adopt(state: unknown): void {
    const saved = asViewState(state);
    if (saved?.view === this.state.view && saved.path === this.state.path && this.pendingTarget === undefined && JSON.stringify(saved).length <= VIEW_STATE_LIMIT) {
      this.state = saved;
    }
  }

  private cancelAll(): void {
    for (const abort of this.running.values()) {
      abort.abort();
    }
    this.running.clear();
  }

  private post(message: ToWebview): void {
    this.afterLatency(() => void this.webview.postMessage(message));
  }

  private afterLatency(action: () => void): void {
    const { ms } = this.services.latency;
    if (ms > 0) {
      setTimeout(action, ms / 2);
    } else {
      action();
    }
  }
}

/** A view state as saved by a webview, or undefined when it is something else (an older version, another extension's). */
export function asViewState(value: unknown): ViewState | undefined {
  const state = value as Partial<ViewState> | undefined | null;
  const valid = typeof state === 'object' && state !== null && state.version === 1 && typeof state.path === 'string' && VIEW_KINDS.some((kind) => kind === state.view);
  return valid ? (state as ViewState) : undefined;
}

/** Asks where to, then writes; the dialog starts beside the workspace, never beside the profile. */
export async function saveText(name: string, text: string, profile: Profile): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(profile.path).with({ path: vscode.Uri.joinPath(vscode.Uri.file(profile.path), '..').path });
  const target = await vscode.window.showSaveDialog({ defaultUri: vscode.Uri.joinPath(folder, name), filters: { CSV: ['csv'] } });
  if (target === undefined) {
    return;
  }
  try {
    await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(text));
    const open = vscode.l10n.t('Open');
    if ((await vscode.window.showInformationMessage(vscode.l10n.t('Saved {0}.', target.fsPath), open)) === open) {
      await vscode.window.showTextDocument(target);
    }
  } catch (error) {
    void vscode.window.showErrorMessage(vscode.l10n.t('{0} could not be written: {1}', target.fsPath, error instanceof Error ? error.message : String(error)));
  }
}
