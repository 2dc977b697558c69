import * as vscode from 'vscode';
import { checkRunSettings } from '../../run/checkRunSettings';
import { captureHelperFiles } from '../../run/captureHelper';
import { capturePasses, nextPassSettings, sameCode, type CapturePass } from '../../run/capturePasses';
import { planCapture, type CapturePlan } from '../../run/capturePlan';
import { newRunId, startRun, type Run } from '../../run/run';
import type { RunSettings } from '../../run/runSettings';
import { saveFirst } from '../saveFirst';
import { isCancelled, sentenceOf } from '../sentences';
import { captureResults, outputOf, type CapturedPass } from './captureResults';
import { followRun, say } from './followRun';
import { pushFirst } from './pushFirst';
import type { RunContext } from './runContext';
import { placeName } from './runEntry';
import type { TerminalIo, TerminalJob } from './runTerminal';
import { stopRun } from './stopRun';
import { mayRun, notTrusted } from './trust';
import { readOnHost } from './readOnHost';

export interface TrainingRequest {
  /** How the task is called. */
  readonly task: string;
  /** As it stands in tasks.json, variables replaced. */
  readonly settings: unknown;
  readonly folder: vscode.Uri | undefined;
  /** What is done with the profile instead of opening it. */
  readonly onResults?: (results: { readonly run: Run; readonly profile: string | undefined }) => void;
}

/** What a run's exit code is where none started. */
const NOT_STARTED = 1;

/** A task from its settings to its profile: checked, saved, pushed, started (twice for two passes), followed, fetched, opened. */
export class TrainingJob implements TerminalJob {
  private current: Run | undefined;
  private interrupts = 0;
  private readonly off = new AbortController();

  /** `resumed` is the first pass of a capture that has ended well: what is left to do is the next one. */
  constructor(private readonly context: RunContext, private readonly request: TrainingRequest, private readonly resumed?: Run) {}

  async run(io: TerminalIo): Promise<number> {
    try {
      return await this.steps(io);
    } catch (error) {
      if (!isCancelled(error)) {
        say(io, sentenceOf(error), true);
        void vscode.window.showErrorMessage(vscode.l10n.t('{0}: {1}', this.request.task, sentenceOf(error)));
      }
      return NOT_STARTED;
    }
  }

  /** Before the start it calls off; then it stops the run, the second time without waiting. */
  interrupt(): void {
    this.interrupts++;
    this.off.abort();
    if (this.current !== undefined) {
      const { id, hosts: [host], record: { name } } = this.current;
      void stopRun(this.context, { id, host, name }, this.interrupts > 1);
    }
  }

  private async steps(io: TerminalIo): Promise<number> {
    const { task, folder } = this.request;
    if (!mayRun()) {
      say(io, notTrusted(), true);
      return NOT_STARTED;
    }
    const checked = checkRunSettings(this.request.settings);
    if (!checked.ok) {
      checked.problems.forEach((problem) => say(io, sentenceOf(problem), true));
      void vscode.window.showErrorMessage(vscode.l10n.t('{0}: {1}', task, sentenceOf(checked.problems[0])));
      return NOT_STARTED;
    }
    const { settings } = checked;
    const signal = AbortSignal.any([io.signal, this.off.signal]);
    if (this.resumed !== undefined) {
      return this.capture(settings, io, signal);
    }
    if (!(await saveFirst(folder))) {
      return NOT_STARTED;
    }
    if (settings.sync?.push === true && !(await pushFirst(this.context, settings, folder, io, signal))) {
      return NOT_STARTED;
    }
    return settings.capture === undefined ? this.plain(settings, io, signal) : this.capture(settings, io, signal);
  }

  private async plain(settings: RunSettings, io: TerminalIo, signal: AbortSignal): Promise<number> {
    const state = await this.follow(await this.start(settings, { id: newRunId() }, io, signal), io);
    return state?.exit ?? (state?.phase === 'exited' ? 0 : NOT_STARTED);
  }

  /** One pass, or one for timing and one for stacks. The second only runs where the first was good for something. */
  private async capture(settings: RunSettings, io: TerminalIo, signal: AbortSignal): Promise<number> {
    const { capture } = settings;
    const passes = capture === undefined ? [] : capturePasses(capture);
    const id = this.resumed?.id ?? newRunId();
    const done: CapturedPass[] = await this.doneBefore(passes);
    let exit = 0;
    for (const [index, pass] of [...passes.entries()].slice(done.length)) {
      if (passes.length > 1) {
        say(io, index === 0 ? vscode.l10n.t('First pass: times, without stacks.') : vscode.l10n.t('Second pass: stacks.'));
      }
      const { run, output } = await this.startPass(settings, pass, index + 1 < passes.length, id, io, signal);
      if (this.resumed !== undefined && !sameCode(run, this.resumed)) {
        say(io, vscode.l10n.t('The code has changed since the first pass: lines of this one may not fit its times.'), 'warning');
      }
      const state = await this.follow(run, io);
      if (state === undefined) {
        return NOT_STARTED;
      }
      done.push({ run, pass, output });
      exit = state.exit ?? NOT_STARTED;
      if (exit !== 0 || state.stopped === true) {
        if (index + 1 < passes.length) {
          say(io, vscode.l10n.t('The second pass is left out.'));
        }
        break;
      }
    }
    const profile = await captureResults(this.context, done, settings, this.request, io);
    this.request.onResults?.({ run: done[0].run, profile });
    return exit;
  }

