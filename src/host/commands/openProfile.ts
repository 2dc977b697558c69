import * as path from 'node:path';
import * as vscode from 'vscode';
import { visibleText } from '../../protocol/visibleText';
import type { Profile } from '../profile';
import { withCancellableProgress } from '../progress';
import { isCancelled, problemLine, sentenceOf } from '../sentences';
import { shortPath } from '../views/viewTabs';
import type { CommandContext } from './context';

/** Opens what lies at a path, makes it the active profile and shows its Overview. Failure is one sentence. */
export async function openPath(context: CommandContext, file: string): Promise<Profile | undefined> {
  const { store, tabs } = context;
  const wasListed = store.get(file) !== undefined;
  const profile = store.add(file);
  try {
    const summary = await withCancellableProgress(vscode.l10n.t('Opening {0}', profile.name), (options) => profile.open(options));
    store.setActive(profile);
    store.noteRecent(profile.path);
    if (summary.ranks.some(({ readable }) => readable)) {
      tabs.show(profile, 'overview');
    } else {
      // A folder that is a profiler's but has nothing to read yet: its problem says what to do.
      const problem = summary.problems.find(({ severity }) => severity === 'error') ?? summary.problems[0];
      void vscode.window.showWarningMessage(problem === undefined ? vscode.l10n.t('{0} holds no rank that can be read.', profile.name) : problemLine(problem, profile.path));
    }
    return profile;
  } catch (error) {
    if (!wasListed) {
      store.remove(profile);
    }
    if (!isCancelled(error)) {
      void vscode.window.showErrorMessage(sentenceOf(error));
    }
    return undefined;
  }
}

/** Asks for a folder, a file or a recent profile. One dialog cannot offer both folders and files on every platform. */
export async function askAndOpen(context: CommandContext): Promise<Profile | undefined> {
  const folder: vscode.QuickPickItem = { label: vscode.l10n.t('$(folder) Folder...'), description: vscode.l10n.t('a profiler folder, or a folder of many ranks') };
  const file: vscode.QuickPickItem = { label: vscode.l10n.t('$(file) File...'), description: vscode.l10n.t('a trace, a database, or a zip or tar of a profile') };
  const recent = context.store.recent().map((entry) => ({ label: `$(history) ${visibleText(path.basename(entry))}`, description: visibleText(shortPath(entry)), path: entry }));
  const separator = { label: vscode.l10n.t('Recent'), kind: vscode.QuickPickItemKind.Separator };
  const picked = await vscode.window.showQuickPick<vscode.QuickPickItem & { readonly path?: string }>([folder, file, ...(recent.length > 0 ? [separator, ...recent] : [])], { title: vscode.l10n.t('Open Profile') });
  if (picked === undefined) {
    return undefined;
  }
  const chosen = picked.path ?? (await askForPath(picked === folder));
  return chosen === undefined ? undefined : openPath(context, chosen);
}

async function askForPath(folder: boolean): Promise<string | undefined> {
  const uris = await vscode.window.showOpenDialog({
    title: vscode.l10n.t('Open Profile'), openLabel: vscode.l10n.t('Open'), canSelectFolders: folder, canSelectFiles: !folder,
    ...(folder ? {} : { filters: { [vscode.l10n.t('Profiles')]: ['json', 'gz', 'tgz', 'zip', 'tar', 'csv', 'db', 'sqlite', 'nsys-rep'], [vscode.l10n.t('All files')]: ['*'] } }),
  });
  return uris?.[0]?.fsPath;
}

/** "Open in FuseLens" of the Explorer, and the palette command when it is given a place. */
export function pathOf(argument: unknown): string | undefined {
  if (argument instanceof vscode.Uri) {
    return argument.fsPath;
  }
  return typeof argument === 'string' ? argument : undefined;
}

/** Profiles named in `fuselens.openOnStart`: the first is shown, the others are listed; Python files are shown beside. */
export async function openOnStart(context: CommandContext): Promise<void> {
  const paths = vscode.workspace.getConfiguration('fuselens').get<readonly string[]>('openOnStart', []);
  const [first, ...others] = paths.filter((entry) => !isSource(entry));
  if (first === undefined) {
    return;
  }
  others.forEach((other) => context.store.add(other));
  const profile = context.store.add(first);
  // The window comes back with the tabs it had; what is there already is not opened over again.
  if (context.tabs.sleeping(profile, 'overview') === undefined) {
    await openPath(context, first);
  } else {
    context.store.setActive(profile);
  }
  for (const source of paths.filter(isSource)) {
    await vscode.window.showTextDocument(vscode.Uri.file(source), { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: false }).then(undefined, () => undefined);
  }
}

const isSource = (file: string): boolean => file.endsWith('.py');
