import * as path from 'node:path';
import * as vscode from 'vscode';
import { commonTail, mappedPath, pathParts } from '../protocol/pathTail';
import { pathMap } from './sourceRequest';

/**
 * Opens a source file named in a profile at a line (from 1). The run may have been on another machine: the user's map of
 * paths counts first, and where the path does not exist here, a file of the workspace with the same tail is taken, if it is the only one.
 */
export async function openSource(recorded: string, line: number): Promise<void> {
  const file = mappedPath(recorded, pathMap()) ?? recorded;
  const uri = isLocal(file) && (await exists(vscode.Uri.file(file))) ? vscode.Uri.file(file) : await findByTail(file);
  if (uri === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t('{0} was not found here; open the folder it lies in.', file));
    return;
  }
  const position = new vscode.Position(Math.max(0, line - 1), 0);
  await vscode.window.showTextDocument(uri, { selection: new vscode.Range(position, position), viewColumn: vscode.ViewColumn.Beside, preview: true });
}

/** A profile may name any path; one that leads to another machine is not even looked at. */
const isLocal = (file: string): boolean => !/^[\\/]{2}/.test(file);

async function findByTail(file: string): Promise<vscode.Uri | undefined> {
  const parts = pathParts(file);
  const name = parts.at(-1) ?? path.basename(file);
  const candidates = await vscode.workspace.findFiles(`**/${escapeGlob(name)}`, '**/node_modules/**', 200);
  let best: vscode.Uri[] = [];
  let bestDepth = 0;
  for (const candidate of candidates) {
    const depth = commonTail(pathParts(candidate.path), parts);
    if (depth > bestDepth) {
      best = [];
      bestDepth = depth;
    }
    if (depth === bestDepth) {
      best.push(candidate);
    }
  }
  return best.length === 1 ? best[0] : undefined;
}

const escapeGlob = (name: string): string => name.replace(/[[\]{}*?]/g, '[$&]');

export async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}
