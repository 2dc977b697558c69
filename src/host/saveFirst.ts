import * as vscode from 'vscode';

/**
 * Offers to save unsaved files below a folder before something reads them from the disk (push, run, verify); `read` tells which are: by default all.
 * False when the user called it off, or a file could not be saved.
 */
export async function saveFirst(folder: vscode.Uri | undefined, read: (document: vscode.TextDocument) => boolean = () => true): Promise<boolean> {
  const unsaved = vscode.workspace.textDocuments.filter((document) => document.isDirty && !document.isUntitled && read(document) && (folder === undefined || isBelow(document.uri, folder)));
  if (unsaved.length === 0) {
    return true;
  }
  const save = vscode.l10n.t('Save All');
  const go = vscode.l10n.t('Go On Without Saving');
  const names = unsaved.slice(0, 8).map(({ uri }) => vscode.workspace.asRelativePath(uri)).join('\n') + (unsaved.length > 8 ? '\n…' : '');
  const answer = await vscode.window.showWarningMessage(vscode.l10n.t('Files are not saved yet; a run reads what is on the disk.'), { modal: true, detail: names }, save, go);
  return answer === go || (answer === save && (await Promise.all(unsaved.map((document) => document.save()))).every((saved) => saved));
}

function isBelow({ scheme, path }: vscode.Uri, folder: vscode.Uri): boolean {
  return scheme === folder.scheme && (path === folder.path || path.startsWith(folder.path.endsWith('/') ? folder.path : `${folder.path}/`));
}
