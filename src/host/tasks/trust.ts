import * as vscode from 'vscode';

/** Whether runs may start; says so when they may not. What a task runs comes from the workspace, so only a trusted one may. */
export function mayRun(trusted = vscode.workspace.isTrusted): boolean {
  if (!trusted) {
    const manage = vscode.l10n.t('Manage Trust');
    void vscode.window.showErrorMessage(notTrusted(), manage).then((answer) => (answer === manage ? vscode.commands.executeCommand('workbench.trust.manage') : undefined));
  }
  return trusted;
}

export const notTrusted = (): string => vscode.l10n.t('FuseLens starts no run in a workspace that is not trusted: trust it first, then run again.');
