import * as vscode from 'vscode';
import type { RunSettings } from '../../run/runSettings';
import { findRuns } from './findRuns';
import type { RunContext } from './runContext';
import { RunTerminal } from './runTerminal';
import { TrainingJob, type TrainingRequest } from './trainingJob';

export const TASK_TYPE = 'fuselens';

/** Tasks of type `fuselens`: those of tasks.json are given an execution, those that the workspace describes elsewhere are offered. */
export class RunTasks implements vscode.TaskProvider {
  constructor(private readonly context: RunContext) {}

  async provideTasks(token: vscode.CancellationToken): Promise<vscode.Task[]> {
    return (await findRuns(token)).map(({ run, folder, file }) => {
      const task = makeTask(this.context, run.settings, run.name, folder);
      task.detail = `${file}:${run.line}`;
      return task;
    });
  }

  resolveTask(task: vscode.Task): vscode.Task {
    // The very definition must come back: VS Code knows the task by it.
    const folder = typeof task.scope === 'object' ? task.scope : vscode.workspace.workspaceFolders?.[0];
    return taskOf(this.context, task.definition, task.name, folder);
  }
}

/** A task that runs these settings now; it stands in no file. */
export function makeTask(context: RunContext, settings: RunSettings, name: string, folder: vscode.WorkspaceFolder | undefined, onResults?: TrainingRequest['onResults']): vscode.Task {
  return taskOf(context, { ...settings, type: TASK_TYPE }, name, folder, onResults);
}

function taskOf(context: RunContext, definition: vscode.TaskDefinition, name: string, folder: vscode.WorkspaceFolder | undefined, onResults?: TrainingRequest['onResults']): vscode.Task {
  const execution = new vscode.CustomExecution(async (resolved) => new RunTerminal(new TrainingJob(context, {
    task: name, settings: resolved, folder: folder?.uri, ...(onResults === undefined ? {} : { onResults }),
  })));
  const task = new vscode.Task(definition, folder ?? vscode.TaskScope.Workspace, name, TASK_TYPE, execution, []);
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.Dedicated, clear: true };
  return task;
}
