import * as vscode from 'vscode';

/**
 * The Python environment whose installed versions count: `fuselens.python.path`, else the Python extension's
 * default, else a `.venv` in the workspace. Its metadata is read, it is never run for this; in an untrusted workspace
 * nothing is looked at.
 */
export function chosenInterpreter(): string | undefined {
  if (!vscode.workspace.isTrusted) {
    return undefined;
  }
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const settings = vscode.workspace.getConfiguration();
  const named = [settings.get<string>('fuselens.python.path'), settings.get<string>('python.defaultInterpreterPath')].map((value) => (value ?? '').replaceAll('${workspaceFolder}', folder ?? '')).find((value) => /[\\/]/.test(value));
  return named ?? (folder === undefined ? undefined : vscode.Uri.joinPath(vscode.Uri.file(folder), '.venv').fsPath);
}
