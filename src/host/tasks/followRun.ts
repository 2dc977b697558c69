import * as vscode from 'vscode';
import type { Run, RunState } from '../../run/run';
import { explainRunEnd } from '../../run/runEnd';
import { isCancelled, sentenceOf } from '../sentences';
import { showPage } from './pages';
import type { RunContext } from './runContext';
import { isLive, placeName, stateWord, statusWords, type RunEntry } from './runEntry';
import type { TerminalIo } from './runTerminal';
import { stopRun } from './stopRun';

/** The end of a log, to explain a failure with. */
const TAIL = 64 * 1024;
const RED = '\u001b[31m';
const YELLOW = '\u001b[33m';
/** A colour, not "faint": faint text on a light ground cannot be read. */
const GREY = '\u001b[90m';
const PLAIN = '\u001b[0m';

/** Says something of our own in the terminal, told apart from the run's output. */
export const say = (io: TerminalIo, text: string, failure: boolean | 'warning' = false): void => io.write(`${failure === 'warning' ? YELLOW : failure ? RED : GREY}${text}${PLAIN}\r\n`);

/**
 * Streams a run into a terminal until it has ended; shows its step, loss and time meanwhile. Undefined when the terminal was
 * closed: the run goes on, and a notice says so.
 */
export async function followRun(context: RunContext, run: Run, io: TerminalIo, { task, local }: { readonly task: string; readonly local: string | undefined }): Promise<RunState | undefined> {
  const { runs, diagnostics } = context;
  const entry = runs.add(run);
  const events = diagnostics.begin(task, run.record.settings, local);
  let tail = '';
  let told = false;
  const queueNews = tellQueue(io);
  const following = runs.follow(run, {
    signal: io.signal,
    onState: queueNews,
    onEvents: events,
    onText: (text) => {
      tail = (tail + text).slice(-TAIL);
      io.write(text);
    },
    onConnection: ({ host, reconnected, failure }) => {
      say(io, reconnected ? vscode.l10n.t('Connected to {0} again.', placeName(host)) : sentenceOf(failure), !reconnected);
      if (!reconnected && !told) {
        told = true;
        stillRunning(context, runs.get(entry) ?? entry);
      }
    },
  });
  showProgress(context, entry, following);
  try {
    const state = await following;
    ended(run, state, tail, io);
    return state;
  } catch (error) {
    if (io.signal.aborted) {
      const now = runs.get(entry) ?? entry;
      if (isLive(now) || now.state === undefined) {
        stillRunning(context, now);
      }
      return undefined;
    }
    if (!isCancelled(error)) {
      say(io, sentenceOf(error), true);
    }
    throw error;
  }
}

/** The notice of a run that nobody follows any more. */
export function stillRunning(context: RunContext, entry: RunEntry): void {
  const stop = vscode.l10n.t('Stop');
  const attach = vscode.l10n.t('Attach');
  void vscode.window.showInformationMessage(vscode.l10n.t('{0} is still running on {1}.', entry.name, placeName(entry.host)), stop, attach).then((answer) => {
    if (answer === stop) {
      return stopRun(context, entry);
    }
    return answer === attach ? vscode.commands.executeCommand('fuselens.attachRun', { host: entry.host, id: entry.id }) : undefined;
  });
}

function showProgress({ runs }: RunContext, entry: RunEntry, following: Promise<unknown>): void {
  void vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: entry.name }, async (progress) => {
    const show = (): void => {
      const now = runs.get(entry);
      if (now !== undefined) {
        progress.report({ message: statusWords(now) });
      }
    };
    const listener = runs.onDidChange(show);
    const clock = setInterval(show, 1000);
    await following.then(() => undefined, () => undefined);
    clearInterval(clock);
    listener.dispose();
  });
}

/** Lines of our own on what the batch system says: the place in the queue, the nodes, and how each task of an array ended. */
function tellQueue(io: TerminalIo): (state: RunState) => void {
  let before = '';
  const told = new Set<number>();
  return (state) => {
    const { phase, queue, tasks } = state;
    for (const [task, exit] of Object.entries(tasks?.exits ?? {})) {
      if (!told.has(Number(task))) {
        told.add(Number(task));
        say(io, exit === 0 ? vscode.l10n.t('Task {0} is done.', task) : vscode.l10n.t('Task {0} failed with exit code {1}.', task, exit), exit !== 0);
      }
    }
    // How many tasks have ended is said task by task.
    const now = queue !== undefined && (phase === 'queued' || phase === 'running') ? stateWord({ state: { phase, logBytes: 0, queue }, failure: undefined }) : '';
    if (queue !== undefined && now !== '' && now !== before) {
      say(io, vscode.l10n.t('Job {0}: {1}.', queue.job, now));
    }
    before = now === '' ? before : now;
  };
}

/** How it ended: one sentence, and what the programs printed one click away. */
function ended(run: Run, state: RunState, tail: string, io: TerminalIo): void {
  const [host] = run.hosts;
  const name = run.record.name;
  const { phase, stopped, queue } = state;
  if (stopped === true) {
    say(io, queue === undefined ? vscode.l10n.t('{0} was stopped.', name) : vscode.l10n.t('{0} was stopped: job {1} is cancelled.', name, queue.job));
    return;
  }
  const explanation = explainRunEnd(state, tail, run.id, host === undefined ? {} : { host });
  if (explanation === undefined) {
    say(io, vscode.l10n.t('{0} is done.', name));
    return;
  }
  const sentence = phase === 'lost' ? vscode.l10n.t('{0} is gone and left no exit code: its host was restarted, or somebody killed it.', name) : sentenceOf({ code: explanation.code, args: explanation.args });
  say(io, sentence, true);
  const show = vscode.l10n.t('Show Output');
  void vscode.window.showErrorMessage(vscode.l10n.t('{0}: {1}', name, sentence), show).then(async (answer) => {
    if (answer === show) {
      await showPage(`${name}.log`, explanation.raw);
    }
  });
}
