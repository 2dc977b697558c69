import * as vscode from 'vscode';
import type { FuseEntry } from '../../protocol/fuse';
import { fuseReason } from '../../protocol/fuseReason';
import { text } from '../../protocol/text';
import { translate } from '../sentences';
import { overlaps, type FuseTarget, type Fuser } from './fuse';

/** Light bulbs on the diagnostics of located chains: fuse this, fuse all of the file, or why not. */
export class FuseActions implements vscode.CodeActionProvider {
  static readonly kinds = [vscode.CodeActionKind.QuickFix, vscode.CodeActionKind.RefactorRewrite];

  constructor(private readonly fuser: Fuser) {}

  async provideCodeActions(document: vscode.TextDocument, range: vscode.Range, context: vscode.CodeActionContext): Promise<vscode.CodeAction[]> {
    const ours = context.diagnostics.flatMap((diagnostic) => (diagnostic.source === 'FuseLens' && typeof diagnostic.code === 'string' ? [{ diagnostic, fusion: diagnostic.code }] : []));
    const answer = ours.length === 0 ? undefined : await this.fuser.plans(document);
    if (answer === undefined) {
      return [];
    }
    const actions = ours.flatMap(({ diagnostic, fusion }) => {
      const place = { fusion, startLine: diagnostic.range.start.line + 1, endLine: diagnostic.range.end.line + 1 };
      return answer.entries.filter((entry) => overlaps(entry, place) && entry.startLine <= range.end.line + 1 && range.start.line + 1 <= entry.endLine).flatMap((entry) => {
        const name = text(`fusion.${entry.fusion}`, undefined, translate);
        const title = entry.status === 'fixable' ? vscode.l10n.t('Fuse into {0}: {1}', name, shortened(entry.replacement ?? '')) : entry.status === 'advice' && (entry.note ?? entry.remedy) !== undefined ? vscode.l10n.t('Advice: {0}', entry.note ?? text(`fuse.remedy.${entry.remedy ?? ''}`, undefined, translate)) : vscode.l10n.t('Not fused: {0}', name);
        const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
        action.diagnostics = [diagnostic];
        if (entry.status === 'fixable') {
          const target: FuseTarget = { uri: document.uri.toString(), place: { fusion: entry.fusion, startLine: entry.startLine, endLine: entry.endLine } };
          action.command = { command: 'fuselens.fuse', title, arguments: [target] };
          action.isPreferred = entry.switches.length === 0;
        } else {
          action.disabled = { reason: fuseReason(entry.reason, entry.reasonPlace, translate) };
        }
        // The framework's own switch comes before an edit, and a patch module where there can be none.
        return [...switchActions(entry, diagnostic), ...(entry.patchable ? [patchAction(document, entry, diagnostic)] : []), action];
      });
    });
    if (answer.together.count > 0) {
      const title = vscode.l10n.t('Fuse all in this file ({0})', answer.together.count);
      const all = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
      const target: FuseTarget = { uri: document.uri.toString(), place: undefined };
      all.command = { command: 'fuselens.fuse', title, arguments: [target] };
      actions.push(all);
    }
    return actions;
  }
}

const shortened = (python: string): string => (python.length > 70 ? `${python.slice(0, 69)}…` : python);

function switchActions({ switches }: FuseEntry, diagnostic: vscode.Diagnostic): readonly vscode.CodeAction[] {
  return switches.map(({ distribution, version, setting, note }, i) => {
    const told = text(version === undefined ? 'fuse.switch' : 'fuse.switch.version', { package: distribution, version: version ?? '', setting }, translate);
    const action = new vscode.CodeAction(note === undefined ? told : `${told}. ${text(`fuse.switch.note.${note}`, undefined, translate)}`, vscode.CodeActionKind.QuickFix);
    action.diagnostics = [diagnostic];
    action.isPreferred = i === 0;
    action.command = { command: 'fuselens.copySwitch', title: told, arguments: [setting] };
    return action;
  });
}

function patchAction(document: vscode.TextDocument, { switches }: FuseEntry, diagnostic: vscode.Diagnostic): vscode.CodeAction {
  const title = vscode.l10n.t('Write patch module...');
  const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
  action.diagnostics = [diagnostic];
  action.isPreferred = switches.length === 0;
  action.command = { command: 'fuselens.writePatchModule', title, arguments: [document.uri.toString()] };
  return action;
}
