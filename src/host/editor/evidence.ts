import * as vscode from 'vscode';
import type { FingerprintData } from '../../protocol/fingerprints';
import type { Profile } from '../profile';
import type { ProfileStore } from '../profileStore';
import { isCancelled, sentenceOf } from '../sentences';
import { sourceRequest, sourceSettings } from '../sourceRequest';
import { shiftedEvidence } from './shiftedEvidence';

/** What the active profile says about the workspace's code. */
export interface Evidence {
  readonly profile: Profile;
  readonly rank: string;
  readonly data: FingerprintData;
}

/** After the last keystroke; a shorter pause would index half-typed lines. */
const SETTLE_MS = 600;

/**
 * Asks the active profile's engine for its chains and their lines, on first need: when a Python editor is in sight. Nothing
 * is shown for source alone; without an active profile there is no evidence.
 */
export class EvidenceStore implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private current: Evidence | undefined;
  private running: AbortController | undefined;
  private engineUse: { readonly profile: Profile; readonly use: vscode.Disposable } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private wanted = '';
  private readonly disposables: vscode.Disposable[];

  constructor(private readonly store: ProfileStore) {
    this.disposables = [
      store.onDidChange(() => this.refresh(false)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.refresh(false)),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.refresh(true)),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('fuselens.source') && this.refresh(false)),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (document.languageId === 'python' && contentChanges.length > 0) {
          this.shift(document, contentChanges);
          this.refresh(true);
        }
      }),
    ];
    this.refresh(false);
  }

  /** Evidence of the active profile, if it has been computed. */
  get(): Evidence | undefined {
    return this.current?.profile === this.store.active ? this.current : undefined;
  }

  /** Computes now; for commands and tests. Resolves to undefined when nothing is open or the engine could not say. */
  async compute(): Promise<Evidence | undefined> {
    const profile = this.store.active;
    if (profile === undefined) {
      return undefined;
    }
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    this.keepEngine(profile);
    try {
      await profile.open({ signal: running.signal });
      const rank = profile.defaultRank();
      if (rank === undefined || !rank.readable) {
        return undefined;
      }
      const data = await profile.call('fingerprints', { rank: rank.id, ...sourceRequest() }, { signal: running.signal });
      if (this.running === running) {
        this.current = { profile, rank: rank.id, data };
        this.changed.fire();
      }
      return this.current;
    } catch (error) {
      if (!isCancelled(error)) {
        vscode.window.setStatusBarMessage(sentenceOf(error), 8000);
      }
      return undefined;
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.running?.abort();
    this.engineUse?.use.dispose();
    this.changed.dispose();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** Ranges follow an edit at once; the answer for the new text comes later. */
  private shift(document: vscode.TextDocument, changes: readonly vscode.TextDocumentContentChangeEvent[]): void {
    if (this.current !== undefined) {
      const edits = changes.map(({ range, text }) => ({ startLine: range.start.line + 1, endLine: range.end.line + 1, addedLines: text.split('\n').length - 1 }));
      this.current = { ...this.current, data: shiftedEvidence(this.current.data, document.uri.fsPath, edits) };
      this.changed.fire();
    }
  }

  private refresh(edited: boolean): void {
    const { active } = this.store;
    const inSight = vscode.window.visibleTextEditors.some(({ document }) => document.languageId === 'python' && document.uri.scheme !== 'git');
    if (active === undefined || active.status.kind === 'failed' || !inSight) {
      if (active === undefined) {
        this.current = undefined;
        this.wanted = '';
        this.changed.fire();
      }
      this.engineUse?.use.dispose();
      this.engineUse = undefined;
      return;
    }
    const key = JSON.stringify([active.path, active.prefer, sourceSettings()]);
    if (key === this.wanted && !edited) {
      return;
    }
    this.wanted = key;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.compute(), edited ? SETTLE_MS : 0);
  }

  /** An edit asks again soon: the engine and its index stay while a Python editor is in sight. */
  private keepEngine(profile: Profile): void {
    if (this.engineUse?.profile !== profile) {
      this.engineUse?.use.dispose();
      this.engineUse = { profile, use: profile.use() };
    }
  }
}
