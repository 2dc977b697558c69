import * as fs from 'node:fs';
import * as vscode from 'vscode';
import type { LogEvent } from '../../run/logParser';
import type { RunSettings } from '../../run/runSettings';
import type { Traceback } from '../../run/tracebacks';
import { pathRules, tracebackPlaces, type TracebackPlace } from '../../run/tracebackPlaces';

/** Different exceptions kept of one run: a run that logs one each step must not fill the Problems panel. */
const MOST = 100;

/** Exceptions that a run prints, as problems of the local files they come from. A task's next run replaces those of its last. */
export class RunDiagnostics implements vscode.Disposable {
  private readonly collection = vscode.languages.createDiagnosticCollection('fuselens-runs');
  private readonly byTask = new Map<string, readonly TracebackPlace[]>();

  /** Begins a run of a task: what its last run said goes away. Feed the log's events to what is returned. */
  begin(task: string, settings: RunSettings, local: string | undefined): (events: readonly LogEvent[]) => void {
    this.byTask.delete(task);
    this.show();
    const found: { readonly rank: number | undefined; readonly traceback: Traceback }[] = [];
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    const options = { rules: local === undefined ? [] : pathRules(settings, local), roots: [...new Set([...(local === undefined ? [] : [local]), ...folders])], exists: fs.existsSync };
    return (events) => {
      const fresh = events.flatMap((event) => (event.kind === 'traceback' ? [{ rank: event.rank, traceback: event.traceback }] : []));
      if (fresh.length > 0 && found.length < MOST * 8) {
        found.push(...fresh);
        this.byTask.set(task, tracebackPlaces(found, options).slice(0, MOST));
        this.show();
      }
    };
  }

  dispose(): void {
    this.collection.dispose();
  }

  private show(): void {
    const byFile = new Map<string, vscode.Diagnostic[]>();
    for (const [task, places] of this.byTask) {
      for (const place of places) {
        byFile.set(place.file, [...(byFile.get(place.file) ?? []), diagnostic(task, place)]);
      }
    }
    this.collection.clear();
    this.collection.set([...byFile].map(([file, diagnostics]): [vscode.Uri, vscode.Diagnostic[]] => [vscode.Uri.file(file), diagnostics]));
  }
}

function diagnostic(task: string, { line, message, ranks, related }: TracebackPlace): vscode.Diagnostic {
  const where = ranks.length === 0 ? message : vscode.l10n.t('{0} (ranks {1})', message, ranksText(ranks));
  const made = new vscode.Diagnostic(wholeLine(line), where, vscode.DiagnosticSeverity.Error);
  made.source = 'FuseLens';
  made.code = task;
  made.relatedInformation = related.map((one) => new vscode.DiagnosticRelatedInformation(new vscode.Location(vscode.Uri.file(one.file), wholeLine(one.line)), one.text));
  return made;
}

/** The editor cuts it to the text of the line. */
const wholeLine = (line: number): vscode.Range => new vscode.Range(line - 1, 0, line - 1, Number.MAX_SAFE_INTEGER);

/** "0–3, 6". */
function ranksText(ranks: readonly number[]): string {
  const groups: (readonly [number, number])[] = [];
  for (const rank of ranks) {
    const last = groups.at(-1);
    if (last !== undefined && last[1] === rank - 1) {
      groups[groups.length - 1] = [last[0], rank];
    } else {
      groups.push([rank, rank]);
    }
  }
  return groups.map(([from, to]) => (from === to ? String(from) : `${from}–${to}`)).join(', ');
}
