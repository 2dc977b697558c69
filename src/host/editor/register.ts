import * as vscode from 'vscode';
import type { ProfileStore } from '../profileStore';
import type { ViewTabs } from '../views/viewTabs';
import { ChainDiagnostics } from './chainDiagnostics';
import { ChainHovers } from './chainHovers';
import { ChainLenses, type ChainTarget } from './chainLenses';
import { EvidenceStore } from './evidence';
import { LineHeat } from './lineHeat';

const PYTHON: vscode.DocumentSelector = [{ language: 'python', scheme: 'file' }, { language: 'python', scheme: 'vscode-remote' }];

/** Everything the editor shows of a profile: lenses, heat, hovers, diagnostics, and the way back to the timeline. */
export function registerEditor(store: ProfileStore, tabs: ViewTabs, extensionUri: vscode.Uri): { readonly evidence: EvidenceStore; readonly disposable: vscode.Disposable } {
  const evidence = new EvidenceStore(store);
  const disposable = vscode.Disposable.from(
    evidence, new LineHeat(evidence, extensionUri), new ChainDiagnostics(evidence),
    vscode.languages.registerCodeLensProvider(PYTHON, new ChainLenses(evidence)),
    vscode.languages.registerHoverProvider(PYTHON, new ChainHovers(evidence)),
    vscode.commands.registerCommand('fuselens.showChainInTimeline', (target: ChainTarget | undefined) => {
      const known = evidence.get();
      if (known !== undefined && target !== undefined) {
        tabs.show(known.profile, 'timeline', { rank: known.rank, event: target.event, startNs: target.startNs, endNs: target.endNs });
      }
    }),
  );
  return { evidence, disposable };
}
