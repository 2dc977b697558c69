import * as vscode from 'vscode';
import { exists } from '../openSource';
import { withCancellableProgress } from '../progress';
import { runCli } from '../runCli';
import type { CommandContext } from './context';
import { openPath } from './openProfile';

/** Writes the synthetic sample into our own storage, once, and opens its baseline. */
export async function openSample(context: CommandContext): Promise<void> {
  const folder = vscode.Uri.joinPath(context.globalStorage, 'sample');
  const done = vscode.Uri.joinPath(folder, '.complete');
  const baseline = vscode.Uri.joinPath(folder, 'baseline');
  if (!(await exists(done))) {
    // The tool writes into an empty folder only; what an interrupted run left behind goes first.
    await vscode.workspace.fs.createDirectory(folder);
    await vscode.workspace.fs.delete(folder, { recursive: true });
    const { code, lastWords } = await withCancellableProgress(vscode.l10n.t('Writing the sample profile'), ({ signal }) => runCli(context.extensionPath, ['sample', folder.fsPath], signal));
    if (code !== 0) {
      void vscode.window.showErrorMessage(lastWords === '' ? vscode.l10n.t('The sample profile could not be written.') : lastWords);
      return;
    }
    await vscode.workspace.fs.writeFile(done, new Uint8Array());
  }
  context.store.add(vscode.Uri.joinPath(folder, 'optimized').fsPath);
  await openPath(context, baseline.fsPath);
}
