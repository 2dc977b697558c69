import * as vscode from 'vscode';
import type { Profile } from '../profile';

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
