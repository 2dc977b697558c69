import * as path from 'node:path';
import * as vscode from 'vscode';
import { captureOutput } from '../../run/captureOutput';
import { keepRecord } from '../../run/captureRecord';
import type { CapturePass } from '../../run/capturePasses';
import { fetchFiles } from '../../run/fetch';
import { analyseOnHost } from '../../run/hostAnalysis';
import { outputPlace } from '../../run/outputPlace';
import type { Run, RunRecord } from '../../run/run';
import type { RunSettings } from '../../run/runSettings';
import type { Shell } from '../../run/shell';
import { openPath } from '../commands/openProfile';
import { formatBytes, sentenceOf } from '../sentences';
import { codeWords } from '../views/runsTree';
import { baselineOf } from './baseline';
import { measureAgainst } from './compareProfiles';
import { say } from './followRun';
import { inspectFolder } from './inspectCapture';
import type { RunContext } from './runContext';
import { placeName, type RunEntry } from './runEntry';
import type { TerminalIo } from './runTerminal';

export interface CapturedPass {
  readonly run: Run;
  readonly pass: CapturePass;
  /** As the job saw it. */
  readonly output: string;
}

/** Where the fetched profile of a run lies here, as the command line does it; both passes of a capture are neighbours, as on the host. */
export function fetchedFolder({ commands }: RunContext, id: string, workspace = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath): string {
  return path.join(workspace ?? commands.globalStorage.fsPath, 'outputs', id);
}

/**
 * What a capture left: brought here, looked through with every oddity said, and opened. Gives the path of the profile that has
 * the times; undefined when there is none.
 */
export async function captureResults(context: RunContext, passes: readonly CapturedPass[], settings: RunSettings, request: { readonly folder: vscode.Uri | undefined; readonly onResults?: unknown }, io: TerminalIo): Promise<string | undefined> {
  let first: string | undefined;
  for (const captured of passes) {
    const brought = await bringHere(context, captured, settings, request.folder, io);
    if (brought === undefined) {
      continue;
    }
    const { output, columns } = brought;
    await keepRecord(context.runs.connections, captured.run, output);
    // Columns were made by a command that has looked at everything already.
    const { profile, findings } = columns ? { profile: output, findings: [] } : await inspectFolder(context.commands.extensionPath, output);
    findings.forEach(({ severity, message }) => say(io, message, severity === 'warning' ? 'warning' : severity === 'error'));
    if (profile === undefined) {
      const [worst] = [...findings].sort((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity));
      void vscode.window.showErrorMessage(worst?.message ?? vscode.l10n.t('The run left no profile in {0}.', output));
      continue;
    }
    context.runs.setProfile(keyOfRun(captured.run), profile);
    first ??= profile;
  }
  if (first !== undefined && request.onResults === undefined) {
    await openProfile(context, passes[0].run, first);
    // The run is over; a comparison of many ranks must not keep its terminal open.
    void compareWithBaseline(context, first);
  }
  return first;
}

async function compareWithBaseline(context: RunContext, profile: string): Promise<void> {
  const baseline = baselineOf(context);
  const { store } = context.commands;
  const candidate = store.get(profile);
  if (baseline !== undefined && candidate !== undefined && store.add(baseline.path) !== candidate) {
    await measureAgainst(context, store.add(baseline.path), candidate);
  }
}

const SEVERITIES = ['info', 'warning', 'error'];

/** Opens a run's profile under the run's name, with the commit it ran at, so that one can tell two of them apart. */
export async function openProfile(context: RunContext, run: Pick<Run, 'id' | 'hosts' | 'record'>, profile: string): Promise<void> {
  const entry = context.runs.get(keyOfRun(run));
  const { name, startedAt } = run.record;
  const code = entry === undefined ? undefined : codeWords(entry);
  const when = startedAt === '' ? '' : new Date(startedAt).toLocaleString(vscode.env.language, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' });
  context.commands.store.add(profile).rename([name, when, code ?? ''].filter((word) => word !== '').join(' · '));
  context.commands.store.save();
  await openPath(context.commands, profile);
}

interface Brought {
  readonly output: string;
  /** It was analysed on the host: only columns came, which open like a profile. */
  readonly columns: boolean;
}

/** The output folder of a pass on this machine; from a host it is fetched, or what analysing it there gave. */
async function bringHere(context: RunContext, { run, output }: CapturedPass, settings: RunSettings, folder: vscode.Uri | undefined, io: TerminalIo): Promise<Brought | undefined> {
  const [host] = run.hosts;
  const { shell, folder: there, contained } = await outputPlace(context.runs.connections, run.record, output);
  if (host === undefined && !contained) {
    return { output: there, columns: false };
  }
  const what = settings.sync?.fetch ?? 'analysis';
  const to = fetchedFolder(context, run.id, folder?.fsPath);
  if (what !== 'none') {
    return (await fetchFrom(context, shell, there, to, what, io)) === undefined ? undefined : { output: to, columns: false };
  }
  const { connections } = context.runs;
  const title = vscode.l10n.t('Analysing on {0}', placeName(host));
  const analysis = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => analyseOnHost({ shell, tools: connections.tools, profile: there, to }));
  if (analysis.kind === 'files') {
    say(io, sentenceOf(analysis.reason));
  } else {
    say(io, vscode.l10n.t('The profile stays on {0}, in {1}.', placeName(host), there));
  }
  return { output: to, columns: analysis.kind === 'columns' };
}

/** Fetches a folder of a host, with its progress; what is here already is kept, and an interrupted fetch goes on. */
export async function fetchFrom({ runs }: RunContext, shell: Shell, from: string, to: string, what: 'analysis' | 'trace', io?: TerminalIo): Promise<string | undefined> {
  const { host } = shell;
  const title = vscode.l10n.t('Fetching from {0}', placeName(host));
  try {
    const result = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, (progress, token) => {
      const abort = new AbortController();
      token.onCancellationRequested(() => abort.abort());
      let shown = 0;
      return fetchFiles({
        shell, tools: runs.connections.tools, from, to, what, signal: abort.signal,
        onProgress: ({ bytes, totalBytes, file }) => {
          const percent = totalBytes > 0 ? (100 * bytes) / totalBytes : 0;
          progress.report({ message: `${vscode.l10n.t('{0} of {1}', formatBytes(bytes), formatBytes(totalBytes))} ${path.posix.basename(file)}`, increment: Math.max(0, percent - shown) });
          shown = Math.max(shown, percent);
        },
      });
    });
    if (io !== undefined) {
      say(io, vscode.l10n.t('{0} files came from {1}; {2} were here already, {3} stay there.', result.files.length, placeName(host), result.kept, result.leftThere.length));
    }
    return to;
  } catch (error) {
    const sentence = sentenceOf(error);
    if (io === undefined) {
      throw error;
    }
    say(io, sentence, true);
    void vscode.window.showErrorMessage(sentence);
    return undefined;
  }
}

/** Where a captured run leaves its profile, as the job or its host sees it. */
export async function outputOf({ runs }: RunContext, { settings }: RunRecord, { id, folder }: Pick<Run, 'id' | 'folder'>, host: string | undefined): Promise<string | undefined> {
  const { stdout } = await runs.connections.shell(host).exec(['head', '-c', '262144', `${folder}/command.sh`]);
  const output = settings.capture === undefined ? undefined : captureOutput(stdout, id);
  return output?.folder;
}

export const keyOfRun = (run: Pick<Run, 'id' | 'hosts'>): Pick<RunEntry, 'host' | 'id'> => ({ host: run.hosts[0], id: run.id });
