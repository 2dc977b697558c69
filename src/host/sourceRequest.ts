import * as vscode from 'vscode';
import type { EngineParams } from '../protocol/engine';
import { chosenInterpreter } from './interpreter';

/** The user's source as every request names it: asked for in two ways, the engine would index it twice in turn. */
export const sourceRequest = (): SourceRequest => ({ ...sourceSettings(), overlay: overlay(), hints: { open: openFiles() } });

export type SourceRequest = Pick<EngineParams<'fingerprints'>, 'sources' | 'overlay' | 'pathMap' | 'fusionFolders' | 'packages' | 'hints'>;

/** Of a request what folders and settings say; cheap enough for every keystroke. */
export const sourceSettings = (): Omit<SourceRequest, 'overlay' | 'hints'> => ({ sources: sourceFolders(), pathMap: pathMap(), fusionFolders: trustedFolders(), ...packages() });

/** Python files open in tabs: of equal places these come first. */
const openFiles = (): readonly string[] => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).map(({ input }) => (input instanceof vscode.TabInputText && input.uri.path.endsWith('.py') ? input.uri.fsPath : '')).filter((file) => file !== '').sort();

/** Framework packages the user asked to be searched, in the environment that the project uses. */
function packages(): Pick<EngineParams<'fingerprints'>, 'packages'> {
  const names = vscode.workspace.getConfiguration('fuselens').get<readonly string[]>('source.packages', []);
  const interpreter = names.length === 0 ? undefined : chosenInterpreter();
  return interpreter === undefined ? {} : { packages: { interpreter, names: [...names] } };
}

/** Prefixes of paths in a run → prefixes here, as the user set them. A copy: what the configuration gives cannot be sent to a worker. */
export const pathMap = (): Readonly<Record<string, string>> => ({ ...vscode.workspace.getConfiguration('fuselens').get<Readonly<Record<string, string>>>('source.pathMap', {}) });

/** Folders of the workspace: what may be edited. */
export const workspaceFolders = (): readonly string[] => (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file' || uri.scheme === 'vscode-remote').map(({ uri }) => uri.fsPath);

/** Folders whose `.fuselens` may say what is done; none without trust. */
export const trustedFolders = (): readonly string[] => (vscode.workspace.isTrusted ? workspaceFolders() : []);

/** Workspace folders, and those the user added. */
export function sourceFolders(): readonly string[] {
  const added = vscode.workspace.getConfiguration('fuselens').get<readonly string[]>('source.folders', []);
  return [...workspaceFolders(), ...added];
}

/** Open Python documents hide the disk. */
function overlay(): Readonly<Record<string, string>> {
  return Object.fromEntries(vscode.workspace.textDocuments.filter((document) => document.languageId === 'python' && document.isDirty).map((document) => [document.uri.fsPath, document.getText()]));
}
