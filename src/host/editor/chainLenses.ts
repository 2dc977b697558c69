import * as vscode from 'vscode';
import { documentEvidence, type DocumentChain } from './documentEvidence';
import type { EvidenceStore } from './evidence';
import { chainSummary, chainTitle } from './words';

/** Above each located chain: what runs there and what it costs. Only for the active profile, and only with its evidence. */
export class ChainLenses implements vscode.CodeLensProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(private readonly evidence: EvidenceStore) {
    evidence.onDidChange(() => this.changed.fire());
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('fuselens.editor')) {
        this.changed.fire();
      }
    });
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const evidence = this.evidence.get();
    if (evidence === undefined || placement() !== 'lens') {
      return [];
    }
    return documentEvidence(evidence, document.uri).chains.filter(({ startLine }) => startLine <= document.lineCount).flatMap((chain) => {
      const line = document.lineAt(chain.startLine - 1).range;
      return [
        new vscode.CodeLens(line, { title: `$(pulse) ${chainTitle(chain)} · ${chainSummary(chain)}`, tooltip: vscode.l10n.t('Show the first of them in the timeline'), command: 'fuselens.showChainInTimeline', arguments: [chainTarget(chain)] }),
        new vscode.CodeLens(line, { title: vscode.l10n.t('all chains'), tooltip: vscode.l10n.t('Show this chain among the fingerprints of the profile'), command: 'fuselens.showFingerprints', arguments: [{ fingerprint: chain.phases[0].id }] }),
      ];
    });
  }
}

export type Placement = 'lens' | 'endOfLine' | 'off';

export const placement = (): Placement => vscode.workspace.getConfiguration('fuselens').get<Placement>('editor.placement', 'lens');

/** Argument of `fuselens.showChainInTimeline`. */
export interface ChainTarget {
  readonly startNs: number;
  readonly endNs: number;
  readonly event: number;
}

export const chainTarget = (chain: DocumentChain): ChainTarget => chain.phases[0].first;
