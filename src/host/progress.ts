import * as vscode from 'vscode';
import type { CallOptions, EngineProgress } from '../protocol/engine';
import { formatBytes } from './sentences';

/** Shorter than this nobody wants to be told. */
const SHOW_AFTER_MS = 600;

/** Runs a call of the engine; where it takes long, a notification shows bytes and rate and offers Cancel. */
export async function withCancellableProgress<T>(title: string, run: (options: CallOptions) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const started = Date.now();
  let latest: EngineProgress | undefined;
  let report: ((progress: EngineProgress) => void) | undefined;
  const task = run({
    signal: abort.signal,
    progress: (progress) => {
      latest = progress;
      report?.(progress);
    },
  });
  const settled = task.then(() => undefined, () => undefined);
  const slow = await Promise.race([settled.then(() => false), new Promise<boolean>((resolve) => setTimeout(() => resolve(true), SHOW_AFTER_MS))]);
  if (slow) {
    void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, (progress, token) => {
      token.onCancellationRequested(() => abort.abort());
      let shown = 0;
      report = (value) => {
        const percent = value.totalBytes > 0 ? (100 * value.bytes) / value.totalBytes : 0;
        progress.report({ message: progressText(value, Date.now() - started), increment: Math.max(0, percent - shown) });
        shown = Math.max(shown, percent);
      };
      if (latest !== undefined) {
        report(latest);
      }
      return settled;
    });
  }
  return task;
}

/** "340 MB of 1.2 GB · 210 MB/s". */
function progressText({ bytes, totalBytes }: EngineProgress, elapsedMs: number): string {
  const amount = totalBytes > 0 ? vscode.l10n.t('{0} of {1}', formatBytes(bytes), formatBytes(totalBytes)) : formatBytes(bytes);
  return elapsedMs > 0 ? `${amount} · ${formatBytes((bytes * 1000) / elapsedMs)}/s` : amount;
}