  private async doneBefore([pass]: readonly CapturePass[]): Promise<CapturedPass[]> {
    const { resumed: run } = this;
    const output = run === undefined ? undefined : await outputOf(this.context, run.record, run, run.hosts[0]);
    return run === undefined || output === undefined ? [] : [{ run, pass, output }];
  }

  private async startPass(settings: RunSettings, pass: CapturePass, more: boolean, id: string, io: TerminalIo, signal: AbortSignal): Promise<{ readonly run: Run; readonly output: string }> {
    const plan: CapturePlan = await planCapture(settings, pass, { helper: await captureHelperFiles(), readText: (file) => readOnHost(this.context, settings, this.request.folder?.fsPath, file) });
    plan.notes.forEach((note) => say(io, sentenceOf(note)));
    let output = '';
    const run = await this.start({ ...settings, capture: pass.capture }, {
      id: id + pass.suffix, files: plan.files, ...(more && settings.capture !== undefined ? { nextPass: settings.capture } : {}),
      add: (place) => {
        output = plan.output(place);
        return plan.add(place);
      },
    }, io, signal);
    return { run, output };
  }

  private async start(settings: RunSettings, options: Parameters<typeof startRun>[2], io: TerminalIo, signal: AbortSignal): Promise<Run> {
    const workspace = this.request.folder?.fsPath;
    const run = await startRun(this.context.runs.connections, settings, { name: this.request.task, signal, ...options, ...(workspace === undefined ? {} : { workspace }) });
    say(io, startWords(this.request.task, run));
    return run;
  }

  private async follow(run: Run, io: TerminalIo): ReturnType<typeof followRun> {
    this.current = run;
    this.context.runs.add(run);
    try {
      return await followRun(this.context, run, io, { task: this.request.task, local: this.request.folder?.fsPath });
    } finally {
      this.current = undefined;
    }
  }
}

/** A batch system takes a job, and may keep it waiting. */
function startWords(task: string, { record: { settings }, hosts: [host], folder }: Run): string {
  switch (settings.launcher) {
    case 'slurm': return vscode.l10n.t('{0} is handed to {1} on {2}; its run folder is {3}. Ctrl+C cancels it; closing this terminal leaves it there.', task, 'Slurm', placeName(host), folder);
    case 'ray': return vscode.l10n.t('{0} is handed to {1} on {2}; its run folder is {3}. Ctrl+C cancels it; closing this terminal leaves it there.', task, 'Ray', placeName(host), folder);
    case 'command':
    case 'torchrun': return vscode.l10n.t('{0} runs on {1}, in {2}. Ctrl+C stops it; closing this terminal leaves it running.', task, placeName(host), folder);
  }
}

/** Whoever attaches to a capture may be another than who started it: the profile is not opened unasked. */
function offerProfile({ id, hosts: [host], record: { name } }: Run): void {
  const open = vscode.l10n.t('Open Profile');
  void vscode.window.showInformationMessage(vscode.l10n.t('{0} has left its profile.', name), open).then((answer) => (answer === open ? vscode.commands.executeCommand('fuselens.openRunProfile', { host, id }) : undefined));
}

/** The terminal of a run that goes on already. */
export class AttachJob implements TerminalJob {
  private interrupts = 0;
  private nextPass: TrainingJob | undefined;

  constructor(private readonly context: RunContext, private readonly found: Run, private readonly folder: vscode.Uri | undefined) {}

  async run(io: TerminalIo): Promise<number> {
    const { found } = this;
    try {
      const state = await followRun(this.context, found, io, { task: found.record.name, local: this.folder?.fsPath });
      const settings = nextPassSettings(found.record);
      if (state?.exit === 0 && state.stopped !== true && settings !== undefined) {
        // Nobody was there when the first pass ended. It starts once: its id is the first one's.
        this.nextPass = new TrainingJob(this.context, { task: found.record.name, settings, folder: this.folder }, found);
        return await this.nextPass.run(io);
      }
      if (state?.exit === 0 && found.record.settings.capture !== undefined) {
        offerProfile(found);
      }
      return state?.exit ?? 0;
    } catch {
      // Said in the terminal.
      return NOT_STARTED;
    }
  }

  interrupt(): void {
    if (this.nextPass !== undefined) {
      this.nextPass.interrupt();
      return;
    }
    this.interrupts++;
    const { id, hosts: [host], record: { name } } = this.found;
    void stopRun(this.context, { id, host, name }, this.interrupts > 1);
  }
}

