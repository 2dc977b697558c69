import * as vscode from 'vscode';
import { outputPlace } from '../../run/outputPlace';
import { attachRun } from '../../run/run';
import { sentenceOf } from '../sentences';
import { setBaseline } from './baseline';
import { fetchFrom, fetchedFolder, keyOfRun, openProfile, outputOf } from './captureResults';
import { inspectFolder } from './inspectCapture';
import { askForHost } from './newRun';
import type { RunContext } from './runContext';
import { isCapture, isLive, placeName, statusWords, type RunEntry } from './runEntry';
import { RunTerminal } from './runTerminal';
import { TASK_TYPE } from './runTasks';
import { stopRun } from './stopRun';
import { AttachJob } from './trainingJob';
import { mayRun } from './trust';

type Command = (context: RunContext, argument: unknown) => Promise<unknown>;

/** Commands about runs that are there already, by their name after `fuselens.`. */
export const RUN_COMMANDS: Readonly<Record<string, Command>> = {
  attachRun: attach,
  stopRun: async (context, argument) => {
    const entry = await chooseRun(context, argument, isLive, vscode.l10n.t('Which run shall be stopped?'));
    return entry === undefined ? undefined : stopRun(context, entry);
  },
  fetchRun: async (context, argument) => {
    const entry = await chooseRun(context, argument, (one) => isCapture(one) && one.host !== undefined, vscode.l10n.t('Which run’s results shall be fetched?'));
    return entry === undefined ? undefined : fetchRun(context, entry);
  },
  openRunProfile,
  openRunFolder: async (context, argument) => {
    const entry = await chooseRun(context, argument, () => true, vscode.l10n.t('Which run’s folder?'));
    if (entry !== undefined) {
      await openRunFolder(entry);
    }
  },
  useRunAsBaseline: async (context, argument) => {
    const entry = await chooseRun(context, argument, isCapture, vscode.l10n.t('Which run shall be the baseline?'));
    const profile = entry === undefined ? undefined : await profileOf(context, entry);
    if (entry !== undefined && profile !== undefined) {
      await setBaseline(context, { path: profile, name: entry.name });
      void vscode.window.showInformationMessage(vscode.l10n.t('{0} is the baseline: the next profile of a run is compared with it.', entry.name));
    }
  },
  refreshRuns: (context) => context.runs.refresh({ quiet: false }),
  forgetRun: async (context, argument) => {
    const entry = entryOf(context, argument);
    if (entry !== undefined) {
      context.runs.forget(entry);
    }
  },
};

/** Picks a run, of this machine, of known hosts, or of another one; then streams it from its beginning. */
async function attach(context: RunContext, argument: unknown): Promise<vscode.TaskExecution | undefined> {
  if (!mayRun()) {
    return undefined;
  }
  const entry = entryOf(context, argument) ?? (await pickOnHost(context));
  if (entry === undefined) {
    return undefined;
  }
  const run = await attachRun(context.runs.connections, entry.host, entry.id);
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const execution = new vscode.CustomExecution(async () => new RunTerminal(new AttachJob(context, run, folder)));
  const task = new vscode.Task({ type: TASK_TYPE, launcher: 'command', command: run.id }, vscode.TaskScope.Workspace, vscode.l10n.t('{0} (attached)', run.record.name), TASK_TYPE, execution, []);
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.New };
  return vscode.tasks.executeTask(task);
}

async function pickOnHost(context: RunContext): Promise<RunEntry | undefined> {
  const title = vscode.l10n.t('Attach to Run');
  const host = await askForHost(title);
  if (host === undefined) {
    return undefined;
  }
  const key = host === '' ? undefined : host;
  await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: vscode.l10n.t('Looking for runs on {0}', placeName(key)) }, () => context.runs.refresh({ quiet: false, hosts: [key] }));
  const found = context.runs.all().filter((entry) => entry.host === key);
  if (found.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t('There is no run of FuseLens on {0}.', placeName(key)));
    return undefined;
  }
  return pick(found, title);
}

