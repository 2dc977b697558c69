import * as vscode from 'vscode';
import type { StopResult } from '../../run/run';
import { sentenceOf } from '../sentences';
import type { RunContext } from './runContext';
import { placeName, type RunEntry } from './runEntry';

/** Ends every process of a run and says what came of it. torchrun is given its time; `hurry` does not wait for it. */
export async function stopRun({ runs }: RunContext, entry: Pick<RunEntry, 'host' | 'id' | 'name'>, hurry = false): Promise<StopResult | undefined> {
  const title = vscode.l10n.t('Stopping {0} on {1}', entry.name, placeName(entry.host));
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, async () => {
    try {
      const result = await (await runs.handle(entry)).stop(hurry ? { graceSeconds: 2 } : {});
      if (result.left.length > 0) {
        void vscode.window.showWarningMessage(vscode.l10n.t('{0}: {1} processes on {2} do not end; look at them there ({3}).', entry.name, result.left.length, placeName(entry.host), result.left.slice(0, 8).join(', ')));
      }
      void runs.refresh({ hosts: [entry.host] });
      return result;
    } catch (error) {
      void vscode.window.showErrorMessage(sentenceOf(error));
      return undefined;
    }
  });
}
