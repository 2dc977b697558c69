import * as vscode from 'vscode';
import { isCancelled, sentenceOf } from '../sentences';
import { compareSelected, compareWith } from './compare';
import { pickProfile, requireSubject, showView, type CommandContext } from './context';
import { copyFigures, copyPath, copyProblems, exportCsv, exportPerfetto, openInPerfetto, withSubject } from './exportCommands';
import { askAndOpen, openPath, pathOf } from './openProfile';
import { openSample } from './sample';

/** `selection`: all that is selected, where a menu of the Explorer calls. */
type Command = (context: CommandContext, argument: unknown, selection: unknown) => Promise<unknown>;

/** Every command by its name after `fuselens.`; none throws, with or without an open profile. */
const COMMANDS: Readonly<Record<string, Command>> = {
  openProfile: openGiven,
  openInFuseLens: openGiven,
  openSampleProfile: (context) => openSample(context),
  showOverview: (context, argument) => showView(context, 'overview', argument),
  showTimeline: (context, argument) => showView(context, 'timeline', argument),
  showFingerprints: (context, argument) => showView(context, 'fingerprints', argument),
  compareWith,
  compareSelected,
  setActiveProfile,
  closeProfile: async (context, argument) => {
    const subject = await requireSubject(context, argument);
    if (subject !== undefined) {
      context.store.remove(subject.profile);
    }
  },
  reloadProfile: (context, argument) => withSubject(context, argument, async ({ profile }) => void (await profile.reload())),
  useTextExport: (context, argument) => switchExport(context, argument, 'text'),
  useDatabaseExport: (context, argument) => switchExport(context, argument, 'db'),
  exportPerfetto,
  openInPerfetto,
  exportCsv,
  showProblems: (context, argument) => withSubject(context, argument, ({ profile }) => context.tree.revealProblems(profile)),
  copyPath,
  copyProblems,
  copyFigures,
};

export function registerCommands(context: CommandContext): vscode.Disposable {
  return vscode.Disposable.from(...Object.entries(COMMANDS).map(([name, command]) => vscode.commands.registerCommand(`fuselens.${name}`, (argument: unknown, selection: unknown) => guarded(command, context, argument, selection))));
}

async function guarded(command: Command, context: CommandContext, argument: unknown, selection: unknown): Promise<void> {
  try {
    await command(context, argument, selection);
  } catch (error) {
    if (!isCancelled(error)) {
      void vscode.window.showErrorMessage(sentenceOf(error));
    }
  }
}

async function openGiven(context: CommandContext, argument: unknown): Promise<void> {
  const given = pathOf(argument);
  await (given === undefined ? askAndOpen(context) : openPath(context, given));
}

async function setActiveProfile(context: CommandContext, argument: unknown): Promise<void> {
  if ((await requireSubject(context, argument)) === undefined) {
    return;
  }
  const profile = typeof argument === 'object' && argument !== null && 'profile' in argument
    ? (await requireSubject(context, argument))?.profile
    : await pickProfile(context.store, vscode.l10n.t('Which profile shall be the active one?'));
  if (profile !== undefined) {
    context.store.setActive(profile);
  }
}

async function switchExport(context: CommandContext, argument: unknown, prefer: 'text' | 'db'): Promise<void> {
  await withSubject(context, argument, async ({ profile }) => {
    if ((await profile.open()).alternative !== prefer) {
      void vscode.window.showInformationMessage(prefer === 'text'
        ? vscode.l10n.t('{0} has no text export beside the one in use.', profile.name)
        : vscode.l10n.t('{0} has no database export beside the one in use.', profile.name));
      return;
    }
    await profile.reload({ prefer });
    context.store.save();
  });
}