async function chooseRun(context: RunContext, argument: unknown, fits: (entry: RunEntry) => boolean, title: string): Promise<RunEntry | undefined> {
  const given = entryOf(context, argument);
  if (given !== undefined) {
    return given;
  }
  await context.runs.refresh();
  const found = context.runs.all().filter(fits);
  if (found.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t('There is no such run on the hosts known here. Attach lists the runs of any host.'));
    return undefined;
  }
  return pick(found, title);
}

async function pick(entries: readonly RunEntry[], title: string): Promise<RunEntry | undefined> {
  const items = entries.map((entry) => ({ label: `$(${isLive(entry) ? 'sync' : isCapture(entry) ? 'graph' : 'pass'}) ${entry.name}`, description: `${placeName(entry.host)} · ${statusWords(entry)}`, detail: entry.id, entry }));
  return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true, matchOnDetail: true }))?.entry;
}

/** A row of the tree, or a host and an id; both are looked up anew. */
function entryOf({ runs }: RunContext, argument: unknown): RunEntry | undefined {
  return typeof argument === 'object' && argument !== null && 'id' in argument && typeof argument.id === 'string' ? runs.get({ id: argument.id, host: 'host' in argument && typeof argument.host === 'string' ? argument.host : undefined }) : undefined;
}

async function openRunProfile(context: RunContext, argument: unknown): Promise<void> {
  const entry = await chooseRun(context, argument, isCapture, vscode.l10n.t('Which run’s profile?'));
  const profile = entry === undefined ? undefined : await profileOf(context, entry);
  if (entry !== undefined && profile !== undefined) {
    const run = await attachRun(context.runs.connections, entry.host, entry.id);
    await openProfile(context, run, profile);
  }
}

/** The profile of a captured run on this machine, fetched where it is not here yet; undefined after a word why there is none. */
async function profileOf(context: RunContext, entry: RunEntry): Promise<string | undefined> {
  return entry.profile ?? fetchRun(context, entry);
}

async function fetchRun(context: RunContext, entry: RunEntry): Promise<string | undefined> {
  const run = await attachRun(context.runs.connections, entry.host, entry.id);
  const output = await outputOf(context, run.record, run, entry.host);
  if (output === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t('{0} has no profile: it was run without capture, or has not come so far.', entry.name));
    return undefined;
  }
  const place = await outputPlace(context.runs.connections, run.record, output);
  const here = entry.host === undefined && !place.contained ? place.folder : await fetchFrom(context, place.shell, place.folder, fetchedFolder(context, entry.id), run.record.settings.sync?.fetch === 'trace' ? 'trace' : 'analysis');
  const { profile, findings } = here === undefined ? { profile: undefined, findings: [] } : await inspectFolder(context.commands.extensionPath, here);
  for (const { message } of findings.filter(({ severity }) => severity !== 'info').slice(0, 3)) {
    void vscode.window.showWarningMessage(message);
  }
  if (profile !== undefined) {
    context.runs.add(run);
    context.runs.setProfile(keyOfRun(run), profile);
  }
  return profile;
}

/** Here in the Explorer of the system; on a host in a terminal there. */
async function openRunFolder({ host, folder }: RunEntry): Promise<void> {
  if (host === undefined) {
    await vscode.commands.executeCommand('revealFileInOS', vscode.Uri.file(folder)).then(undefined, () => vscode.window.showInformationMessage(folder));
    await vscode.window.showTextDocument(vscode.Uri.joinPath(vscode.Uri.file(folder), 'log'), { preview: true });
    return;
  }
  await vscode.env.clipboard.writeText(folder);
  void vscode.window.showInformationMessage(vscode.l10n.t('The run folder is {0} on {1}; its path is in the clipboard.', folder, placeName(host)));
}

export async function guardedRun(command: Command, context: RunContext, argument: unknown): Promise<unknown> {
  try {
    return await command(context, argument);
  } catch (error) {
    void vscode.window.showErrorMessage(sentenceOf(error));
    return undefined;
  }
}
