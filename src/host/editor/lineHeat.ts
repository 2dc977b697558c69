import * as vscode from 'vscode';
import { placement } from './chainLenses';
import { documentEvidence } from './documentEvidence';
import type { EvidenceStore } from './evidence';
import { chainSummary, chainTitle, time } from './words';

const STEPS = 10;

/** Device time per line: an icon in ten steps before the line, the number at its end. One scale per file, the dearest line is full. */
export class LineHeat implements vscode.Disposable {
  private readonly icons: readonly vscode.TextEditorDecorationType[];
  private readonly text = vscode.window.createTextEditorDecorationType({ after: { margin: '0 0 0 2em', color: new vscode.ThemeColor('editorCodeLens.foreground') }, rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen });
  private readonly disposables: vscode.Disposable[];

  constructor(private readonly evidence: EvidenceStore, extensionUri: vscode.Uri) {
    this.icons = Array.from({ length: STEPS }, (_, step) => vscode.window.createTextEditorDecorationType({ gutterIconPath: vscode.Uri.joinPath(extensionUri, 'media', 'heat', `${step + 1}.svg`), gutterIconSize: 'contain', overviewRulerColor: step >= 6 ? new vscode.ThemeColor('editorOverviewRuler.warningForeground') : undefined, overviewRulerLane: vscode.OverviewRulerLane.Left }));
    const draw = (): void => vscode.window.visibleTextEditors.forEach((editor) => this.draw(editor));
    this.disposables = [
      evidence.onDidChange(draw), vscode.window.onDidChangeVisibleTextEditors(draw),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('fuselens.editor') && draw()),
    ];
    draw();
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables, ...this.icons, this.text).dispose();
  }

  private draw(editor: vscode.TextEditor): void {
    const { document } = editor;
    if (document.languageId !== 'python') {
      return;
    }
    const evidence = this.evidence.get();
    const shown = evidence === undefined || placement() === 'off' ? undefined : documentEvidence(evidence, document.uri);
    const heat = vscode.workspace.getConfiguration('fuselens').get<boolean>('editor.heat', true) ? shown?.lines.filter(({ line }) => line <= document.lineCount) ?? [] : [];
    const most = Math.max(0, ...heat.map(({ totalUs }) => totalUs));
    const byStep: vscode.DecorationOptions[][] = this.icons.map(() => []);
    const texts = new Map<number, string>();
    for (const { line, totalUs, backwardUs } of heat) {
      const share = most === 0 ? 0 : totalUs / most;
      const range = document.lineAt(line - 1).range;
      byStep[Math.min(STEPS - 1, Math.floor(share * STEPS))].push({ range, hoverMessage: backwardUs > 0 ? vscode.l10n.t('{0} on the device, of it {1} in the backward pass', time(totalUs), time(backwardUs)) : vscode.l10n.t('{0} on the device', time(totalUs)) });
      texts.set(line, time(totalUs));
    }
    if (placement() === 'endOfLine') {
      for (const chain of shown?.chains ?? []) {
        texts.set(chain.startLine, `${texts.get(chain.startLine) ?? ''}   ${chainTitle(chain)} · ${chainSummary(chain)}`.trim());
      }
    }
    this.icons.forEach((icon, step) => editor.setDecorations(icon, byStep[step]));
    editor.setDecorations(this.text, [...texts].filter(([line]) => line <= document.lineCount).map(([line, contentText]) => ({ range: document.lineAt(line - 1).range, renderOptions: { after: { contentText } } })));
  }
}
