import * as vscode from 'vscode';
import type { NavigateTarget, ViewKind } from '../../protocol/webview';
import type { Profile } from '../profile';
import type { ProfileStore } from '../profileStore';
import type { CompareTabs } from '../views/compareTabs';
import type { ProfileNode } from '../views/profileNodes';
import type { ProfilesTree } from '../views/profilesTree';
import { shortPath, type ViewTabs } from '../views/viewTabs';

/** What commands work on. */
export interface CommandContext {
  readonly store: ProfileStore;
  readonly tabs: ViewTabs;
  readonly compareTabs: CompareTabs;
  readonly tree: ProfilesTree;
  readonly extensionPath: string;
  readonly globalStorage: vscode.Uri;
}

/** What a command is about: from the tree row it was called on, else the tab in front, else the active profile. */
export interface Subject {
  readonly profile: Profile;
  readonly rank?: string;
  readonly step?: number;
}

function subjectOf({ store, tabs }: CommandContext, argument: unknown): Subject | undefined {
  const node = asNode(argument);
  if (node !== undefined) {
    return {
      profile: node.profile,
      ...('rank' in node && node.rank !== undefined ? { rank: node.rank.id } : {}),
      ...(node.kind === 'step' ? { step: node.step.index } : {}),
    };
  }
  const current = tabs.current();
  if (current !== undefined) {
    const { rank, step } = current.state;
    return { profile: current.profile, ...(rank === undefined ? {} : { rank }), ...(step === undefined ? {} : { step }) };
  }
  const profile = store.active ?? store.profiles()[0];
  return profile === undefined ? undefined : { profile };
}

/** The subject, or undefined after a friendly word that nothing is open. */
export async function requireSubject(context: CommandContext, argument: unknown): Promise<Subject | undefined> {
  const subject = subjectOf(context, argument);
  if (subject === undefined) {
    const open = vscode.l10n.t('Open Profile...');
    // Not awaited: a command must end even if nobody answers the message.
    void vscode.window.showInformationMessage(vscode.l10n.t('No profile is open.'), open).then((answer) => {
      if (answer === open) {
        void vscode.commands.executeCommand('fuselens.openProfile');
      }
    });
  }
  return subject;
}

/** The rank a command works on, the first readable one by default. */
export async function rankOf({ profile, rank }: Subject): Promise<string | undefined> {
  await profile.open();
  return rank ?? profile.defaultRank()?.id;
}

export async function showView(context: CommandContext, view: ViewKind, argument: unknown): Promise<void> {
  const subject = await requireSubject(context, argument);
  if (subject === undefined) {
    return;
  }
  const { profile, rank, step } = subject;
  const target: NavigateTarget | undefined = rank === undefined ? undefined : { rank, ...(step === undefined ? {} : { step }) };
  context.tabs.show(profile, view, target);
}

export async function pickProfile(store: ProfileStore, title: string): Promise<Profile | undefined> {
  const items = store.profiles().map((profile) => ({ label: profile.name, description: profile === store.active ? vscode.l10n.t('active') : '', detail: shortPath(profile.path), profile }));
  return (await vscode.window.showQuickPick(items, { title, matchOnDetail: true }))?.profile;
}

function asNode(argument: unknown): ProfileNode | undefined {
  return typeof argument === 'object' && argument !== null && 'kind' in argument && 'profile' in argument ? (argument as ProfileNode) : undefined;
}
