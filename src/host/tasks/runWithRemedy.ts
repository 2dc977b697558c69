import * as vscode from 'vscode';
import type { FuseEntry } from '../../protocol/fuse';
import { text } from '../../protocol/text';
import { readRemedy, remedyName, withRemedy, type RunRemedy } from '../../run/remedies';
import type { Run } from '../../run/run';
import type { RunSettings } from '../../run/runSettings';
import type { Profile } from '../profile';
import { sourceFolders, workspaceFolders } from '../sourceRequest';
import { translate } from '../sentences';
import { openProfile } from './captureResults';
import { measureAgainst } from './compareProfiles';
import { askForCapture, pickTask, withoutTaskKeys } from './pickTask';
import type { RunContext } from './runContext';
import { makeTask } from './runTasks';
import { mayRun } from './trust';

/** Files whose remedies are asked for; those with the dearest chains first. */
const MOST_FILES = 12;

interface Baseline {
  readonly profile: Profile;
  readonly name: string;
  readonly settings: RunSettings;
}

/**
 * The loop in one place: a remedy goes into a copy of the settings that the active profile was made with, that runs, and the new
 * profile is compared with the old one. What was measured is shown where the remedy was offered. Argument: `{ remedy: 'edit' }`
 * for the code as it is now, or a remedy as text.
 */
export async function runWithRemedy(context: RunContext, argument: unknown): Promise<vscode.TaskExecution | undefined> {
  if (!mayRun()) {
    return undefined;
  }
  const baseline = await baselineRun(context);
  const remedy = baseline === undefined ? undefined : givenRemedy(argument) ?? (await askForRemedy(context, baseline.profile));
  if (baseline === undefined || remedy === undefined) {
    return undefined;
  }
  const words = remedyName(remedy);
  const name = words === '' ? vscode.l10n.t('{0}, edited', baseline.name) : `${baseline.name} ${words}`;
  const folder = vscode.workspace.workspaceFolders?.[0];
  return vscode.tasks.executeTask(makeTask(context, withRemedy(baseline.settings, remedy), name, folder, ({ run, profile }) => void attachResult(context, baseline, run, profile)));
}

/** Opens the new profile under its own name, compares, and notes what was measured. */
async function attachResult(context: RunContext, { profile: base }: Baseline, run: Run, profile: string | undefined): Promise<void> {
  if (profile === undefined) {
    return;
  }
  await openProfile(context, run, profile);
  const candidate = context.commands.store.get(profile);
  if (candidate !== undefined) {
    await measureAgainst(context, base, candidate);
  }
}

/** The active profile with the settings of the run that made it; where another tool made it, a task is picked to run instead. */
async function baselineRun(context: RunContext): Promise<Baseline | undefined> {
  const { store } = context.commands;
  const profile = store.active;
  if (profile === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Open the profile to improve on first; the next one is compared with it.'));
    return undefined;
  }
  const made = context.runs.all().find((entry) => entry.profile !== undefined && store.get(entry.profile) === profile);
  const record = made === undefined ? undefined : made.record ?? (await context.runs.handle(made).then((run) => run.record, () => undefined));
  if (record !== undefined) {
    return { profile, name: record.name, settings: record.settings };
  }
  const task = await pickTask(context, 'profile', undefined, vscode.l10n.t('Which run shall be made again? {0} was not recorded by FuseLens.', profile.name));
  const settings = task === undefined ? undefined : withoutTaskKeys(task.definition);
  const capture = settings === undefined ? undefined : settings.capture ?? (await askForCapture(settings));
  return task === undefined || settings === undefined || capture === undefined ? undefined : { profile, name: task.name, settings: { ...settings, capture } };
}

function givenRemedy(argument: unknown): RunRemedy | undefined {
  const remedy = typeof argument === 'object' && argument !== null && 'remedy' in argument ? argument.remedy : undefined;
  return remedy === 'edit' ? { kind: 'edit' } : typeof remedy === 'string' ? readRemedy(remedy) : undefined;
}

type RemedyItem = vscode.QuickPickItem & { readonly remedy?: RunRemedy };

/** Switches of the installed framework that the profile's chains call for; the edited code; or one that is typed. */
async function askForRemedy(context: RunContext, profile: Profile): Promise<RunRemedy | undefined> {
  const title = vscode.l10n.t('Run with a Remedy');
  const edit: RemedyItem = { label: vscode.l10n.t('$(edit) The code as it is now'), description: vscode.l10n.t('after fusing or another edit; the settings stay'), remedy: { kind: 'edit' } };
  const own: RemedyItem = { label: vscode.l10n.t('$(add) Another variable or argument...'), alwaysShow: true };
  const found = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, () => switchesOf(context, profile));
  const picked = await vscode.window.showQuickPick([edit, ...found, own], { title, matchOnDescription: true });
  if (picked !== own) {
    return picked?.remedy;
  }
  const typed = await vscode.window.showInputBox({
    title, prompt: vscode.l10n.t('NAME=value for the environment, --flag or key=value for the command'),
    validateInput: (value) => (readRemedy(value) === undefined ? vscode.l10n.t('Write NAME=value, --flag, --flag value, or key=value.') : undefined),
  });
  return typed === undefined ? undefined : readRemedy(typed);
}

async function switchesOf({ evidence }: RunContext, profile: Profile): Promise<readonly RemedyItem[]> {
  const data = (evidence.get() ?? (await evidence.compute()))?.data;
  const cost = new Map<string, number>();
  for (const { fusion, totalUs, source } of data?.fingerprints ?? []) {
    source.filter(() => fusion !== null).forEach(({ file }) => cost.set(file, (cost.get(file) ?? 0) + totalUs));
  }
  const files = [...cost].sort((a, b) => b[1] - a[1]).slice(0, MOST_FILES).map(([file]) => file);
  const items = new Map<string, RemedyItem>();
  for (const file of files) {
    const content = await vscode.workspace.fs.readFile(vscode.Uri.file(file)).then((bytes) => new TextDecoder().decode(bytes), () => undefined);
    const answer = content === undefined ? undefined : await profile.call('fuse', { file, text: content, sources: sourceFolders(), workspace: workspaceFolders() }).catch(() => undefined);
    for (const entry of answer?.entries ?? []) {
      entry.switches.forEach(({ setting }) => {
        const remedy = readRemedy(setting);
        if (remedy !== undefined) {
          items.set(setting, { label: `$(settings) ${setting}`, description: fusionName(entry), remedy });
        }
      });
    }
  }
  return [...items.values()];
}

const fusionName = ({ fusion }: FuseEntry): string => text(`fusion.${fusion}`, undefined, translate);

/** "Shows the comparison" of a measured fusion; both profiles are listed again where they were closed. */
export async function showMeasured(context: RunContext, argument: unknown): Promise<void> {
  const { base, candidate } = (argument ?? {}) as { readonly base?: unknown; readonly candidate?: unknown };
  if (typeof base === 'string' && typeof candidate === 'string') {
    context.commands.compareTabs.show(context.commands.store.add(base), context.commands.store.add(candidate));
  }
}

