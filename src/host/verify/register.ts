import * as vscode from 'vscode';
import type { VerifyReport } from '../../protocol/verify';
import type { EvidenceStore } from '../editor/evidence';
import type { Fuser } from '../editor/fuse';
import { Verifier, type Verified, type VerifyTarget } from './verifier';
import { VerifyActions } from './verifyActions';
import { VerifyDetails } from './verifyDetails';
import { VerifyHovers } from './verifyHovers';
import { VerifyLenses } from './verifyLenses';

/** The command, and the places that show what came out. */
export function registerVerify(python: vscode.DocumentSelector, extensionPath: string, evidence: EvidenceStore, fuser: Fuser): vscode.Disposable {
  const verifier = new Verifier(extensionPath, evidence, fuser);
  const details = new VerifyDetails();
  const show = (verified: Verified): void => void details.show(verified);
  return vscode.Disposable.from(
    verifier, details,
    vscode.languages.registerCodeLensProvider(python, new VerifyLenses(evidence, fuser, verifier)),
    vscode.languages.registerCodeActionsProvider(python, new VerifyActions(fuser), { providedCodeActionKinds: VerifyActions.kinds }),
    vscode.languages.registerHoverProvider(python, new VerifyHovers(verifier)),
    vscode.commands.registerCommand('fuselens.verify', (target: unknown): Promise<VerifyReport | undefined> => verifier.verify(asTarget(target), show)),
    vscode.commands.registerCommand('fuselens.showVerified', (verified: Verified | undefined) => verified === undefined ? undefined : details.show(verified)),
  );
}

function asTarget(value: unknown): VerifyTarget | undefined {
  const { uri, line } = (typeof value === 'object' && value !== null ? value : {}) as { readonly uri?: unknown; readonly line?: unknown };
  return typeof uri === 'string' && typeof line === 'number' ? { uri, line } : undefined;
}
