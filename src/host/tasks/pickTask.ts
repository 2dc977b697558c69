import * as vscode from 'vscode';
import type { CaptureSettings, RunSettings } from '../../run/runSettings';
import { checkRunSettings } from '../../run/checkRunSettings';
import { isXtunerCommand } from '../../run/captureXtuner';
import { parseSteps, stepsSetting, stepsText } from '../../run/captureSteps';
import { newRun } from './newRun';
import type { RunContext } from './runContext';
import { placeName } from './runEntry';
import { makeTask, TASK_TYPE } from './runTasks';
import { mayRun } from './trust';

/** The task that was last run with each command, by its name. */
const LAST = 'fuselens.lastTask';

export type RunKind = 'run' | 'profile';

/** What a test or another command may say instead of the user. */
export interface RunArgument {
  readonly task?: string;
  readonly capture?: CaptureSettings;
}

/** "Run Training…" and "Profile Training…": picks a task, the last one first, or makes one; then executes it. */
export async function runTraining(context: RunContext, kind: RunKind, argument: unknown): Promise<vscode.TaskExecution | undefined> {
  if (!mayRun()) {
    return undefined;
  }
  const given = isArgument(argument) ? argument : {};
  const task = await pickTask(context, kind, given.task);
  if (task === undefined) {
    return undefined;
  }
  const settings = withoutTaskKeys(task.definition);
  const capture = kind === 'profile' ? given.capture ?? settings.capture ?? (await askForCapture(settings)) : undefined;
  if (kind === 'profile' && capture === undefined) {
    return undefined;
  }
  await context.memory.update(`${LAST}.${kind}`, task.name);
  const { capture: _, ...plain } = settings;
  const folder = typeof task.scope === 'object' ? task.scope : vscode.workspace.workspaceFolders?.[0];
  // A task as it stands in the file keeps its identity, and with it its terminal and "Rerun Last Task".
  return vscode.tasks.executeTask(sameCapture(settings.capture, capture) ? task : makeTask(context, capture === undefined ? plain : { ...plain, capture }, task.name, folder));
}

/** A task of tasks.json or one that was found, by its name or by asking. */
export async function pickTask(context: RunContext, kind: RunKind, name?: string, title?: string): Promise<vscode.Task | undefined> {
  const tasks = await vscode.tasks.fetchTasks({ type: TASK_TYPE });
  if (name !== undefined) {
    const found = tasks.find((task) => task.name === name);
    if (found === undefined) {
      void vscode.window.showErrorMessage(vscode.l10n.t('There is no FuseLens task “{0}” in this workspace.', name));
    }
    return found;
  }
  const last = context.memory.get<string>(`${LAST}.${kind}`);
  const rank = (task: vscode.Task): number => (task.name === last ? 0 : task.source === 'Workspace' ? 1 : 2);
  const sorted = [...tasks].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
  const items: (vscode.QuickPickItem & { readonly task?: vscode.Task })[] = sorted.map((task) => ({
    label: `$(${kind === 'run' ? 'play' : 'record'}) ${task.name}`, description: describe(task, task.name === last), ...(task.detail === undefined ? {} : { detail: task.detail }), task,
  }));
  const fresh: vscode.QuickPickItem = { label: vscode.l10n.t('$(add) New...'), description: vscode.l10n.t('describe a run in a short form; it is written into tasks.json'), alwaysShow: true };
  const picked = await vscode.window.showQuickPick([...items, fresh], { title: title ?? (kind === 'run' ? vscode.l10n.t('Run Training') : vscode.l10n.t('Profile Training')), matchOnDescription: true, matchOnDetail: true });
  return picked === fresh ? newRun(context) : (picked as { readonly task?: vscode.Task } | undefined)?.task;
}

function describe({ definition, source }: vscode.Task, last: boolean): string {
  const settings = withoutTaskKeys(definition);
  const words = [last ? vscode.l10n.t('last run') : '', placeName(settings.host), settings.launcher, settings.capture === undefined ? '' : vscode.l10n.t('steps {0}', stepsText(settings.capture.steps)), source === 'Workspace' ? 'tasks.json' : vscode.l10n.t('found')];
  return words.filter((word) => word !== '').join(' · ');
}

/** Only what stands in it as a run: a broken task is shown by its name, and says what is wrong when it is run. */
export function withoutTaskKeys(definition: vscode.TaskDefinition): RunSettings {
  const checked = checkRunSettings(definition);
  if (checked.ok) {
    return checked.settings;
  }
  const { type: _, ...rest } = definition;
  return { launcher: 'command', command: '', ...rest };
}

const sameCapture = (one: CaptureSettings | undefined, other: CaptureSettings | undefined): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Steps, then stacks or not, with what they cost; XTuner's trainers have switches of their own to pick. */
export async function askForCapture({ command, args = [] }: RunSettings): Promise<CaptureSettings | undefined> {
  const answer = await vscode.window.showInputBox({
    title: vscode.l10n.t('Profile Training'), prompt: vscode.l10n.t('Which optimizer steps? They count from 1; the first ones warm up and tell little.'), value: '5-7',
    validateInput: (text) => (parseSteps(text) === undefined ? vscode.l10n.t('Write steps and ranges from 1: 5, 5-7, or 3,5.') : undefined),
  });
  const windows = answer === undefined ? undefined : parseSteps(answer);
  if (windows === undefined) {
    return undefined;
  }
  const plain = { label: vscode.l10n.t('Times only'), description: vscode.l10n.t('lines come from the order of kernels; costs nearly nothing') };
  const stacks = { label: vscode.l10n.t('Times, and Python stacks in a second pass'), description: vscode.l10n.t('exact lines; the run is made twice') };
  const xtuner = { label: vscode.l10n.t('XTuner’s own switches, in a copy of its configuration'), description: vscode.l10n.t('profile_step and profile_time; on NPUs without stacks and shapes') };
  const picked = await vscode.window.showQuickPick([plain, stacks, ...(isXtunerCommand([command, ...args]) ? [xtuner] : [])], { title: vscode.l10n.t('Profile Training') });
  if (picked === xtuner) {
    return { steps: stepsSetting(windows), warmup: 0, method: 'xtuner' };
  }
  const warmup = Math.min(1, windows[0][0] - 1);
  return picked === undefined ? undefined : { steps: stepsSetting(windows), warmup, ...(picked === stacks ? { stacks: true, shapes: true } : {}) };
}

const isArgument = (argument: unknown): argument is RunArgument => typeof argument === 'object' && argument !== null && 'task' in argument && typeof argument.task === 'string';
