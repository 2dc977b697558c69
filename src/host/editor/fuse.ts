import * as vscode from 'vscode';
import type { FuseAnswer, FuseEdit, FuseEntry, FuseParams, FusePlace } from '../../protocol/fuse';
import { text } from '../../protocol/text';
import { isCancelled, sentenceOf, translate } from '../sentences';
import { documentEvidence, type DocumentChain } from './documentEvidence';
import { addEdits } from './fuseEdits';
import { planWorkspace } from './fuseWorkspace';
import { chosenInterpreter } from '../interpreter';
import { sourceFolders, trustedFolders, workspaceFolders } from '../sourceRequest';
import type { Evidence, EvidenceStore } from './evidence';
import { time } from './words';

/** Which entry of a document: recomputed when it is applied, so that a stale edit is never made. */
export interface FuseTarget {
  readonly uri: string;
  /** Undefined: every form of the file that the profile shows. */
  readonly place: FusePlace | undefined;
}

/** What was fused and not measured since: shown as long as the new text stands in the document. */
interface Mark {
  readonly replacement: string;
  readonly was: string;
  /** Text before, and where in it the form was: what a verification compares with. */
  readonly original: string;
  readonly place: FusePlace;
  /** The chain it was, in the profile. */
  readonly chain: DocumentChain;
  /** When it was fused, in milliseconds. */
  readonly since: number;
}

/** Asks the engine what can be fused in a document, once per version, and applies it. */
export class Fuser implements vscode.Disposable {
  private readonly answers = new Map<string, { readonly version: number; readonly evidence: Evidence; readonly settings: string; readonly answer: Promise<FuseAnswer | undefined> }>();
  private readonly marks = new Map<string, Mark[]>();
  private readonly said = new Set<string>();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly evidence: EvidenceStore) {}

  dispose(): void {
    this.changed.dispose();
  }

  /** Plans for the document as it is now; undefined without evidence, and when the engine could not say. */
  plans(document: vscode.TextDocument): Promise<FuseAnswer | undefined> {
    const evidence = this.evidence.get();
    if (evidence === undefined) {
      return Promise.resolve(undefined);
    }
    const key = document.uri.toString();
    const known = this.answers.get(key);
    const settings = fuseSettings();
    const stamp = JSON.stringify(settings);
    if (known?.version === document.version && known.evidence === evidence && known.settings === stamp) {
      return known.answer;
    }
    const places = documentEvidence(evidence, document.uri).chains.flatMap(({ fusion, startLine, endLine }) => (fusion === null ? [] : [{ fusion, startLine, endLine }]));
    const answer = places.length === 0 ? Promise.resolve(undefined) : evidence.profile.call('fuse', { file: document.uri.fsPath, text: document.getText(), ...settings, places }).then((found) => this.told(found)).catch((error: unknown) => {
      if (!isCancelled(error)) {
        vscode.window.setStatusBarMessage(sentenceOf(error), 8000);
      }
      return undefined;
    });
    this.answers.set(key, { version: document.version, evidence, settings: stamp, answer });
    return answer;
  }

  /** A module that replaces functions of an installed file; undefined where there is none, or no profile is open. */
  async patchModule(document: vscode.TextDocument, digest: string): Promise<FuseAnswer['patch']> {
    const answer = await this.evidence.get()?.profile.call('fuse', { file: document.uri.fsPath, text: document.getText(), ...fuseSettings(), patchDigest: digest });
    return answer?.patch;
  }

  /** Everything that the profile shows in the workspace as one edit, which one undo takes back. */
  async applyWorkspace(): Promise<void> {
    const evidence = this.evidence.get() ?? await this.evidence.compute();
    if (evidence === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t('FuseLens: open a profile first; only what it shows is fused.'));
      return;
    }
    const { edit, fused, files, summary, documents } = await planWorkspace(evidence, (document) => this.plans(document));
    if (fused === 0) {
      void vscode.window.showInformationMessage(summary);
      return;
    }
    documents.forEach(({ document, entries }) => this.remember(document, entries));
    if (await vscode.workspace.applyEdit(edit, { isRefactoring: true }) && files.length > 0) {
      this.changed.fire();
      void vscode.window.showInformationMessage(summary);
    }
  }

  /** Applies one entry through the preview, or all of a file as one edit that one undo takes back. */
  async apply(target: FuseTarget | undefined): Promise<void> {
    const uri = target === undefined ? vscode.window.activeTextEditor?.document.uri : vscode.Uri.parse(target.uri);
    if (uri === undefined) {
      return;
    }
    const document = await vscode.workspace.openTextDocument(uri);
    const answer = await this.plans(document);
    const entry = target?.place === undefined ? undefined : answer?.entries.find((one) => one.status === 'fixable' && overlaps(one, target.place));
    const edits = target?.place === undefined ? answer?.together.edits ?? [] : entry?.edits ?? [];
    if (answer === undefined || edits.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t('FuseLens: nothing here can be fused any more.'));
      return;
    }
    this.remember(document, entry === undefined ? answer.entries.filter(({ status }) => status === 'fixable') : [entry]);
    if (await vscode.workspace.applyEdit(workspaceEdit(document, edits, answer.entries), { isRefactoring: true })) {
      this.changed.fire();
    }
  }

  /** Where something was fused in this document and not measured yet. */
  fused(document: vscode.TextDocument): readonly { readonly line: number; readonly was: string; readonly original: string; readonly place: FusePlace; readonly chain: DocumentChain; readonly since: number }[] {
    const content = document.getText();
    return (this.marks.get(document.uri.toString()) ?? []).flatMap(({ replacement, was, original, place, chain, since }) => {
      const at = content.indexOf(replacement);
      return at < 0 ? [] : [{ line: document.positionAt(at).line, was, original, place, chain, since }];
    });
  }

  /** Says once what is wrong with files of the workspace's own fusions. */
  private told(answer: FuseAnswer): FuseAnswer {
    for (const { code, args } of answer.problems) {
      const sentence = text(code, args, translate);
      if (!this.said.has(sentence)) {
        this.said.add(sentence);
        void vscode.window.showWarningMessage(sentence);
      }
    }
    return answer;
  }

  private remember(document: vscode.TextDocument, entries: readonly FuseEntry[]): void {
    const evidence = this.evidence.get();
    const chains = evidence === undefined ? [] : documentEvidence(evidence, document.uri).chains;
    const fresh = entries.flatMap((entry) => {
      const chain = chains.find((one) => one.fusion !== null && overlaps(entry, { fusion: one.fusion, startLine: one.startLine, endLine: one.endLine }));
      return chain === undefined || entry.replacement === undefined ? [] : [{ replacement: entry.replacement, was: time(chain.totalUs), original: document.getText(), place: placeOf(entry), chain, since: Date.now() }];
    });
    const key = document.uri.toString();
    this.marks.set(key, [...(this.marks.get(key) ?? []).filter(({ replacement }) => !fresh.some((mark) => mark.replacement === replacement)), ...fresh]);
  }
}

