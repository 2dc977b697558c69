import * as vscode from 'vscode';
import type { FuseAnswer, FuseEntry } from '../../protocol/fuse';
import { text } from '../../protocol/text';
import { translate } from '../sentences';
import type { Evidence } from './evidence';
import { addEdits } from './fuseEdits';

export interface WorkspacePlan {
  readonly edit: vscode.WorkspaceEdit;
  readonly fused: number;
  readonly files: readonly string[];
  /** What was fused, and what was left for which reason, in one sentence. */
  readonly summary: string;
  readonly documents: readonly { readonly document: vscode.TextDocument; readonly entries: readonly FuseEntry[] }[];
}

/** All that the profile shows in files of the workspace, planned file by file and joined to one edit. */
export async function planWorkspace({ data }: Evidence, plans: (document: vscode.TextDocument) => Promise<FuseAnswer | undefined>): Promise<WorkspacePlan> {
  const paths = [...new Set(data.fingerprints.filter(({ fusion }) => fusion !== null).flatMap(({ source }) => source.map(({ file }) => file)))].sort();
  const edit = new vscode.WorkspaceEdit();
  const documents: { readonly document: vscode.TextDocument; readonly entries: readonly FuseEntry[] }[] = [];
  const left = new Map<string, number>();
  let fused = 0;
  for (const path of paths) {
    const document = await Promise.resolve(vscode.workspace.openTextDocument(vscode.Uri.file(path))).catch(() => undefined);
    const answer = document === undefined ? undefined : await plans(document);
    if (document === undefined || answer === undefined) {
      continue;
    }
    const fixable = answer.entries.filter(({ status }) => status === 'fixable');
    if (answer.together.count > 0) {
      fused += answer.together.count;
      documents.push({ document, entries: fixable });
      addEdits(edit, document, answer.together.edits, fixable);
    }
    for (const { status, reason, reasonPlace } of answer.entries.filter((entry) => entry.status !== 'fixable')) {
      const sentence = text(`fuse.reason.${reason ?? 'no-replacement'}`, { place: reasonPlace ?? '' }, translate);
      const key = status === 'advice' && reason === 'no-replacement' ? vscode.l10n.t('advice only') : sentence.replace(/[.\u3002]$/, '');
      left.set(key, (left.get(key) ?? 0) + 1);
    }
  }
  const reasons = [...left].sort((a, b) => b[1] - a[1]).map(([reason, count]) => `${count} × ${reason}`).join('; ');
  const total = [...left.values()].reduce((sum, count) => sum + count, 0);
  const done = documents.length === 1 ? vscode.l10n.t('FuseLens: {0} fused in one file', fused) : vscode.l10n.t('FuseLens: {0} fused in {1} files', fused, documents.length);
  const summary = fused === 0 && total === 0 ? vscode.l10n.t('FuseLens: the profile shows nothing to fuse in this workspace.')
    : total === 0 ? `${done}.` : vscode.l10n.t('{0}, {1} left as they are: {2}.', done, total, reasons);
  return { edit, fused, files: documents.map(({ document }) => document.uri.fsPath), summary, documents };
}
