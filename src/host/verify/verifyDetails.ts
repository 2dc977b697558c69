import * as path from 'node:path';
import * as vscode from 'vscode';
import { figureText } from '../../protocol/figureText';
import { text } from '../../protocol/text';
import type { Differences, VerifyReport } from '../../protocol/verify';
import { verifySubject, verifyHeadline, verifySentences } from '../../protocol/verifySentences';
import { escapeMarkdown } from '../escapeMarkdown';
import { translate } from '../sentences';
import type { Verified } from './verifier';

const SCHEME = 'fuselens-verify';

/** A page with everything that was measured, as a rendered document that nobody has to save. */
export class VerifyDetails implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly pages = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.pages.get(uri.path) ?? '';
  }

  async show({ report, line }: Verified): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${path.basename(report.file)}:${line}.md` });
    this.pages.set(uri.path, `# ${heading(report)}\n\n${verifyMarkdown(report)}\n`);
    this.changed.fire(uri);
    await vscode.commands.executeCommand('markdown.showPreviewToSide', uri);
  }
}

function heading(report: VerifyReport): string {
  return escapeMarkdown(`${path.basename(report.file)}:${report.startLine} · ${verifySubject(report, translate)}: ${text(`verify.verdict.${report.verdict}`, undefined, translate)}`);
}

/** Headline, sentences and table, for the page and for hovers. */
export function verifyMarkdown(report: VerifyReport): string {
  const say = (code: string): string => text(code, undefined, translate);
  const both = (differences: Differences | null): string => (differences === null ? '–' : `${figureText(differences.maxAbs)} / ${figureText(differences.maxRel)}`);
  const several = new Set(report.rows.map(({ variant }) => variant)).size > 1;
  const head = [say('cli.verify.dtype'), say('cli.verify.layout'), ...(several ? [say('cli.verify.branch')] : []), say('cli.verify.output'), say('cli.verify.gradient'), ''];
  const rows = report.rows.map((row) => [row.dtype, say(`verify.layout.${row.layout}`), ...(several ? [say(`verify.variant.${row.variant}`)] : []), both(row.output), both(row.gradient), say(row.within ? 'verify.within' : 'verify.outside')]);
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeMarkdown).join(' | ')} |`;
  const table = rows.length === 0 ? [] : ['', line(head), `|---|---|${several ? '---|' : ''}--:|--:|---|`, ...rows.map(line)];
  const sentences = verifySentences(report, translate).map((sentence) => `- ${escapeMarkdown(sentence)}`);
  return [`**${escapeMarkdown(verifyHeadline(report, translate))}**`, '', ...(report.failure === null ? sentences : []), ...table].join('\n');
}
