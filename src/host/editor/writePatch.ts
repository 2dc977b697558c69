import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import type { Fuser } from './fuse';

/**
 * Writes a module into the workspace that replaces functions of an installed file when it is imported; shown in the
 * Refactor Preview first, one undo takes it back. The package itself is never edited.
 */
export async function writePatch(fuser: Fuser, argument: unknown): Promise<void> {
  const uri = argument instanceof vscode.Uri ? argument : typeof argument === 'string' ? vscode.Uri.parse(argument) : vscode.window.activeTextEditor?.document.uri;
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (uri === undefined || folder === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t('FuseLens: open a folder and a file of an installed package first.'));
    return;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const digest = createHash('sha256').update(await vscode.workspace.fs.readFile(uri)).digest('hex');
  const patch = document.isDirty ? undefined : await fuser.patchModule(document, digest);
  if (patch === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t('FuseLens: nothing in {0} can go into a patch module.', vscode.workspace.asRelativePath(uri)));
    return;
  }
  const target = vscode.Uri.joinPath(folder.uri, `${patch.name}.py`);
  const edit = new vscode.WorkspaceEdit();
  edit.createFile(target, { overwrite: true, contents: new TextEncoder().encode(patch.text) }, { needsConfirmation: true, label: vscode.l10n.t('Write a module that replaces {0} when it is imported', patch.replaced.join(', ')) });
  if (await vscode.workspace.applyEdit(edit, { isRefactoring: true })) {
    const written = await Promise.resolve(vscode.workspace.fs.stat(target)).then(() => true, () => false);
    if (written) {
      await vscode.window.showTextDocument(target);
      void vscode.window.showInformationMessage(vscode.l10n.t('FuseLens: import {0} once, before the model is built. It does nothing when another version of the package is installed.', patch.name));
    }
  }
}
