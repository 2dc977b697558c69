import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { VerifyReport } from '../../protocol/verify';
import { text } from '../../protocol/text';
import { verifyHeadline } from '../../protocol/verifySentences';
import { documentEvidence } from '../editor/documentEvidence';
import type { EvidenceStore } from '../editor/evidence';
import type { Fuser } from '../editor/fuse';
import { runCli } from '../runCli';
import { saveFirst } from '../saveFirst';
import { isCancelled, sentenceOf, translate } from '../sentences';
import { sourceRequest, trustedFolders } from '../sourceRequest';
import { allowArguments, hostAccess, placeArguments } from './python';

/** What to verify: a line of a document, from 1. Without one: where the cursor is. */
export interface VerifyTarget {
  readonly uri: string;
  readonly line: number;
}

/** A result, as long as the document is the one it was measured on. */
export interface Verified {
  readonly version: number;
  /** From 1: where it was asked for. */
  readonly line: number;
  readonly report: VerifyReport;
}

/** Verifies fusions and remembers what came out, until the document changes. */
export class Verifier implements vscode.Disposable {
  private readonly results = new Map<string, Verified[]>();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly disposables: readonly vscode.Disposable[];
  private running: AbortController | undefined;

  constructor(private readonly extensionPath: string, private readonly evidence: EvidenceStore, private readonly fuser: Fuser) {
    this.disposables = [
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && this.results.delete(document.uri.toString())) {
          this.changed.fire();
        }
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => { this.results.delete(uri.toString()); }),
    ];
  }

  dispose(): void {
    this.running?.abort();
    this.changed.dispose();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** Results that hold for the document as it is. */
  of(document: vscode.TextDocument): readonly Verified[] {
    return (this.results.get(document.uri.toString()) ?? []).filter(({ version }) => version === document.version);
  }

  /** Runs one; the user is told what came out, and how to see more. Resolves to undefined when nothing was run. */
  async verify(target: VerifyTarget | undefined, details: (verified: Verified) => void): Promise<VerifyReport | undefined> {
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showWarningMessage(vscode.l10n.t('FuseLens: verifying runs code of the workspace, so the workspace has to be trusted first.'));
      return undefined;
    }
    const editor = vscode.window.activeTextEditor;
    const uri = target === undefined ? editor?.document.uri : vscode.Uri.parse(target.uri);
    const line = target?.line ?? (editor === undefined ? undefined : editor.selection.active.line + 1);
    if (uri === undefined || line === undefined || (uri.scheme !== 'file' && uri.scheme !== 'vscode-remote')) {
      void vscode.window.showInformationMessage(vscode.l10n.t('FuseLens: open a Python file and put the cursor on the form to verify.'));
      return undefined;
    }
    const document = await vscode.workspace.openTextDocument(uri);
    // Python is verified as it stands in the editors; what it reads besides (a configuration) lies on the disk.
    if (!(await saveFirst(vscode.workspace.getWorkspaceFolder(uri)?.uri, ({ languageId }) => languageId !== 'python'))) {
      return undefined;
    }
    const { version } = document;
    try {
      const report = await this.withProgress(document, (signal) => this.run(document, line, signal));
      if (report !== undefined) {
        this.keep(document, { version, line, report }, details);
      }
      return report;
    } catch (error) {
      if (!isCancelled(error) && !(error instanceof Error && error.name === 'AbortError')) {
        void vscode.window.showErrorMessage(error instanceof VerifyStopped ? error.message : sentenceOf(error));
      }
      return undefined;
    }
  }

  private keep(document: vscode.TextDocument, verified: Verified, details: (verified: Verified) => void): void {
    const { report, version, line } = verified;
    const key = document.uri.toString();
    if (document.version === version) {
      this.results.set(key, [...this.of(document).filter((other) => other.line !== line), verified]);
      this.changed.fire();
    }
    const headline = `${path.basename(report.file)}:${line}: ${verifyHeadline(report, translate)}`;
    const show = report.verdict === 'verified' ? vscode.window.showInformationMessage : vscode.window.showWarningMessage;
    const more = vscode.l10n.t('Details');
    const buttons = report.verdict === 'failed' ? report.failure?.code === 'no-torch' || report.failure?.code === 'no-python' ? [vscode.l10n.t('Choose Interpreter')] : [] : [more];
    void show(report.verdict === 'failed' ? verifyHeadline(report, translate) : headline, ...buttons).then((chosen) => {
      if (chosen === more) {
        details(verified);
      } else if (chosen !== undefined) {
        void vscode.commands.executeCommand('workbench.action.openSettings', 'fuselens.python.path');
      }
    });
  }

  private async withProgress<T>(document: vscode.TextDocument, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.running?.abort();
    const abort = new AbortController();
    this.running = abort;
    const title = vscode.l10n.t('Verifying in {0}', path.basename(document.uri.fsPath));
    return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, (_, token) => {
      token.onCancellationRequested(() => abort.abort());
      return run(abort.signal);
    });
  }

  /** Our own command line does it: what it says here and in a terminal is then the same. */
  private async run(document: vscode.TextDocument, line: number, signal: AbortSignal): Promise<VerifyReport | undefined> {
    const access = await hostAccess(this.extensionPath);
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'fuselens-editor-'));
    try {
      const state = path.join(folder, 'editor.json');
      const { texts, original, backend, profile } = await this.state(document, line, signal);
      await fs.writeFile(state, JSON.stringify({ texts, ...(original === undefined ? {} : { original }), ...(profile === undefined ? {} : { profile }) }));
      const seconds = vscode.workspace.getConfiguration('fuselens').get<number>('verify.timeout', 300);
      const { stdout, lastWords } = await runCli(this.extensionPath, [
        'verify', `${document.uri.fsPath}:${line}`, '--json', '--editor', state, ...placeArguments(document.uri), '--timeout', String(seconds), ...(backend === undefined ? [] : ['--backend', backend]), ...allowArguments(), ...trustedFolders().flatMap((root) => ['--fusions', root]),
      ], signal, access.environment);
      if (signal.aborted) {
        return undefined;
      }
      if (stdout.trim() === '') {
        throw new VerifyStopped(lastWords.replace(/^fuselens: /, ''));
      }
      return JSON.parse(stdout) as VerifyReport;
    } finally {
      access.close();
      await fs.rm(folder, { recursive: true, force: true });
    }
  }

  /** What the command line cannot see: unsaved text, the text before a fuse, the active profile. */
  private async state(document: vscode.TextDocument, line: number, signal: AbortSignal): Promise<EditorState> {
    const evidence = this.evidence.get();
    const wanted = vscode.workspace.getConfiguration('fuselens').get<string>('fuse.backend', 'auto');
    const backend = wanted === 'auto' ? BACKENDS.find((known) => known === evidence?.profile.summary?.backend) : wanted;
    const fusable = (await this.fuser.plans(document))?.entries.find((entry) => entry.status === 'fixable' && entry.startLine <= line && line <= entry.endLine);
    const marks = this.fuser.fused(document);
    const mark = fusable === undefined ? [...marks].sort((a, b) => Math.abs(a.line + 1 - line) - Math.abs(b.line + 1 - line)).at(0) : undefined;
    const chain = mark?.chain ?? (evidence === undefined || fusable === undefined ? undefined : documentEvidence(evidence, document.uri).chains.find((one) => one.fusion === fusable.fusion && one.startLine <= fusable.endLine && fusable.startLine <= one.endLine));
    const profile = evidence === undefined || chain?.fusion === null || chain === undefined ? undefined : await evidence.profile.call('chainShapes', {
      rank: evidence.rank, fusion: chain.fusion, event: chain.phases[0].first.event, kernels: chain.phases[0].kernels.length,
    }, { signal }).catch(() => undefined);
    return { texts: sourceRequest().overlay ?? {}, original: mark?.original, backend, profile };
  }
}

interface EditorState {
  readonly texts: Readonly<Record<string, string>>;
  readonly original: string | undefined;
  readonly backend: string | undefined;
  readonly profile: unknown;
}

const BACKENDS = ['ascend', 'cuda', 'torch'];

/** The command line ended with one sentence and no report. */
class VerifyStopped extends Error {}

/** What a lens or an action says of a result. */
export const resultTitle = ({ report }: Verified): string => (report.verdict === 'failed' ? text('verify.verdict.failed', undefined, translate) : verifyHeadline(report, translate));
