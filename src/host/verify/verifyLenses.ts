import * as vscode from 'vscode';
import { documentEvidence } from '../editor/documentEvidence';
import type { EvidenceStore } from '../editor/evidence';
import { overlaps, type Fuser } from '../editor/fuse';
import { placement } from '../editor/chainLenses';
import { resultTitle, type Verified, type Verifier, type VerifyTarget } from './verifier';

const ICONS = { verified: '$(pass)', differs: '$(warning)', failed: '$(circle-slash)' } as const;

/** Beside the lens that fuses: verify it, or what came out. */
export class VerifyLenses implements vscode.CodeLensProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(private readonly evidence: EvidenceStore, private readonly fuser: Fuser, private readonly verifier: Verifier) {
    const update = (): void => this.changed.fire();
    evidence.onDidChange(update);
    fuser.onDidChange(update);
    verifier.onDidChange(update);
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const evidence = this.evidence.get();
    if (placement() !== 'lens' || !vscode.workspace.isTrusted) {
      return [];
    }
    const plans = evidence === undefined ? undefined : await this.fuser.plans(document);
    const chains = evidence === undefined ? [] : documentEvidence(evidence, document.uri).chains.filter(({ startLine }) => startLine <= document.lineCount);
    const fusable = chains.flatMap(({ fusion, startLine, endLine }) => {
      const entry = fusion === null ? undefined : plans?.entries.find((one) => one.status === 'fixable' && overlaps(one, { fusion, startLine, endLine }));
      return entry === undefined ? [] : [{ at: startLine, line: entry.startLine }];
    });
    const fused = this.fuser.fused(document).map(({ line }) => ({ at: line + 1, line: line + 1 }));
    const places = [...fusable, ...fused];
    const results = this.verifier.of(document);
    const elsewhere = results.filter((result) => !places.some(({ line }) => line === result.line)).map(({ line }) => ({ at: line, line }));
    return [...places, ...elsewhere].map(({ at, line }) => {
      const result = results.find((one) => one.line === line);
      const range = document.lineAt(at - 1).range;
      return new vscode.CodeLens(range, result === undefined ? ask(document, line) : shown(result));
    });
  }
}

const ask = (document: vscode.TextDocument, line: number): vscode.Command => ({
  title: vscode.l10n.t('verify'), tooltip: vscode.l10n.t('Run the original and the fused function side by side'), command: 'fuselens.verify', arguments: [{ uri: document.uri.toString(), line } satisfies VerifyTarget],
});

const shown = (result: Verified): vscode.Command => ({ title: `${ICONS[result.report.verdict]}\u00a0${resultTitle(result)}`, tooltip: vscode.l10n.t('Show what was measured'), command: 'fuselens.showVerified', arguments: [result] });
