import * as vscode from 'vscode';
import { VIEW_STATE_LIMIT, type FromWebview, type ToWebview, type ViewInit, type ViewKind } from '../../protocol/webview';
import { isCrash, type Profile } from '../profile';
import { codeOf, isCancelled, sentenceOf } from '../sentences';
import { saveText } from './saveText';
import { viewHtml } from './viewHtml';

/** What every bridge needs from the rest of the host. */
export interface BridgeServices {
  readonly extensionUri: vscode.Uri;
  /** Milliseconds every message to and from a view is held back: tests put a slow connection here. */
  readonly latency: { ms: number };
  readonly openSource: (file: string, line: number) => Promise<void>;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  readonly progress: (progress: unknown) => void;
}

/** What every view says, and hears. */
type SharedIn<Method> =
  | Extract<FromWebview, { readonly kind: 'ready' | 'cancel' | 'copy' | 'saveText' | 'openSource' | 'reopen' }>
  | { readonly kind: 'call'; readonly id: number; readonly method: Method; readonly params: unknown }
  | { readonly kind: 'state'; readonly state: unknown };
type SharedOut = Extract<ToWebview, { readonly kind: 'opening' | 'failed' | 'reply' | 'error' }> | { readonly kind: 'progress'; readonly id: number; readonly progress: unknown };

/** Id of the opening among the running calls; calls of the webview count from 1. */
const OPENING = 0;

/**
 * The host's end of a view's channel: opens the view's profiles, in their order, and answers its calls. Nothing is posted
 * before the webview said `ready`, which it says again each time it was hidden and shown. What a view saves as text is
 * suggested beside the last profile.
 */
export abstract class WebviewBridge<Method extends string, In, Out> implements vscode.Disposable {
  protected readonly disposables: vscode.Disposable[];
  private readonly running = new Map<number, AbortController>();
  private ready = false;

  constructor(private readonly webview: vscode.Webview, page: ViewKind | 'compare', private readonly profiles: readonly Profile[], protected readonly services: BridgeServices) {
    webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(services.extensionUri, 'dist'), vscode.Uri.joinPath(services.extensionUri, 'media')] };
    this.disposables = [
      ...profiles.map((profile) => profile.use()),
      webview.onDidReceiveMessage((message: In) => this.afterLatency(() => this.receive(message))),
      ...profiles.map((profile) => profile.onDidReload(() => void this.start())),
    ];
    webview.html = viewHtml(webview, services.extensionUri, page);
  }

  dispose(): void {
    this.cancelAll();
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  /** Takes a message of the view's own; all others go to `receiveShared`. */
  protected abstract receive(message: In): void;

  /** Hands the view what it starts with: its profiles are open. */
  protected abstract opened(): void;

  protected abstract ask(method: Method, params: unknown, options: AskOptions): Promise<unknown>;

  /** Takes over what the webview remembers, if it belongs to this tab and is small enough to keep. */
  protected abstract adopt(state: unknown): void;

  protected receiveShared(message: SharedIn<Method>): void {
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
        void saveText(message.name, message.text, this.profiles[this.profiles.length - 1]);
        break;
      case 'openSource':
        void this.services.openSource(message.file, message.line);
        break;
      case 'reopen':
        void Promise.all(this.profiles.map((profile) => profile.reload())).catch(() => undefined);
        break;
      default:
        message satisfies never;
    }
  }

  /** Opens the profiles and hands the view what it starts with. */
  protected async start(): Promise<void> {
    if (!this.ready) {
      return;
    }
    this.cancelAll();
    const open = await this.cancellable(OPENING, async (signal) => {
      for (const profile of this.profiles) {
        if (!(await this.open(profile, signal))) {
          return false;
        }
      }
      return true;
    });
    if (open) {
      this.opened();
    }
  }

  protected post(message: Out): void {
    this.send(message);
  }

  private async open(profile: Profile, signal: AbortSignal): Promise<boolean> {
    const { name } = profile;
    this.send({ kind: 'opening', name, ...speech() });
    try {
      await profile.open({ signal, progress: (progress) => this.send({ kind: 'opening', name, progress }) });
      return true;
    } catch (error) {
      this.send({ kind: 'failed', message: isCancelled(error) ? vscode.l10n.t('Opening {0} was cancelled.', name) : sentenceOf(error), crashed: isCrash(error) });
      return false;
    }
  }

  private async answer(id: number, method: Method, params: unknown): Promise<void> {
    try {
      const result = await this.cancellable(id, (signal) => this.ask(method, params, { signal, progress: (progress) => this.send({ kind: 'progress', id, progress }) }));
      this.send({ kind: 'reply', id, result });
    } catch (error) {
      this.send({ kind: 'error', id, ...(isCancelled(error) ? { code: 'cancelled', message: vscode.l10n.t('Cancelled.') } : { code: codeOf(error), message: sentenceOf(error) }) });
    }
  }

  /** Runs with a signal that a `cancel` of this id aborts. */
  private async cancellable<Result>(id: number, run: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const abort = new AbortController();
    this.running.set(id, abort);
    try {
      return await run(abort.signal);
    } finally {
      // A page that was built anew counts from 1 again: the id may be another's by now.
      if (this.running.get(id) === abort) {
        this.running.delete(id);
      }
    }
  }

  private cancelAll(): void {
    for (const abort of this.running.values()) {
      abort.abort();
    }
    this.running.clear();
  }

  private send(message: SharedOut | Out): void {
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

/** What a page needs to speak the editor's language. */
export const speech = (): Pick<ViewInit, 'language' | 'bundle'> => ({ language: vscode.env.language, bundle: vscode.l10n.bundle ?? {} });

export const isSmallState = (state: object): boolean => JSON.stringify(state).length <= VIEW_STATE_LIMIT;
