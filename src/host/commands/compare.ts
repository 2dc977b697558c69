import * as vscode from 'vscode';
import type { Profile } from '../profile';
import { shortPath } from '../views/viewTabs';
import { requireSubject, type CommandContext } from './context';
import { askAndOpen, pathOf } from './openProfile';

/** "Compare With…": the profile it is called on is the base; the candidate is picked, or opened. */
export async function compareWith(context: CommandContext, argument: unknown): Promise<void> {
  const subject = await requireSubject(context, argument);
  if (subject === undefined) {
    return;
  }
  const candidate = await pickOther(context, subject.profile);
  if (candidate !== undefined) {
    await comparePair(context, subject.profile, candidate);
  }
}

/** Two selected in the Explorer: the upper one is the base. */
export async function compareSelected(context: CommandContext, argument: unknown, selection: unknown): Promise<void> {
  const paths = (Array.isArray(selection) ? (selection as readonly unknown[]) : [argument]).map(pathOf).filter((path): path is string => path !== undefined);
  if (paths.length !== 2) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Select two profiles in the Explorer to compare them.'));
    return;
  }
  const [base, candidate] = [...paths].sort((a, b) => (a < b ? -1 : 1)).map((path) => context.store.add(path));
  await comparePair(context, base, candidate);
}

async function comparePair(context: CommandContext, base: Profile, candidate: Profile): Promise<void> {
  if (base === candidate) {
    void vscode.window.showInformationMessage(vscode.l10n.t('A profile cannot be compared with itself.'));
    return;
  }
  context.compareTabs.show(base, candidate);
}

async function pickOther(context: CommandContext, base: Profile): Promise<Profile | undefined> {
  const others = context.store.profiles().filter((profile) => profile !== base);
  const open: vscode.QuickPickItem = { label: vscode.l10n.t('$(folder-opened) Open another profile...') };
  const items = others.map((profile) => ({ label: profile.name, detail: shortPath(profile.path), profile }));
  const picked = await vscode.window.showQuickPick<vscode.QuickPickItem & { readonly profile?: Profile }>([...items, open], { title: vscode.l10n.t('Compare {0} (base) with which candidate?', base.name), matchOnDetail: true });
  return picked === open ? askAndOpen(context) : picked?.profile;
}
