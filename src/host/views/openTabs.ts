import * as vscode from 'vscode';

interface OpenTab {
  readonly panel: vscode.WebviewPanel;
  readonly view: vscode.Disposable & { readonly state: unknown };
}

/** The tabs of one panel type: each a panel and the view in it, which ends with the panel. */
export class OpenTabs<Tab extends OpenTab> implements vscode.Disposable {
  private readonly tabs = new Set<Tab>();

  constructor(private readonly panelType: string, private readonly extensionUri: vscode.Uri) {}

  create(title: string): vscode.WebviewPanel {
    return vscode.window.createWebviewPanel(this.panelType, title, vscode.ViewColumn.Active, { retainContextWhenHidden: false });
  }

  dress(panel: vscode.WebviewPanel, title: string): void {
    panel.title = title;
    panel.iconPath = vscode.Uri.joinPath(this.extensionUri, 'media', 'fuselens-tab.svg');
  }

  /** `gone` is called once its view has ended. */
  add(tab: Tab, gone: () => void = () => undefined): void {
    this.tabs.add(tab);
    tab.panel.onDidDispose(() => {
      this.tabs.delete(tab);
      tab.view.dispose();
      gone();
    });
  }

  find(fits: (tab: Tab) => boolean): Tab | undefined {
    return [...this.tabs].find(fits);
  }

  states(): readonly Tab['view']['state'][] {
    return [...this.tabs].map(({ view }) => view.state);
  }

  /**
   * A tab from the last session which nobody has looked at since. Such a tab is no panel yet: it can only be told by its
   * title.
   */
  sleeping(title: string): vscode.Tab | undefined {
    return this.find(({ panel }) => panel.title === title) !== undefined ? undefined : vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).find(({ label, input }) =>
      label === title && input instanceof vscode.TabInputWebview && input.viewType.endsWith(this.panelType));
  }

  closeSleeping(title: string): void {
    const tab = this.sleeping(title);
    if (tab !== undefined) {
      void vscode.window.tabGroups.close(tab, true);
    }
  }

  closeAll(fits: (tab: Tab) => boolean): void {
    for (const tab of [...this.tabs].filter(fits)) {
      tab.panel.dispose();
    }
  }

  dispose(): void {
    for (const { view } of this.tabs) {
      view.dispose();
    }
    this.tabs.clear();
  }
}
