import * as vscode from 'vscode';
import type { ProfileStore } from './profileStore';

/** The active profile in the status bar; a click changes it. Hidden while no profile is open. */
export function activeProfileItem(store: ProfileStore): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('fuselens.activeProfile', vscode.StatusBarAlignment.Left, 5);
  item.name = vscode.l10n.t('FuseLens: active profile');
  item.command = 'fuselens.setActiveProfile';
  const update = (): void => {
    const { active } = store;
    if (active === undefined) {
      item.hide();
      return;
    }
    item.text = `$(pulse) ${active.name}`;
    item.tooltip = vscode.l10n.t('Active FuseLens profile: {0}', active.path);
    item.accessibilityInformation = { label: item.tooltip };
    item.show();
  };
  update();
  return vscode.Disposable.from(item, store.onDidChange(update));
}
