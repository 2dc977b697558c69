import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { EngineSession } from '../../src/engine/session';
import { engineEnvironment } from '../../src/node/environment';
import { inspectCapture, type CaptureInspection } from '../../src/run/inspectCapture';
import { readRankNotes, type RankNote } from '../../src/run/captureNotes';
import { stepWindows } from '../../src/run/captureSteps';
import type { CaptureSettings } from '../../src/run/runSettings';

const PYTHON = process.env.FUSELENS_PYTHON ?? 'python3';
export const HELPER = path.resolve(import.meta.dirname, '../../media/python/capture');
const CASES = path.join(import.meta.dirname, 'capture_cases.py');

export interface CaseOptions {
  readonly settings?: Partial<CaptureSettings>;
  readonly env?: Readonly<Record<string, string>>;
  /** Between the interpreter and the script, or instead of both. */
  readonly python?: readonly string[];
  readonly argv?: readonly string[];
  /** Before the helper's folder on PYTHONPATH comes nothing; these come after. */
  readonly paths?: readonly string[];
}

export interface CaseResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly output: string;
  readonly notes: readonly RankNote[];
  readonly inspection: CaptureInspection;
  /** The traces as JSON, by file name: read without our engine. */
  readonly traces: readonly { readonly file: string; readonly events: readonly TraceEvent[]; readonly rank: number | undefined }[];
}

export interface TraceEvent {
  readonly name: string;
  readonly cat?: string;
  readonly ts: number;
  readonly dur?: number;
}

const folders: string[] = [];

/** Removes what the cases left; for `after`. */
export function removeCases(): void {
  folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true }));
}

export function caseFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'fuselens-capture-'));
  folders.push(folder);
  return folder;
}

/** Runs one program of `capture_cases.py` as a user would, with the helper in front of PYTHONPATH and nothing else changed. */
export async function runCase(name: string, { settings = {}, env = {}, python = [], argv, paths = [] }: CaseOptions = {}): Promise<CaseResult> {
  const folder = caseFolder();
  const helper = path.join(folder, 'capture');
  const output = path.join(folder, 'outputs');
  const capture: CaptureSettings = { steps: [3, 5], warmup: 1, ...settings };
  cpSync(HELPER, helper, { recursive: true });
  writeFileSync(path.join(helper, 'settings.json'), JSON.stringify({ ...capture, windows: stepWindows(capture.steps) }));
  const [command, ...rest] = argv ?? [PYTHON, ...python, CASES];
  const { status, stdout, stderr } = spawnSync(command, [...rest, name], {
    encoding: 'utf8', cwd: folder,
    env: { ...process.env, PYTHONPATH: [helper, ...paths].join(path.delimiter), CASE_PATH: [helper, ...paths].join(path.delimiter), FUSELENS_CAPTURE: output, CASE_HELPER: helper, CASE_OUTPUT: output, ...env },
  });
  const inspection = await inspectCapture({ output, capture, session: new EngineSession(engineEnvironment({})) });
  return { status, stdout, stderr, output, inspection, notes: await readRankNotes(output), traces: tracesIn(path.join(output, 'profiling_time')) };
}

function tracesIn(folder: string): CaseResult['traces'] {
  if (!existsSync(folder)) {
    return [];
  }
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.pt.trace.json.gz')).sort().map((file) => {
    const trace = JSON.parse(gunzipSync(readFileSync(path.join(folder, file))).toString()) as { readonly traceEvents: readonly TraceEvent[]; readonly distributedInfo?: { readonly rank: number } };
    return { file, events: trace.traceEvents, rank: trace.distributedInfo?.rank };
  });
}

/** Names of a trace's events, without repeats, in order of time. */
export function namesOf(events: readonly TraceEvent[], pattern: RegExp): readonly string[] {
  return [...new Set(events.filter(({ name, cat }) => cat === 'user_annotation' && pattern.test(name)).sort((a, b) => a.ts - b.ts).map(({ name }) => name))];
}

export const codesOf = ({ inspection }: CaseResult): readonly string[] => inspection.findings.map(({ code }) => code.replace('capture.found.', ''));
