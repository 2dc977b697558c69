import * as vscode from 'vscode';
import { visibleText } from '../../protocol/visibleText';
import { planPush, push, type PushPlan } from '../../run/push';
import { pushedFolder } from '../../run/run';
import type { RunSettings } from '../../run/runSettings';
import { formatBytes, sentenceOf } from '../sentences';
import { say } from './followRun';
import type { RunContext } from './runContext';
import { placeName } from './runEntry';
import type { TerminalIo } from './runTerminal';

/** Places that files may go to without asking each time. */
const KEY = 'fuselens.push.allowed';
/** Listed in the terminal; the rest is counted. */
const MOST_LISTED = 40;

/**
 * Sends the workspace folder to the host. What will go is listed in the terminal; the first time to a place it is also asked for.
 * False when the user does not want it.
 */
export async function pushFirst({ runs, memory }: RunContext, settings: RunSettings, folder: vscode.Uri | undefined, io: TerminalIo, signal: AbortSignal): Promise<boolean> {
  if (folder === undefined || settings.host === undefined) {
    say(io, vscode.l10n.t('There is no workspace folder to send to the host.'), true);
    return false;
  }
  const { tools } = runs.connections;
  const options = { shell: runs.connections.shell(settings.host), tools, from: folder.fsPath, to: settings.workdir ?? pushedFolder(folder.fsPath), signal, ...(settings.sync?.ignore === undefined ? {} : { ignore: settings.sync.ignore }) };
  const plan = await planPush(options);
  list(plan, io, placeName(settings.host));
  if (plan.files.length === 0) {
    return true;
  }
  if (!(await allowed(memory, settings.host, plan))) {
    say(io, vscode.l10n.t('Nothing was sent and nothing was started.'), true);
    return false;
  }
  await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: vscode.l10n.t('Sending to {0}', placeName(settings.host)) }, (progress) => push({
    ...options,
    onProgress: ({ bytes, totalBytes }) => progress.report({ message: vscode.l10n.t('{0} of {1}', formatBytes(bytes), formatBytes(totalBytes)) }),
  }, plan));
  return true;
}

function list({ files, unchanged, bytes, ignored, overLimit, notFiles, to }: PushPlan, io: TerminalIo, host: string): void {
  say(io, files.length === 0 ? vscode.l10n.t('Nothing to send: {0} files are on {1} already.', unchanged, host) : vscode.l10n.t('To {0}, folder {1}: {2} files, {3}; {4} are there already, {5} are left out by rules. Nothing is deleted there.', host, to, files.length, formatBytes(bytes), unchanged, ignored.length));
  files.slice(0, MOST_LISTED).forEach((file) => io.write(`  ${file.why === 'new' ? '+' : '~'} ${file.path}\r\n`));
  if (files.length > MOST_LISTED) {
    say(io, vscode.l10n.t('… and {0} more', files.length - MOST_LISTED));
  }
  files.filter(({ newerThere }) => newerThere === true).forEach((file) => say(io, vscode.l10n.t('{0} is newer on {1} than here and will be replaced there.', file.path, host), true));
  overLimit.forEach((file) => say(io, vscode.l10n.t('{0} is left out: with {1} it is too large for source code.', file.path, formatBytes(file.bytes)), true));
  notFiles.slice(0, MOST_LISTED).forEach(({ path, why }) => say(io, sentenceOf({ code: `run.push-${why}`, args: { file: visibleText(path) } }), 'warning'));
  if (notFiles.length > MOST_LISTED) {
    say(io, vscode.l10n.t('… and {0} more', notFiles.length - MOST_LISTED));
  }
}

async function allowed(memory: vscode.Memento, host: string, { to, files, bytes }: PushPlan): Promise<boolean> {
  const known = memory.get<readonly string[]>(KEY, []);
  const place = `${host}\0${to}`;
  if (known.includes(place)) {
    return true;
  }
  const send = vscode.l10n.t('Send');
  const always = vscode.l10n.t('Send Without Asking From Now On');
  const answer = await vscode.window.showInformationMessage(vscode.l10n.t('Send {0} files ({1}) to {2} on {3}?', files.length, formatBytes(bytes), to, placeName(host)), { modal: true, detail: files.slice(0, 12).map((file) => file.path).join('\n') + (files.length > 12 ? '\n…' : '') }, send, always);
  if (answer === always) {
    await memory.update(KEY, [...known, place]);
  }
  return answer !== undefined;
}
