import * as path from 'node:path';
import * as vscode from 'vscode';
import type { NavigateTarget, ViewKind, ViewState } from '../../protocol/webview';
import type { Profile } from '../profile';
import type { ProfileStore } from '../profileStore';
import { OpenTabs } from './openTabs';
import { asViewState, ProfileView, type ViewServices } from './profileView';

const PANEL_TYPE = 'fuselens.view';
const EDITOR_TYPES = ['fuselens.trace', 'fuselens.profile'] as const;

interface Tab {
  readonly panel: vscode.WebviewPanel;
  readonly view: ProfileView;
  /** Not a custom editor: those belong to their document and may stand side by side when the user splits one. */
  readonly isPanel: boolean;
}

/** The tabs that show a profile: one per profile and view, whether it is a panel or a custom editor. */
export class ViewTabs implements vscode.Disposable, vscode.WebviewPanelSerializer, vscode.CustomReadonlyEditorProvider {
  private readonly tabs: OpenTabs<Tab>;
  private readonly disposables: vscode.Disposable[];
  private readonly services: ViewServices;

  constructor(private readonly store: ProfileStore, services: Omit<ViewServices, 'show'>) {
    this.services = { ...services, show: (profile, view, target) => this.show(profile, view, target) };
    this.tabs = new OpenTabs(PANEL_TYPE, services.extensionUri);
    this.disposables = [
      this.tabs,
      vscode.window.registerWebviewPanelSerializer(PANEL_TYPE, this),
      ...EDITOR_TYPES.map((type) => vscode.window.registerCustomEditorProvider(type, this, { webviewOptions: { retainContextWhenHidden: false } })),
      store.onDidRemove((profile) => this.tabs.closeAll(({ view }) => view.profile === profile)),
    ];
  }

  /** Reveals the profile's tab for this view, or opens it. */
  show(profile: Profile, view: ViewKind, target?: NavigateTarget): void {
    const known = this.find(profile, view);
    if (known !== undefined) {
      known.panel.reveal();
      if (target !== undefined) {
        known.view.navigate(target);
      }
      return;
    }
    const title = titleOf(profile, view);
    this.tabs.closeSleeping(title);
    const tab = this.attach(this.tabs.create(title), profile, initialState(profile, view));
    if (target !== undefined) {
      tab.view.navigate(target);
    }
  }

  /** A tab from the last session that shows this and that nobody has looked at since. */
  sleeping(profile: Profile, view: ViewKind): vscode.Tab | undefined {
    return this.tabs.sleeping(titleOf(profile, view));
  }

  /** What is shown in front, if it is one of ours. */
  current(): { readonly profile: Profile; readonly state: ViewState } | undefined {
    const tab = this.tabs.find(({ panel }) => panel.active);
    return tab === undefined ? undefined : { profile: tab.view.profile, state: tab.view.state };
  }

  /** State of every open tab, for tests. */
  states(): readonly ViewState[] {
    return this.tabs.states();
  }

  deserializeWebviewPanel(panel: vscode.WebviewPanel, saved: unknown): Promise<void> {
    const state = asViewState(saved);
    if (state === undefined) {
      panel.dispose();
    } else {
      this.attach(panel, this.store.add(state.path, state.prefer), state);
    }
    return Promise.resolve();
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  resolveCustomEditor(document: vscode.CustomDocument, panel: vscode.WebviewPanel): void {
    const profile = this.store.add(document.uri.fsPath);
    const state = initialState(profile, 'overview');
    // The editor takes over from the panel that showed the same, with its rank and step.
    const known = this.tabs.find((tab) => tab.isPanel && tab.view.profile === profile && tab.view.state.view === 'overview');
    this.tabs.closeSleeping(titleOf(profile, 'overview'));
    this.attach(panel, profile, known === undefined ? state : known.view.state, false);
    known?.panel.dispose();
    const opened = (): void => {
      this.store.noteRecent(profile.path);
      this.store.setActive(profile);
    };
    // The view asks for the same and says why it could not be opened.
    profile.open().then(opened, () => undefined);
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  private attach(panel: vscode.WebviewPanel, profile: Profile, state: ViewState, isPanel = true): Tab {
    if (isPanel) {
      this.tabs.dress(panel, titleOf(profile, state.view));
    }
    const tab: Tab = { panel, view: new ProfileView(panel.webview, profile, state, this.services), isPanel };
    this.tabs.add(tab, () => this.noteActive());
    panel.onDidChangeViewState(() => this.noteActive());
    this.noteActive();
    return tab;
  }

  private find(profile: Profile, view: ViewKind): Tab | undefined {
    return this.tabs.find((tab) => tab.view.profile === profile && tab.view.state.view === view);
  }

  private noteActive(): void {
    void vscode.commands.executeCommand('setContext', 'fuselens.activeView', this.current()?.state.view);
  }
}

function titleOf(profile: Profile, view: ViewKind): string {
  switch (view) {
    case 'overview': return vscode.l10n.t('{0}: Overview', profile.name);
    case 'timeline': return vscode.l10n.t('{0}: Timeline', profile.name);
    case 'fingerprints': return vscode.l10n.t('{0}: Fingerprints', profile.name);
  }
}

function initialState(profile: Profile, view: ViewKind): ViewState {
  const rank = profile.defaultRank()?.id;
  return { version: 1, path: profile.path, view, ...(profile.prefer === undefined ? {} : { prefer: profile.prefer }), ...(rank === undefined ? {} : { rank }) };
}

/** The last parts of a path, enough to tell two profiles apart in a list. */
export const shortPath = (file: string): string => file.split(path.sep).slice(-3).join(path.sep);
