import * as vscode from 'vscode';
import type { FuseEdit, FuseEntry } from '../../protocol/fuse';
import { text } from '../../protocol/text';
import { translate } from '../sentences';

/** Adds what is fused in one document to an edit; it is confirmed in the Refactor Preview, which says what to know of it. */
export function addEdits(made: vscode.WorkspaceEdit, document: vscode.TextDocument, edits: readonly FuseEdit[], entries: readonly FuseEntry[]): void {
  const told = new Set(entries.filter(({ status }) => status === 'fixable').flatMap((entry) => [
    ...entry.cautions.map((caution) => text(`fuse.caution.${caution}`, undefined, translate)),
    ...(entry.promise === undefined ? [] : [text(`fuse.promise.${entry.promise}`, undefined, translate)]),
    ...(entry.requires === undefined || entry.requirementMet === true ? [] : [text('fuse.requires', { requires: entry.requires }, translate)]),
  ]));
  const metadata: vscode.WorkspaceEditEntryMetadata = {
    needsConfirmation: true, label: vscode.l10n.t('Put the fused operator here, in a preview'), ...(told.size === 0 ? {} : { description: [...told].join(' ') }),
  };
  const edit = joined(document.getText(), edits);
  made.replace(document.uri, new vscode.Range(document.positionAt(edit.start), document.positionAt(edit.end)), edit.text, metadata);
}

/** One edit for several: in the preview each could be ticked alone, and an import without its call, or the reverse, is broken code. */
function joined(content: string, edits: readonly FuseEdit[]): FuseEdit {
  const sorted = [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  const [{ start }] = sorted;
  let at = start;
  let made = '';
  for (const edit of sorted) {
    made += content.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return { start, end: at, text: made };
}
