import * as path from 'node:path';
import * as vscode from 'vscode';
import type { RunTools, SshPrompt } from '../../run/tools';

/**
 * How programs are called: machine-scope settings, which no workspace can change. ssh's questions become input boxes; what is
 * typed there goes to ssh and is kept nowhere.
 */
export function runTools(extensionPath: string): RunTools {
  const settings = vscode.workspace.getConfiguration('fuselens.run');
  const filled = (name: string): string | undefined => {
    const value = settings.get(name, '').trim();
    return value === '' ? undefined : value;
  };
  const [ssh, rsync, git, nodeOnHost, runsFolder] = ['sshPath', 'rsyncPath', 'gitPath', 'nodeOnHost', 'folderOnHost'].map(filled);
  const sshArguments = settings.get<readonly string[]>('sshArguments', []);
  return {
    ...(ssh === undefined ? {} : { ssh }), ...(rsync === undefined ? {} : { rsync }), ...(git === undefined ? {} : { git }),
    ...(nodeOnHost === undefined ? {} : { nodeOnHost }), ...(runsFolder === undefined ? {} : { runsFolder }), ...(sshArguments.length === 0 ? {} : { sshArguments }),
    connectTimeout: settings.get('connectTimeoutSeconds', 15), prompt: askForSsh, cli: path.join(extensionPath, 'dist', 'cli.js'),
  };
}

/** One question of ssh at a time: two hosts may want to know something at once, and a second box would close the first. */
let asking: Promise<unknown> = Promise.resolve();

function askForSsh(prompt: SshPrompt): Promise<string | undefined> {
  const answer = asking.then(() => askNow(prompt));
  asking = answer.catch(() => undefined);
  return answer;
}

async function askNow({ host, text, kind }: SshPrompt): Promise<string | undefined> {
  if (kind === 'confirm') {
    const yes = vscode.l10n.t('Connect');
    const chosen = await vscode.window.showWarningMessage(vscode.l10n.t('ssh asks about {0}', host), { modal: true, detail: text }, yes);
    return chosen === yes ? 'yes' : 'no';
  }
  return vscode.window.showInputBox({ title: vscode.l10n.t('ssh asks about {0}', host), prompt: text, password: true, ignoreFocusOut: true });
}
