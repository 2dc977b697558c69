import * as vscode from 'vscode';
import type { CompareState, SideRef } from '../../protocol/compareView';
import type { Profile } from '../profile';
import type { ProfileStore } from '../profileStore';
import { asCompareState, CompareView, type CompareServices } from './compareView';
import { OpenTabs } from './openTabs';

const COMPARE_PANEL = 'fuselens.compare';

interface Tab {
  readonly panel: vscode.WebviewPanel;
  readonly view: CompareView;
}

/** The tabs that compare two profiles: one per pair and direction. */
export class CompareTabs implements vscode.Disposable, vscode.WebviewPanelSerializer {
  private readonly tabs: OpenTabs<Tab>;
  private readonly disposables: vscode.Disposable[];

  constructor(private readonly store: ProfileStore, private readonly services: Omit<CompareServices, 'swap'>) {
    this.tabs = new OpenTabs(COMPARE_PANEL, services.extensionUri);
    this.disposables = [
      this.tabs,
      vscode.window.registerWebviewPanelSerializer(COMPARE_PANEL, this),
      store.onDidRemove((profile) => this.tabs.closeAll(({ view }) => view.base === profile || view.candidate === profile)),
    ];
  }

  /** Reveals the tab of this pair, or opens it. */
  show(base: Profile, candidate: Profile, detail?: CompareState['detail']): void {
    const known = this.tabs.find(({ view }) => view.base === base && view.candidate === candidate);
    if (known !== undefined) {
      known.panel.reveal();
      return;
    }
    const title = titleOf(base, candidate);
    this.tabs.closeSleeping(title);
    this.attach(this.tabs.create(title), base, candidate, { version: 1, view: 'compare', base: refOf(base), candidate: refOf(candidate), ...(detail === undefined ? {} : { detail }) });
  }

  /** State of every open tab, for tests. */
  states(): readonly CompareState[] {
    return this.tabs.states();
  }

  deserializeWebviewPanel(panel: vscode.WebviewPanel, saved: unknown): Promise<void> {
    const state = asCompareState(saved);
    if (state === undefined) {
      panel.dispose();
    } else {
      this.attach(panel, this.store.add(state.base.path, state.base.prefer), this.store.add(state.candidate.path, state.candidate.prefer), state);
    }
    return Promise.resolve();
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  private attach(panel: vscode.WebviewPanel, base: Profile, candidate: Profile, state: CompareState): void {
    this.tabs.dress(panel, titleOf(base, candidate));
    const swap = (other: CompareState): void => this.show(candidate, base, other.detail);
    this.tabs.add({ panel, view: new CompareView(panel.webview, base, candidate, state, { ...this.services, swap }) });
  }
}

const refOf = ({ path, prefer }: Profile): SideRef => ({ path, ...(prefer === undefined ? {} : { prefer }) });

const titleOf = (base: Profile, candidate: Profile): string => vscode.l10n.t('{0} → {1}: Compare', base.name, candidate.name);
