import * as vscode from 'vscode';
import { differingPrefixes } from '../../protocol/pathTail';
import { pathMap } from '../sourceRequest';
import type { EvidenceStore } from './evidence';

/**
 * Asks once which file of the workspace ran, where several fit a path that the profile recorded on another machine. The
 * answer goes to `fuselens.source.pathMap`, so that it holds for the files beside it too; closing the question leaves the
 * recorded path as it is.
 */
export class PathQuestion implements vscode.Disposable {
  private readonly asked = new Set<string>();
  private readonly subscription: vscode.Disposable;

  constructor(private readonly evidence: EvidenceStore) {
    this.subscription = evidence.onDidChange(() => void this.ask());
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private async ask(): Promise<void> {
    const open = this.evidence.get()?.data.attribution.ambiguous.find(({ recorded }) => !this.asked.has(recorded));
    if (open === undefined) {
      return;
    }
    this.asked.add(open.recorded);
    const choose = vscode.l10n.t('Choose…');
    const question = vscode.l10n.t('{0} of the profile fits {1} files here.', open.recorded, open.candidates.length);
    if ((await vscode.window.showInformationMessage(question, choose)) !== choose) {
      return;
    }
    const file = await vscode.window.showQuickPick([...open.candidates], { title: vscode.l10n.t('Which file ran as {0}?', open.recorded) });
    if (file !== undefined) {
      const [from, to] = differingPrefixes(open.recorded, file);
      const target = vscode.workspace.workspaceFolders === undefined ? vscode.ConfigurationTarget.Global : vscode.ConfigurationTarget.Workspace;
      await vscode.workspace.getConfiguration('fuselens').update('source.pathMap', { ...pathMap(), [from]: to }, target);
    }
  }
}
