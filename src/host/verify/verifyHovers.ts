import * as vscode from 'vscode';
import type { Verifier } from './verifier';
import { verifyMarkdown } from './verifyDetails';

/** What was measured, on the lines it is about. */
export class VerifyHovers implements vscode.HoverProvider {
  constructor(private readonly verifier: Verifier) {}

  provideHover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | undefined {
    const line = position.line + 1;
    const here = this.verifier.of(document).filter((result) => result.line === line || (result.report.startLine <= line && line <= result.report.endLine && result.line >= result.report.startLine && result.line <= result.report.endLine));
    return here.length === 0 ? undefined : new vscode.Hover(here.map(({ report }) => new vscode.MarkdownString(verifyMarkdown(report))));
  }
}