export function overlaps(entry: FuseEntry, place: FusePlace | undefined): boolean {
  return place !== undefined && entry.fusion === place.fusion && entry.startLine <= place.endLine && place.startLine <= entry.endLine;
}

export const placeOf = ({ fusion, startLine, endLine }: Pick<DocumentChain, 'startLine' | 'endLine'> & { readonly fusion: string }): FusePlace => ({ fusion, startLine, endLine });

/** What every question about fusing says beside the file: the device, what may be edited, what is installed. */
function fuseSettings(): Pick<FuseParams, 'sources' | 'workspace' | 'backend' | 'interpreter' | 'fusionFolders' | 'allow'> {
  const backend = vscode.workspace.getConfiguration('fuselens').get<string>('fuse.backend', 'auto');
  const interpreter = chosenInterpreter();
  return {
    sources: sourceFolders(), workspace: workspaceFolders(), fusionFolders: trustedFolders(), allow: vscode.workspace.getConfiguration('fuselens').get<readonly string[]>('fuse.allow', []),
    ...(backend === 'ascend' || backend === 'cuda' || backend === 'torch' ? { backend } : {}), ...(interpreter === undefined ? {} : { interpreter }),
  };
}

/** Asks for confirmation, so that the Refactor Preview shows the difference first. */
function workspaceEdit(document: vscode.TextDocument, edits: readonly FuseEdit[], entries: readonly FuseEntry[]): vscode.WorkspaceEdit {
  const made = new vscode.WorkspaceEdit();
  addEdits(made, document, edits, entries);
  return made;
}
