import * as vscode from 'vscode';
import { documentEvidence, type DocumentChain } from './documentEvidence';
import type { EvidenceStore } from './evidence';
import { chainSummary, chainTitle, isOnCpu, time, unbroken } from './words';

/** Located chains as diagnostics of information level, for the Problems panel and for whoever walks by them with F8. */
export class ChainDiagnostics implements vscode.Disposable {
  private readonly collection = vscode.languages.createDiagnosticCollection('fuselens');
  private readonly disposables: vscode.Disposable[];

  constructor(private readonly evidence: EvidenceStore) {
    const update = (): void => this.update();
    this.disposables = [evidence.onDidChange(update), vscode.workspace.onDidOpenTextDocument(update), vscode.workspace.onDidCloseTextDocument(({ uri }) => this.collection.delete(uri))];
    update();
  }

  dispose(): void {
    vscode.Disposable.from(this.collection, ...this.disposables).dispose();
  }

  private update(): void {
    this.collection.clear();
    const evidence = this.evidence.get();
    if (evidence === undefined) {
      return;
    }
    for (const document of vscode.workspace.textDocuments) {
      if (document.languageId === 'python') {
        const chains = documentEvidence(evidence, document.uri).chains.filter(({ kind, endLine }) => kind !== 'unknown' && endLine <= document.lineCount);
        this.collection.set(document.uri, chains.map((chain) => diagnostic(document, chain)));
      }
    }
  }
}

function diagnostic(document: vscode.TextDocument, chain: DocumentChain): vscode.Diagnostic {
  const first = document.lineAt(chain.startLine - 1);
  const range = new vscode.Range(first.lineNumber, first.firstNonWhitespaceCharacterIndex, chain.endLine - 1, document.lineAt(chain.endLine - 1).text.length);
  const [low, high] = chain.recoverableUs;
  const message = isOnCpu(chain)
    ? vscode.l10n.t('{0} runs as {1}; {2} to {3} a step could be recovered on the CPU.', chainTitle(chain), chainSummary(chain), time(low), time(high))
    : vscode.l10n.t('{0} runs as {1}; {2} to {3} a step could be recovered on the device.', chainTitle(chain), chainSummary(chain), time(low), time(high));
  const made = new vscode.Diagnostic(range, unbroken(message), vscode.DiagnosticSeverity.Information);
  made.source = 'FuseLens';
  made.code = chain.fusion ?? 'chain';
  return made;
}
