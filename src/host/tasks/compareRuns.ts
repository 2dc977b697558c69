import * as vscode from 'vscode';
import type { CompareReport } from '../../protocol/compare';
import type { RunSettings } from '../../run/runSettings';
import { interleaved } from '../../run/remedies';
import { compareMarkdown } from './compareMarkdown';
import { compareOptions, compareProfiles } from './compareProfiles';
import { showPage } from './pages';
import { askForCapture, pickTask, withoutTaskKeys } from './pickTask';
import type { RunContext } from './runContext';
import { makeTask } from './runTasks';
import { mayRun } from './trust';

interface Side {
  readonly name: string;
  readonly settings: RunSettings;
  readonly folder: vscode.WorkspaceFolder | undefined;
}

/** What a test or another command may say instead of the user. */
export interface CompareRunsArgument {
  readonly base: string;
  readonly candidate: string;
  readonly times: number;
}

/**
 * "Compare Runs": baseline and candidate are made N times in turn, and the medians over all of them are compared. Each run is a
 * task of its own; the next starts when it has ended, so that no two run at once.
 */
export async function compareRuns(context: RunContext, argument: unknown): Promise<CompareReport | undefined> {
  if (!mayRun()) {
    return undefined;
  }
  const given = isArgument(argument) ? argument : undefined;
  const base = await sideOf(context, given?.base, vscode.l10n.t('Compare runs: which one is the baseline?'));
  const candidate = base === undefined ? undefined : await sideOf(context, given?.candidate, vscode.l10n.t('Compare runs: {0} with which candidate?', base.name));
  const times = candidate === undefined ? undefined : given?.times ?? (await askForTimes());
  if (base === undefined || candidate === undefined || times === undefined) {
    return undefined;
  }
  const profiles: { readonly base: string[]; readonly candidate: string[] } = { base: [], candidate: [] };
  const order = interleaved(times);
  const title = vscode.l10n.t('Comparing {0} with {1}', base.name, candidate.name);
  const done = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, async (progress, token) => {
    for (const [index, side] of order.entries()) {
      if (token.isCancellationRequested) {
        return false;
      }
      const one = side === 'base' ? base : candidate;
      progress.report({ message: vscode.l10n.t('run {0} of {1}: {2}', index + 1, order.length, one.name), increment: 100 / order.length });
      const profile = await runOnce(context, one, `${one.name} ${Math.floor(index / 2) + 1}/${times}`);
      if (profile === undefined) {
        void vscode.window.showErrorMessage(vscode.l10n.t('{0} left no profile, so the comparison ends here; its terminal says why.', one.name));
        return false;
      }
      profiles[side].push(profile);
    }
    return true;
  });
  if (!done) {
    return undefined;
  }
  const { store } = context.commands;
  const report = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => compareProfiles(
    { name: base.name, profiles: profiles.base.map((path) => store.add(path)), settings: base.settings }, { name: candidate.name, profiles: profiles.candidate.map((path) => store.add(path)), settings: candidate.settings }, new AbortController().signal,
  ));
  await showPage(`${base.name} → ${candidate.name}.md`, compareMarkdown(report));
  context.commands.compareTabs.show(store.add(profiles.base[0]), store.add(profiles.candidate[0]), { options: compareOptions(base.settings, candidate.settings) });
  return report;
}

async function sideOf(context: RunContext, name: string | undefined, title: string): Promise<Side | undefined> {
  const task = await pickTask(context, 'profile', name, title);
  if (task === undefined) {
    return undefined;
  }
  const settings = withoutTaskKeys(task.definition);
  const capture = settings.capture ?? (await askForCapture(settings));
  // Medians come from the timed pass; stacks would double the work.
  const timed = capture === undefined ? undefined : { ...capture, stacks: false, shapes: false, memory: false };
  const { twoPass: _, ...plain } = timed ?? { twoPass: undefined };
  return timed === undefined ? undefined : { name: task.name, settings: { ...settings, capture: { ...plain, steps: timed.steps } }, folder: typeof task.scope === 'object' ? task.scope : vscode.workspace.workspaceFolders?.[0] };
}

/** Resolves with the profile when the task has ended; undefined when it left none. */
async function runOnce(context: RunContext, { settings, folder }: Side, name: string): Promise<string | undefined> {
  let profile: string | undefined;
  const task = makeTask(context, settings, name, folder, (results) => {
    ({ profile } = results);
  });
  const execution = await vscode.tasks.executeTask(task);
  await new Promise<void>((resolve) => {
    const listener = vscode.tasks.onDidEndTask((event) => {
      if (event.execution === execution) {
        listener.dispose();
        resolve();
      }
    });
  });
  return profile;
}

async function askForTimes(): Promise<number | undefined> {
  const answer = await vscode.window.showInputBox({ title: vscode.l10n.t('Compare Runs'), prompt: vscode.l10n.t('How many runs of each? Three or more show how much they vary.'), value: '3', validateInput: (text) => (/^[1-9]\d?$/.test(text.trim()) ? undefined : vscode.l10n.t('A number from 1 to 99.')) });
  return answer === undefined ? undefined : Number(answer);
}

const isArgument = (argument: unknown): argument is CompareRunsArgument => typeof argument === 'object' && argument !== null && 'base' in argument && 'candidate' in argument && 'times' in argument;
