import * as vscode from 'vscode';
import { text } from '../../protocol/text';
import { overlaps, type Fuser } from '../editor/fuse';
import { translate } from '../sentences';
import type { VerifyTarget } from './verifier';

/** In the light bulb, beside the entry that fuses; and on what was fused. */
export class VerifyActions implements vscode.CodeActionProvider {
  static readonly kinds = [vscode.CodeActionKind.QuickFix, vscode.CodeActionKind.Refactor];

  constructor(private readonly fuser: Fuser) {}

  async provideCodeActions(document: vscode.TextDocument, range: vscode.Range, context: vscode.CodeActionContext): Promise<vscode.CodeAction[]> {
    if (!vscode.workspace.isTrusted) {
      return [];
    }
    const ours = context.diagnostics.flatMap((diagnostic) => (diagnostic.source === 'FuseLens' && typeof diagnostic.code === 'string' ? [{ diagnostic, fusion: diagnostic.code }] : []));
    const answer = ours.length === 0 ? undefined : await this.fuser.plans(document);
    const before = ours.flatMap(({ diagnostic, fusion }) => {
      const place = { fusion, startLine: diagnostic.range.start.line + 1, endLine: diagnostic.range.end.line + 1 };
      return (answer?.entries ?? []).filter((entry) => entry.status === 'fixable' && overlaps(entry, place)).map((entry) => {
        const made = action(vscode.l10n.t('Verify {0}: original and fused side by side', text(`fusion.${entry.fusion}`, undefined, translate)), vscode.CodeActionKind.QuickFix, { uri: document.uri.toString(), line: entry.startLine });
        made.diagnostics = [diagnostic];
        return made;
      });
    });
    const after = this.fuser.fused(document).filter(({ line }) => range.start.line <= line && line <= range.end.line)
      .map(({ line }) => action(vscode.l10n.t('Verify this fusion against the code before it'), vscode.CodeActionKind.Refactor, { uri: document.uri.toString(), line: line + 1 }));
    return [...before, ...after];
  }
}

function action(title: string, kind: vscode.CodeActionKind, target: VerifyTarget): vscode.CodeAction {
  const made = new vscode.CodeAction(title, kind);
  made.command = { command: 'fuselens.verify', title, arguments: [target] };
  return made;
}
