import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { CaptureSettings, Launcher, RunSettings } from '../../run/runSettings';
import { shellCommands } from '../../run/shellWords';
import { hostsOfConfig } from '../../run/sshHosts';
import { freeLabel, withTask } from '../../run/tasksJson';
import type { RunContext } from './runContext';
import { makeTask, TASK_TYPE } from './runTasks';

/** What the short form asks for. */
export interface NewRun {
  readonly label: string;
  readonly settings: RunSettings;
}

/** Asks, writes tasks.json, and gives the task. Undefined when it was called off, or the file cannot be edited. */
export async function newRun(context: RunContext, capture?: CaptureSettings): Promise<vscode.Task | undefined> {
  const folder = await askForFolder(context);
  const asked = folder === undefined ? undefined : await askForRun(folder);
  return folder === undefined || asked === undefined ? undefined : writeTask(context, folder, capture === undefined ? asked : { ...asked, settings: { ...asked.settings, capture } });
}

/** Adds the task to the folder's tasks.json, comments and all else kept, through an edit that undo takes back. */
async function writeTask(context: RunContext, folder: vscode.WorkspaceFolder, { label, settings }: NewRun): Promise<vscode.Task | undefined> {
  const uri = vscode.Uri.joinPath(folder.uri, '.vscode', 'tasks.json');
  const exists = await vscode.workspace.fs.stat(uri).then(() => true, () => false);
  const document = exists ? await vscode.workspace.openTextDocument(uri) : undefined;
  const text = document?.getText() ?? '';
  const name = freeLabel(text, label);
  const written = withTask(text, { label: name, type: TASK_TYPE, ...settings });
  if (written === undefined) {
    void vscode.window.showErrorMessage(vscode.l10n.t('{0} cannot be read as tasks: correct it, then add the run again.', vscode.workspace.asRelativePath(uri)));
    await vscode.window.showTextDocument(uri);
    return undefined;
  }
  const edit = new vscode.WorkspaceEdit();
  if (document === undefined) {
    edit.createFile(uri, { contents: new TextEncoder().encode(written) });
  } else {
    edit.replace(uri, new vscode.Range(document.positionAt(0), document.positionAt(text.length)), written);
  }
  if (!(await vscode.workspace.applyEdit(edit))) {
    return undefined;
  }
  await (await vscode.workspace.openTextDocument(uri)).save();
  return makeTask(context, settings, name, folder);
}

const FOLDER_KEY = 'fuselens.taskFolder';

/** In a workspace of several folders it is asked once, and remembered. */
async function askForFolder({ memory }: RunContext): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    void vscode.window.showErrorMessage(vscode.l10n.t('Open the folder with your training code first: a run is written into its tasks.json.'));
    return undefined;
  }
  const known = folders.length === 1 ? folders[0] : folders.find(({ uri }) => uri.toString() === memory.get<string>(FOLDER_KEY));
  if (known !== undefined) {
    return known;
  }
  const picked = await vscode.window.showQuickPick(folders.map((folder) => ({ label: folder.name, description: folder.uri.fsPath, folder })), { title: vscode.l10n.t('Which folder shall hold the runs?') });
  await memory.update(FOLDER_KEY, picked?.folder.uri.toString());
  return picked?.folder;
}

