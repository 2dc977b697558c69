import * as vscode from 'vscode';
import type { CompareState, SideRef } from '../../protocol/compareView';
import type { Profile } from '../profile';
import type { ProfileStore } from '../profileStore';
import { asCompareState, CompareView, type CompareServices } from './compareView';

export const COMPARE_PANEL = 'fuselens.compare';

interface Tab {
  readonly panel: vscode.WebviewPanel;
  readonly view: CompareView;
}

/** The tabs that compare two profiles: one per pair and direction. */
export class CompareTabs implements vscode.Disposable, vscode.WebviewPanelSerializer {
  private readonly tabs = new Set<Tab>();
  private readonly disposables: vscode.Disposable[];

  constructor(private readonly store: ProfileStore, private readonly services: Omit<CompareServices, 'swap'>) {
    this.disposables = [
      vscode.window.registerWebviewPanelSerializer(COMPARE_PANEL, this),
      store.onDidRemove((profile) => {
        for (const { panel, view } of [...this.tabs]) {
          if (view.base === profile || view.candidate === profile) {
            panel.dispose();
          }
        }
      }),
    ];
  }

  /** Reveals the tab of this pair, or opens it. */
  show(base: Profile, candidate: Profile, detail?: CompareState['detail']): void {
    const known = [...this.tabs].find(({ view }) => view.base === base && view.candidate === candidate);
    if (known !== undefined) {
      known.panel.reveal();
      return;
    }
    const title = titleOf(base, candidate);
    // A tab from the last session that nobody has looked at since is no panel yet: it can only be told by its title.
    const sleeping = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).find(({ label, input }) => label === title && input instanceof vscode.TabInputWebview && input.viewType.endsWith(COMPARE_PANEL));
    if (sleeping !== undefined && ![...this.tabs].some(({ panel }) => panel.title === title)) {
      void vscode.window.tabGroups.close(sleeping, true);
    }
    const panel = vscode.window.createWebviewPanel(COMPARE_PANEL, title, vscode.ViewColumn.Active, { retainContextWhenHidden: false });
    this.attach(panel, base, candidate, { version: 1, view: 'compare', base: refOf(base), candidate: refOf(candidate), ...(detail === undefined ? {} : { detail }) });
  }

  /** State of every open tab, for tests. */
  states(): readonly CompareState[] {
    return [...this.tabs].map(({ view }) => view.state);
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
    for (const { view } of this.tabs) {
      view.dispose();
    }
    this.tabs.clear();
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  private attach(panel: vscode.WebviewPanel, base: Profile, candidate: Profile, state: CompareState): void {
    panel.title = titleOf(base, candidate);
    panel.iconPath = vscode.Uri.joinPath(this.services.extensionUri, 'media', 'fuselens-tab.svg');
    const swap = (other: CompareState): void => this.show(candidate, base, other.detail);
    const tab: Tab = { panel, view: new CompareView(panel.webview, base, candidate, state, { ...this.services, swap }) };
    this.tabs.add(tab);
    panel.onDidDispose(() => {
      this.tabs.delete(tab);
      tab.view.dispose();
    });
  }
}

const refOf = ({ path, prefer }: Profile): SideRef => ({ path, ...(prefer === undefined ? {} : { prefer }) });

const titleOf = (base: Profile, candidate: Profile): string => vscode.l10n.t('{0} → {1}: Compare', base.name, candidate.name);
