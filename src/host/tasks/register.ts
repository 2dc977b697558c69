import * as vscode from 'vscode';
import type { RunInfo } from '../api';
import type { CommandContext } from '../commands/context';
import { RunsTree } from '../views/runsTree';
import { compareRuns } from './compareRuns';
import { stillRunning } from './followRun';
import { registerPages } from './pages';
import { runTraining } from './pickTask';
import { guardedRun, RUN_COMMANDS } from './runCommands';
import type { RunContext } from './runContext';
import { RunDiagnostics } from './runDiagnostics';
import { isLive, type RunEntry } from './runEntry';
import { Runs } from './runs';
import { runWithRemedy, showMeasured } from './runWithRemedy';
import { RunTasks, TASK_TYPE } from './runTasks';
import { runTools } from './runTools';
import { taskDiagnostics } from './taskDiagnostics';

/** After the start of a window; nothing of ours may stand in its way. */
const LOOK_BACK_AFTER_MS = 3000;

/** Tasks, the Runs tree and their commands. Nothing is connected and no file is read until somebody asks. */
export function registerRuns(commands: CommandContext, memory: vscode.Memento, { evidence, measurements }: Pick<RunContext, 'evidence' | 'measurements'>): { readonly context: RunContext; readonly infos: () => readonly RunInfo[]; readonly disposable: vscode.Disposable } {
  const runs = new Runs(memory, () => runTools(commands.extensionPath));
  const context: RunContext = { runs, diagnostics: new RunDiagnostics(), commands, evidence, measurements, memory };
  const tree = new RunsTree(runs);
  const disposable = vscode.Disposable.from(
    runs, context.diagnostics, tree, taskDiagnostics(), registerPages(),
    vscode.tasks.registerTaskProvider(TASK_TYPE, new RunTasks(context)),
    vscode.commands.registerCommand('fuselens.runTraining', (argument: unknown) => guardedRun((one) => runTraining(one, 'run', argument), context, undefined)),
    vscode.commands.registerCommand('fuselens.profileTraining', (argument: unknown) => guardedRun((one) => runTraining(one, 'profile', argument), context, undefined)),
    vscode.commands.registerCommand('fuselens.compareRuns', (argument: unknown) => guardedRun(compareRuns, context, argument)),
    vscode.commands.registerCommand('fuselens.runWithRemedy', (argument: unknown) => guardedRun(runWithRemedy, context, argument)),
    vscode.commands.registerCommand('fuselens.showMeasured', (argument: unknown) => guardedRun(showMeasured, context, argument)),
    ...Object.entries(RUN_COMMANDS).map(([name, command]) => vscode.commands.registerCommand(`fuselens.${name}`, (argument: unknown) => guardedRun(command, context, argument))),
    lookBack(context),
  );
  const infos = (): readonly RunInfo[] => runs.all().map((entry) => {
    const { id, host, name, state, progress, followed, profile } = entry;
    return { id, host, name, phase: state?.phase, exit: state?.exit, stopped: state?.stopped === true, step: progress.step, totalSteps: progress.totalSteps, loss: progress.loss, followed, profile, row: tree.getTreeItem(entry) };
  });
  return { context, infos, disposable };
}

/** A first pass that ended well while nobody was there to start the second. */
function waitsForNextPass({ runs }: RunContext, { host, id, record, state }: RunEntry): boolean {
  return record?.nextPass !== undefined && state?.phase === 'exited' && state.exit === 0 && state.stopped !== true && runs.get({ host, id: `${id}-stacks` }) === undefined;
}

/** Attaching to the first pass goes on with the second. */
function nextPassWaits({ host, id, name }: RunEntry): void {
  const start = vscode.l10n.t('Start Second Pass');
  void vscode.window.showInformationMessage(vscode.l10n.t('The first pass of {0} ended while no window followed it; the second one, with stacks, is not started yet.', name), start).then((answer) => (answer === start ? vscode.commands.executeCommand('fuselens.attachRun', { host, id }) : undefined));
}

/** Runs that this workspace left running when its window went away. Only where there are any is anybody asked. */
function lookBack(context: RunContext): vscode.Disposable {
  const left = context.runs.leftBehind();
  if (left.length === 0 || !vscode.workspace.isTrusted) {
    return new vscode.Disposable(() => undefined);
  }
  const timer = setTimeout(() => void context.runs.refresh({ hosts: [...new Set(left.map(({ host }) => host))] }).then(() => {
    for (const entry of left) {
      const now = context.runs.get(entry);
      if (now !== undefined && isLive(now) && !now.followed) {
        stillRunning(context, now);
      } else if (now !== undefined && waitsForNextPass(context, now)) {
        nextPassWaits(now);
      }
    }
  }, () => undefined), LOOK_BACK_AFTER_MS);
  return new vscode.Disposable(() => clearTimeout(timer));
}
