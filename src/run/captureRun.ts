import path from 'node:path';
import { Cancelled, type Message } from '../engine/profile/problems';
import type { EngineSession } from '../engine/session';
import { captureHelperFiles } from './captureHelper';
import { keepRecord } from './captureRecord';
import { capturePasses, type CapturePass } from './capturePasses';
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

async function runPass(hosts: Hosts, settings: RunSettings & { readonly capture: CaptureSettings }, pass: CapturePass, plan: CapturePlan, id: string, options: CaptureRunOptions & Pick<StartOptions, 'nextPass'>): Promise<CapturedPass> {
  const { signal, workspace, nextPass } = options;
  let output: string | undefined;
  const run = await startRun(hosts, settings, {
    id, workspace, files: plan.files, ...(nextPass === undefined ? {} : { nextPass }), ...(signal === undefined ? {} : { signal }),
    add: (place) => {
      output = plan.output(place);
      return plan.add(place);
    },
  });
  options.onStart?.(run, pass);
  const state = await follow(run, options);
  if (output === undefined) {
    throw new Error('a run was started without asking what a capture adds to it');
  }
  const place = await outputPlace(hosts, run.record, output, signal);
  const away = settings.host !== undefined || place.contained;
  const here = away ? path.join(workspace, 'outputs', id) : path.resolve(workspace, place.folder);
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
