import * as path from 'node:path';
import * as vscode from 'vscode';
import { figureTables, tableCsv } from '../../protocol/overviewTables';
import { withCancellableProgress } from '../progress';
import { isCancelled, problemLine, sentenceOf, translate } from '../sentences';
import { runCli } from '../runCli';
import { saveText } from '../views/saveText';
import { rankOf, requireSubject, type CommandContext, type Subject } from './context';

const PERFETTO = vscode.Uri.parse('https://ui.perfetto.dev');

/** Asks which table of the Overview, then where to. */
export async function exportCsv(context: CommandContext, argument: unknown): Promise<void> {
  await withSubject(context, argument, async (subject) => {
    const rank = await rankOf(subject);
    if (rank === undefined) {
      return;
    }
    const { profile, step } = subject;
    const data = await withCancellableProgress(vscode.l10n.t('Reading {0}', profile.name), (options) => profile.call('overview', { rank, ...(step === undefined ? {} : { step }) }, options));
    const items = figureTables(data).map((table) => ({ label: translate(table.title), table }));
    const picked = await vscode.window.showQuickPick(items, { title: vscode.l10n.t('Which figures?') });
    if (picked !== undefined) {
      await saveText(`${profile.name}-${picked.table.id}.csv`, tableCsv(picked.table), profile);
    }
  });
}

export async function copyFigures(context: CommandContext, argument: unknown): Promise<void> {
  await withSubject(context, argument, async (subject) => {
    const rank = await rankOf(subject);
    if (rank === undefined) {
      return;
    }
    const { profile, step } = subject;
    const report = await withCancellableProgress(vscode.l10n.t('Reading {0}', profile.name), (options) => profile.call('analyze', { ranks: [rank], ...(step === undefined ? {} : { step }) }, options));
    await vscode.env.clipboard.writeText(JSON.stringify(report, undefined, 2));
    vscode.window.setStatusBarMessage(vscode.l10n.t('FuseLens: copied'), 2000);
  });
}

export async function copyProblems(context: CommandContext, argument: unknown): Promise<void> {
  await withSubject(context, argument, async ({ profile }) => {
    const summary = await profile.open();
    const problems = [...summary.problems, ...profile.rankSummaries().flatMap(({ loaded }) => loaded?.problems ?? [])];
    await vscode.env.clipboard.writeText(problems.map((problem) => problemLine(problem, profile.path)).join('\n'));
    vscode.window.setStatusBarMessage(problems.length === 0 ? vscode.l10n.t('FuseLens: no problems to copy') : vscode.l10n.t('FuseLens: copied'), 2000);
  });
}

export async function copyPath(context: CommandContext, argument: unknown): Promise<void> {
  await withSubject(context, argument, ({ profile }) => Promise.resolve(vscode.env.clipboard.writeText(profile.path)));
}

/** Writes the plain trace through the command-line tool; the dialog keeps it away from the profile. */
export async function exportPerfetto(context: CommandContext, argument: unknown): Promise<void> {
  await writePerfetto(context, argument, false);
}

/** Perfetto's viewer takes no file from another page, so the trace is written first and dropped there by hand. */
export async function openInPerfetto(context: CommandContext, argument: unknown): Promise<void> {
  await writePerfetto(context, argument, true);
}

async function writePerfetto(context: CommandContext, argument: unknown, openViewer: boolean): Promise<void> {
  await withSubject(context, argument, async (subject) => {
    const { profile } = subject;
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? path.dirname(profile.path);
    const target = await vscode.window.showSaveDialog({ defaultUri: vscode.Uri.file(path.join(folder, `${profile.name}.perfetto.json`)), filters: { [vscode.l10n.t('Trace')]: ['json'] } });
    if (target === undefined) {
      return;
    }
    const rankId = await rankOf(subject);
    const options = [...(rankId !== undefined && profile.rankSummaries().length > 1 ? [`--rank=${rankId}`] : []), ...(profile.prefer === undefined ? [] : [`--prefer=${profile.prefer}`])];
    const outcome = await withCancellableProgress(vscode.l10n.t('Writing {0}', path.basename(target.fsPath)), ({ signal }) =>
      runCli(context.extensionPath, ['export', profile.path, '--perfetto', target.fsPath, ...options], signal));
    if (outcome.code !== 0) {
      void vscode.window.showErrorMessage(outcome.lastWords === '' ? vscode.l10n.t('The trace could not be written.') : outcome.lastWords);
      return;
    }
    const open = vscode.l10n.t('Open Perfetto');
    const text = openViewer ? vscode.l10n.t('Wrote {0}. Perfetto opens in the browser: drop the file there.', target.fsPath) : vscode.l10n.t('Saved {0}.', target.fsPath);
    if (openViewer) {
      await vscode.env.openExternal(PERFETTO);
    }
    if ((await vscode.window.showInformationMessage(text, ...(openViewer ? [] : [open]))) === open) {
      await vscode.env.openExternal(PERFETTO);
    }
  });
}

/** Runs a command on its subject; whatever fails is said in one sentence and never thrown. */
export async function withSubject(context: CommandContext, argument: unknown, run: (subject: Subject) => Promise<void>): Promise<void> {
  const subject = await requireSubject(context, argument);
  if (subject === undefined) {
    return;
  }
  try {
    await run(subject);
  } catch (error) {
    if (!isCancelled(error)) {
      void vscode.window.showErrorMessage(sentenceOf(error));
    }
  }
}