async function askForRun(folder: vscode.WorkspaceFolder): Promise<NewRun | undefined> {
  const title = vscode.l10n.t('New Run');
  const line = await vscode.window.showInputBox({
    title, prompt: vscode.l10n.t('The command, as you type it in a terminal'), value: suggestedCommand(folder),
    validateInput: (text) => (wordsOf(text) === undefined ? vscode.l10n.t('One command with plain words and quotes; no pipes, variables or $(…).') : undefined),
  });
  const words = line === undefined ? undefined : wordsOf(line);
  const launcher = words === undefined ? undefined : await askForLauncher(title, words[0]);
  if (words === undefined || launcher === undefined) {
    return undefined;
  }
  const procs = launcher === 'torchrun' || launcher === 'slurm' ? await askForNumber(title, vscode.l10n.t('Processes a node, usually one for each device'), '8') : undefined;
  const host = await askForHost(title);
  if (host === undefined || ((launcher === 'torchrun' || launcher === 'slurm') && procs === undefined)) {
    return undefined;
  }
  const workdir = host === '' ? undefined : await vscode.window.showInputBox({ title, prompt: vscode.l10n.t('Folder on {0} that the command runs in; empty: your files are sent there first', host) });
  if (host !== '' && workdir === undefined) {
    return undefined;
  }
  const command = launcher === 'torchrun' && /^python[\d.]*$/.test(words[0]) && /\.py$/.test(words[1] ?? '') ? words.slice(1) : words;
  return {
    label: path.posix.basename(command.find((word) => /\.py$/.test(word)) ?? command[0]),
    settings: {
      launcher, command: command[0], ...(command.length > 1 ? { args: command.slice(1) } : {}), ...(procs === undefined ? {} : { procs }),
      ...(host === '' ? {} : { host, ...(workdir === undefined || workdir === '' ? { sync: { push: true } } : { workdir }) }),
    },
  };
}

/** The Python file in front, where it lies in the folder. */
function suggestedCommand(folder: vscode.WorkspaceFolder): string {
  const document = vscode.window.activeTextEditor?.document;
  const relative = document?.languageId === 'python' ? path.relative(folder.uri.fsPath, document.uri.fsPath) : '..';
  return relative.startsWith('..') || path.isAbsolute(relative) ? 'python train.py' : `python ${/^[\w./-]+$/.test(relative) ? relative : `'${relative}'`}`;
}

/** Words of one plain command; undefined when a shell would be needed to know them. */
function wordsOf(line: string): readonly string[] | undefined {
  const commands = shellCommands(line);
  const words = commands.length === 1 ? commands[0].words : [];
  return words.length > 0 && words.every((word): word is string => word !== undefined) && words[0] !== '' ? words : undefined;
}

async function askForLauncher(title: string, first: string): Promise<Launcher | undefined> {
  const choices: readonly { readonly label: string; readonly description: string; readonly launcher: Launcher }[] = [
    { label: vscode.l10n.t('As it is'), description: first, launcher: 'command' },
    { label: 'torchrun', description: vscode.l10n.t('several processes on one host'), launcher: 'torchrun' },
    { label: 'Slurm', description: 'sbatch', launcher: 'slurm' },
    { label: 'Ray', description: 'ray job submit', launcher: 'ray' },
  ];
  return (await vscode.window.showQuickPick(choices, { title, placeHolder: vscode.l10n.t('How is it started?') }))?.launcher;
}

async function askForNumber(title: string, prompt: string, value: string): Promise<number | undefined> {
  const answer = await vscode.window.showInputBox({ title, prompt, value, validateInput: (text) => (/^[1-9]\d{0,4}$/.test(text.trim()) ? undefined : vscode.l10n.t('A number from 1.')) });
  return answer === undefined ? undefined : Number(answer);
}

/** '' is this machine; undefined when called off. */
export async function askForHost(title: string): Promise<string | undefined> {
  const here = { label: vscode.l10n.t('This machine'), host: '' };
  const hosts = (await hostsOfConfig(path.join(os.homedir(), '.ssh', 'config'))).map((host) => ({ label: host, host }));
  const other = { label: vscode.l10n.t('$(add) Another host...'), host: undefined };
  const picked = await vscode.window.showQuickPick<{ readonly label: string; readonly host: string | undefined }>([here, ...hosts, other], { title, placeHolder: vscode.l10n.t('Where does it run?') });
  if (picked !== other) {
    return picked?.host;
  }
  return vscode.window.showInputBox({ title, prompt: vscode.l10n.t('A name that ssh accepts, such as me@cluster'), validateInput: (text) => (/^[^-\s]\S*$/.test(text) ? undefined : vscode.l10n.t('A host is one word, without a dash in front.')) });
}
