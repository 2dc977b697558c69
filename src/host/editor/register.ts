import * as vscode from 'vscode';
import type { ProfileStore } from '../profileStore';
import type { ViewTabs } from '../views/viewTabs';
import { ChainDiagnostics } from './chainDiagnostics';
import { ChainHovers } from './chainHovers';
import { ChainDetailLenses, ChainLenses, type ChainTarget } from './chainLenses';
import { EvidenceStore } from './evidence';
import { Fuser, type FuseTarget } from './fuse';
import { FuseActions } from './fuseActions';
import type { Measurements } from './measured';
import { LineHeat } from './lineHeat';
import { writePatch } from './writePatch';
import { PathQuestion } from './pathQuestion';
import { registerVerify } from '../verify/register';

const PYTHON: vscode.DocumentSelector = [{ language: 'python', scheme: 'file' }, { language: 'python', scheme: 'vscode-remote' }];

/** Everything the editor shows of a profile: lenses, heat, hovers, diagnostics, and the way back to the timeline. */
export function registerEditor(store: ProfileStore, tabs: ViewTabs, extensionUri: vscode.Uri, measurements: Measurements): { readonly evidence: EvidenceStore; readonly disposable: vscode.Disposable } {
  const evidence = new EvidenceStore(store);
  const fuser = new Fuser(evidence);
  const disposable = vscode.Disposable.from(
    evidence, fuser, new LineHeat(evidence, extensionUri), new ChainDiagnostics(evidence), new PathQuestion(evidence),
    // Lenses of one line stand in the order of their providers, the one registered last first.
    vscode.languages.registerCodeLensProvider(PYTHON, new ChainDetailLenses(evidence)),
    registerVerify(PYTHON, extensionUri.fsPath, evidence, fuser),
    vscode.languages.registerCodeLensProvider(PYTHON, new ChainLenses(evidence, fuser, measurements)),
    vscode.languages.registerHoverProvider(PYTHON, new ChainHovers(evidence)),
    vscode.languages.registerCodeActionsProvider(PYTHON, new FuseActions(fuser), { providedCodeActionKinds: FuseActions.kinds }),
    vscode.commands.registerCommand('fuselens.fuse', (target: FuseTarget | undefined) => fuser.apply(target)),
    vscode.commands.registerCommand('fuselens.fuseWorkspace', () => fuser.applyWorkspace()),
    vscode.commands.registerCommand('fuselens.writePatchModule', (target: unknown) => writePatch(fuser, target)),
    vscode.commands.registerCommand('fuselens.copySwitch', async (setting: unknown) => {
      if (typeof setting === 'string') {
        await vscode.env.clipboard.writeText(setting);
        vscode.window.setStatusBarMessage(vscode.l10n.t('FuseLens: copied {0}', setting), 5000);
      }
    }),
    vscode.commands.registerCommand('fuselens.showChainInTimeline', (target: ChainTarget | undefined) => {
      const known = evidence.get();
      if (known !== undefined && target !== undefined) {
        tabs.show(known.profile, 'timeline', { rank: known.rank, event: target.event, startNs: target.startNs, endNs: target.endNs });
      }
    }),
  );
  return { evidence, disposable };
}
