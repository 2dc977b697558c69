import path from 'node:path';
import { Cancelled, type Message } from '../engine/profile/problems';
import type { EngineSession } from '../engine/session';
import { captureHelperFiles } from './captureHelper';
import { captureOutput } from './captureOutput';
import { keepRecord } from './captureRecord';
import { capturePasses, nextPassSettings, sameCode, type CapturePass } from './capturePasses';
import { planCapture, type CapturePlan } from './capturePlan';
import { runFailure } from './failure';
import type { Hosts } from './hosts';
import { inspectCapture, type CaptureInspection } from './inspectCapture';
import { outputPlace } from './outputPlace';
import { quoteWord } from './posix';
import type { SyncProgress } from './push';
import type { LogChunk, Run, RunState, StartOptions } from './run';
import type { CaptureSettings, RunSettings } from './runSettings';
import { newRunId, startRun } from './startRun';

export interface CaptureRunOptions {
  /** Local folder the run belongs to: its commit is written down, relative working directories and outputs lie in it. */
  readonly workspace: string;
  /** Output folder of the first pass where the job runs, absolute; absent: `outputs/<id>` in its working directory. */
  readonly output?: string;
  readonly signal?: AbortSignal;
  /** An engine for the inspection of each pass. */
  readonly session: () => EngineSession;
  readonly onNote?: (note: Message) => void;
  readonly onStart?: (run: Run, pass: CapturePass) => void;
  readonly onOutput?: (chunk: LogChunk) => void | Promise<void>;
  readonly onFetch?: (progress: SyncProgress) => void;
}

export interface CapturedPass {
  readonly pass: CapturePass;
  readonly run: Run;
  readonly state: RunState;
  /** Output folder, here. */
  readonly output: string;
  readonly inspection: CaptureInspection;
}

/**
 * Runs every pass of a capture to its end, brings back what it left, and inspects it. A pass whose command fails ends the capture:
 * the next one would fail as well. An abort stops the run that is under way and rejects with `Cancelled`.
 */
export async function runCapture(hosts: Hosts, settings: RunSettings & { readonly capture: CaptureSettings }, options: CaptureRunOptions): Promise<readonly CapturedPass[]> {
  const passes = capturePasses(settings.capture);
  const id = newRunId();
  await needNsys(hosts, settings, options.signal);
  const helper = await captureHelperFiles();
  const done: CapturedPass[] = [];
  for (const pass of passes) {
    const plan = await planCapture(settings, pass, { helper, readText: (file) => readThere(hosts, settings, options, file), ...(options.output === undefined ? {} : { output: options.output }) });
    if (done.length === 0) {
      [...plan.notes, ...(passes.length > 1 ? [{ code: 'capture.note.two-passes' }] : [])].forEach((note) => options.onNote?.(note));
    }
    const captured = await runPass(hosts, { ...settings, capture: pass.capture }, pass, plan, id + pass.suffix, { ...options, ...(pass.name === 'timing' ? { nextPass: settings.capture } : {}) });
    done.push(captured);
    if (captured.state.exit !== 0) {
      break;
    }
  }
  return done;
}

export interface FinishCaptureOptions extends Omit<CaptureRunOptions, 'output' | 'onOutput'> {
  /** Follows the second pass to its end; undefined where whoever follows lets go of it. */
  readonly follow: (run: Run) => Promise<RunState | undefined>;
}

/**
 * The rest of a capture that nobody followed: what the first pass left is brought back, and the second pass runs where the first did.
 * It starts once, since its id is the first one's: where it runs already, or has run, it is only followed. The second pass is missing
 * from the result where it was let go of.
 */
export async function finishCapture(hosts: Hosts, first: Run, state: RunState, options: FinishCaptureOptions): Promise<readonly CapturedPass[]> {
  const settings = nextPassSettings(first.record);
  if (settings === undefined) {
    return [];
  }
  const [timing, stacks] = capturePasses(settings.capture);
  const { stdout } = await hosts.shell(first.hosts[0]).exec(['head', '-c', '262144', `${first.folder}/command.sh`]);
  const told = captureOutput(stdout, first.id);
  if (told === undefined) {
    throw runFailure('error.run-folder-gone', { id: first.id, host: first.hosts[0] ?? '' });
  }
  const done = [await bringBack(hosts, first, state, timing, told.folder, settings, options)];
  if (stacks === undefined) {
    return done;
  }
  const plan = await planCapture(settings, stacks, { helper: await captureHelperFiles(), readText: (file) => readThere(hosts, settings, options, file), ...(told.seenByJob ? { output: told.folder } : {}) });
  const { run, output } = await startPass(hosts, settings, stacks, plan, first.id + stacks.suffix, {
    ...options, name: first.record.name,
    // What is written down of the code is of where it ran.
    workspace: first.hosts[0] === undefined ? settings.workdir ?? options.workspace : options.workspace,
  });
  if (!sameCode(run, first)) {
    options.onNote?.({ code: 'capture.note.code-changed' });
  }
  const ended = await options.follow(run);
  return ended === undefined ? done : [...done, await bringBack(hosts, run, ended, stacks, output, settings, options)];
}

