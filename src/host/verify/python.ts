import { existsSync, statSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { openAskpass } from '../../run/askpass';
import { chosenInterpreter } from '../interpreter';
import { runTools } from '../tasks/runTools';

/** What the Python extension gives other extensions, as far as we ask. */
interface PythonApi {
  readonly environments?: { readonly getActiveEnvironmentPath?: (resource?: vscode.Uri) => { readonly path: string } };
}

/**
 * The interpreter that runs verifications: `fuselens.python.path`, else the one chosen in the Python extension (where it runs
 * already), else its default or a `.venv` of the workspace, else whatever `python3` is. Only for trusted workspaces.
 */
function pythonFor(resource: vscode.Uri): string {
  const own = vscode.workspace.getConfiguration('fuselens').get<string>('python.path', '').trim();
  if (own !== '') {
    return executable(own);
  }
  const extension = vscode.extensions.getExtension<PythonApi>('ms-python.python');
  const active = extension?.isActive === true ? extension.exports.environments?.getActiveEnvironmentPath?.(resource).path : undefined;
  const found = [active, chosenInterpreter()].find((one) => one !== undefined && existsSync(one));
  return found === undefined ? (process.platform === 'win32' ? 'python' : 'python3') : executable(found);
}

/** Where verifications run when not here. */
interface HostSetting {
  readonly name?: string;
  readonly python?: string;
  readonly setup?: readonly string[];
}

/** What makes the command line reach the host as runs do, by the same settings and ssh's questions as input boxes. Close it when the command ended. */
export async function hostAccess(extensionPath: string): Promise<{ readonly environment: NodeJS.ProcessEnv; readonly close: () => void }> {
  const host = hostSetting().name?.trim() ?? '';
  const { ssh, sshArguments = [], prompt } = runTools(extensionPath);
  if (host === '') {
    return { environment: {}, close: () => undefined };
  }
  const askpass = prompt === undefined ? undefined : await openAskpass(host, prompt);
  return {
    environment: { ...(ssh === undefined ? {} : { FUSELENS_SSH: ssh }), ...(sshArguments.length === 0 ? {} : { FUSELENS_SSH_ARGUMENTS: sshArguments.join('\n') }), ...askpass?.environment },
    close: () => askpass?.close(),
  };
}

const hostSetting = (): HostSetting => vscode.workspace.getConfiguration('fuselens').get<HostSetting>('verify.host', {});

/** Which Python runs a verification, as arguments of the command line: on the host of `fuselens.verify.host`, else here. */
export function placeArguments(resource: vscode.Uri): readonly string[] {
  const { name, python, setup } = hostSetting();
  if (name === undefined || name.trim() === '') {
    return ['--python', pythonFor(resource)];
  }
  return ['--host', name.trim(), '--python', python ?? 'python3', ...(setup ?? []).flatMap((line) => ['--setup', line])];
}

/** Reasons that the user waives for edits, and so for what is verified. */
export const allowArguments = (): readonly string[] => vscode.workspace.getConfiguration('fuselens').get<readonly string[]>('fuse.allow', []).flatMap((reason) => ['--allow', reason]);

/** Where an environment's folder is named, its interpreter. */
function executable(named: string): string {
  try {
    return statSync(named).isDirectory() ? path.join(named, ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python'])) : named;
  } catch {
    return named;
  }
}