async function runPass(hosts: Hosts, settings: RunSettings & { readonly capture: CaptureSettings }, pass: CapturePass, plan: CapturePlan, id: string, options: CaptureRunOptions & Pick<StartOptions, 'nextPass'>): Promise<CapturedPass> {
  const { run, output } = await startPass(hosts, settings, pass, plan, id, options);
  return bringBack(hosts, run, await follow(run, options), pass, output, settings, options);
}

type StartPassOptions = Pick<CaptureRunOptions, 'workspace' | 'signal' | 'onStart'> & Pick<StartOptions, 'nextPass' | 'name'>;

/** Starts a pass; `output` is where it leaves its profile, as the job sees it. */
async function startPass(hosts: Hosts, settings: RunSettings, pass: CapturePass, plan: CapturePlan, id: string, { signal, workspace, nextPass, name, onStart }: StartPassOptions): Promise<{ readonly run: Run; readonly output: string }> {
  let output: string | undefined;
  const run = await startRun(hosts, settings, {
    id, workspace, files: plan.files, ...(name === undefined ? {} : { name }), ...(nextPass === undefined ? {} : { nextPass }), ...(signal === undefined ? {} : { signal }),
    add: (place) => {
      output = plan.output(place);
      return plan.add(place);
    },
  });
  if (output === undefined) {
    throw new Error('a run was started without asking what a capture adds to it');
  }
  onStart?.(run, pass);
  return { run, output };
}

async function bringBack(hosts: Hosts, run: Run, state: RunState, pass: CapturePass, output: string, settings: RunSettings, options: Pick<CaptureRunOptions, 'workspace' | 'signal' | 'session' | 'onFetch'>): Promise<CapturedPass> {
  const { signal, workspace } = options;
  const place = await outputPlace(hosts, run.record, output, signal);
  const away = settings.host !== undefined || place.contained;
  const here = away ? path.join(workspace, 'outputs', run.id) : path.resolve(workspace, place.folder);
  if (away && settings.sync?.fetch !== 'none') {
    const { fetchFiles } = await import('./fetch');
    await fetchFiles({
      shell: place.shell, tools: hosts.tools, from: place.folder, to: here, what: settings.sync?.fetch ?? 'analysis',
      ...(signal === undefined ? {} : { signal }), ...(options.onFetch === undefined ? {} : { onProgress: options.onFetch }),
    });
  }
  await keepRecord(hosts, run, here);
  const inspection = await inspectCapture({ output: here, capture: pass.capture, session: options.session(), ...(signal === undefined ? {} : { signal }) });
  return { pass, run, state, output: here, inspection };
}

/** An abort detaches from a run; whoever waits for a capture wants it ended. */
async function follow(run: Run, { signal, onOutput }: CaptureRunOptions): Promise<RunState> {
  try {
    return await run.follow({ onOutput: onOutput ?? (() => undefined), ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    if (error instanceof Cancelled) {
      await run.stop();
    }
    throw error;
  }
}

async function needNsys(hosts: Hosts, { capture, host, setup = [] }: RunSettings, signal: AbortSignal | undefined): Promise<void> {
  if (capture?.method !== 'nsys') {
    return;
  }
  const { exit } = await hosts.shell(host).run([...setup, 'command -v nsys >/dev/null 2>&1'].join('\n'), signal === undefined ? {} : { signal });
  if (exit !== 0) {
    throw host === undefined ? runFailure('error.capture-nsys-missing-here') : runFailure('error.capture-nsys-missing', { host });
  }
}

async function readThere(hosts: Hosts, { host, workdir }: RunSettings, { workspace, signal }: CaptureRunOptions, file: string): Promise<string | undefined> {
  const folder = host === undefined ? path.resolve(workspace, workdir ?? '.') : workdir ?? '.';
  const { exit, stdout } = await hosts.shell(host).run(`cd -- ${quoteWord(folder)} && cat -- ${quoteWord(file)}`, signal === undefined ? {} : { signal });
  return exit === 0 ? stdout : undefined;
}
