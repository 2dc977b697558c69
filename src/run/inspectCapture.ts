/**
 * What became of a capture: compares what was asked for with what the ranks say of themselves and with what the engine reads,
 * and says each difference in one sentence with what to do. Nothing said means: as asked.
 */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { MessageArguments, Severity } from '../engine/profile/problems';
import { UnreadableInput } from '../engine/profile/problems';
import { HostKind, type RankData } from '../engine/profile/columns';
import type { EngineSession } from '../engine/session';
import type { ProfileSummary, RankSummary } from '../protocol/engine';
import { readRankNotes, type RankNote } from './captureNotes';
import { stepNumbers, stepsText, stepWindows, windowsText } from './captureSteps';
import type { CaptureSettings } from './runSettings';

export interface CaptureFinding {
  readonly code: string;
  readonly args: MessageArguments;
  readonly severity: Severity;
}

export interface CaptureInspection {
  /** What to open; undefined when nothing was recorded. */
  readonly profile: string | undefined;
  readonly summary: ProfileSummary | undefined;
  /** Ranks that were read, with the numbers of their steps. */
  readonly ranks: readonly { readonly rank: number | undefined; readonly label: string; readonly steps: readonly number[]; readonly kernels: number; readonly stacks: boolean }[];
  readonly findings: readonly CaptureFinding[];
}

export interface InspectQuery {
  /** Output folder of one pass, here. */
  readonly output: string;
  readonly capture: CaptureSettings;
  /** Opened and read here; ranks stay in its pool for whoever shows them next. */
  readonly session: EngineSession;
  readonly signal?: AbortSignal;
  /** Ranks the run had; absent: told by the ranks themselves. */
  readonly world?: number;
}

export async function inspectCapture({ output, capture, session, signal, world }: InspectQuery): Promise<CaptureInspection> {
  const notes = await readRankNotes(output);
  const findings = new Findings();
  const recorded = await openRecorded(output, session, findings, signal);
  const ranks = recorded === undefined ? [] : await readRanks(recorded.summary, session, findings, signal);
  noteFindings(notes, capture, ranks, findings);
  missingRanks(notes, capture, ranks, world ?? Math.max(0, ...notes.map((note) => note.world)), findings);
  if (recorded === undefined && notes.length === 0) {
    findings.add(capture.method === undefined || capture.method === 'helper' || capture.method === 'nsys' ? 'capture.found.nothing' : `capture.found.nothing-${capture.method}`, 'error', { folder: output });
  }
  stepFindings(ranks, capture, findings);
  contentFindings(ranks, capture, findings);
  return { profile: recorded?.profile, summary: recorded?.summary, ranks, findings: findings.all };
}

class Findings {
  readonly all: CaptureFinding[] = [];

  add(code: string, severity: Severity, args: MessageArguments = {}): void {
    this.all.push({ code, args, severity });
  }
}

async function openRecorded(output: string, session: EngineSession, findings: Findings, signal: AbortSignal | undefined): Promise<{ readonly profile: string; readonly summary: ProfileSummary } | undefined> {
  const inside = path.join(output, 'profiling_time');
  const profile = (await stat(inside).catch(() => undefined)) === undefined ? output : inside;
  try {
    const summary = await session.call('open', { path: profile }, signal === undefined ? {} : { signal });
    summary.problems.filter(({ kind }) => kind === 'ascend-not-analysed' || kind === 'ascend-not-exported').forEach((problem) => findings.add(`problem.${problem.kind}`, 'error', { ...problem.args, where: problem.where, count: problem.count }));
    return { profile, summary };
  } catch (error) {
    if (!(error instanceof UnreadableInput)) {
      throw error;
    }
    if (error.detail.code !== 'error.no-profile-in-folder' && error.detail.code !== 'error.not-found') {
      findings.add(error.detail.code, 'error', error.detail.args);
    }
    return undefined;
  }
}

type ReadRank = CaptureInspection['ranks'][number] & { readonly problems: RankSummary['loaded']; readonly deviceEvents: number };

async function readRanks(summary: ProfileSummary, session: EngineSession, findings: Findings, signal: AbortSignal | undefined): Promise<readonly ReadRank[]> {
  const read: ReadRank[] = [];
  for (const source of summary.ranks.filter((rank) => rank.readable && rank.withoutKernels !== true)) {
    try {
      const options = signal === undefined ? {} : { signal };
      const { data } = await session.rank(source.id, options);
      const { loaded, rank } = await session.call('load', { rank: source.id }, options);
      const steps = data.steps.flatMap(({ number, source: by }) => (by === 'profiler' && number !== undefined ? [number] : []));
      read.push({ rank: rank ?? source.rank, label: source.label, steps, kernels: loaded?.kernels ?? 0, stacks: hasStacks(data), problems: loaded, deviceEvents: data.deviceEvents.count });
    } catch (error) {
      if (!(error instanceof UnreadableInput)) {
        throw error;
      }
      findings.add('capture.found.unreadable', 'error', { rank: source.rank ?? source.label, reason: error.detail.code, ...error.detail.args });
    }
  }
  return joined(read);
}

/** Ranges of steps lie in files of their own: what a rank left is what all of them hold. */
function joined(read: readonly ReadRank[]): readonly ReadRank[] {
  const byRank = new Map<number | string, ReadRank>();
  for (const one of read) {
    const key = one.rank ?? `${one.label}\0${byRank.size}`;
    const known = byRank.get(key);
    byRank.set(key, known === undefined ? one : { ...known, steps: [...new Set([...known.steps, ...one.steps])].sort((a, b) => a - b), kernels: known.kernels + one.kernels, stacks: known.stacks && one.stacks, deviceEvents: known.deviceEvents + one.deviceEvents });
  }
  return [...byRank.values()];
}

function hasStacks({ hostEvents }: RankData): boolean {
  const { count, kind, stack } = hostEvents;
  for (let i = 0; i < count; i++) {
    if (kind[i] === HostKind.Python || stack[i] !== 0) {
      return true;
    }
  }
  return false;
}

/** A sentence for each rank whose recording did not end as asked. */
function noteFindings(notes: readonly RankNote[], { steps: asked }: CaptureSettings, ranks: readonly ReadRank[], findings: Findings): void {
  const read = new Set(ranks.map(({ rank }) => rank));
  for (const note of notes) {
    const args = { rank: note.rank, steps: note.steps, first: stepWindows(asked)[0]?.[0] ?? 1, host: note.host, reason: note.reason };
    switch (note.state) {
      case 'complete':
        break;
      case 'partial':
        if (note.recorded.length === 0) {
          findings.add(note.results.length === 0 ? 'capture.found.ended-before' : 'capture.found.cut', 'warning', args);
        } else {
          findings.add(stepNumbers(asked).includes(note.steps + 1) ? 'capture.found.partial' : 'capture.found.partial-between', 'warning', { ...args, asked: stepsText(asked), held: windowsText(note.recorded), next: note.steps + 1 });
        }
        break;
      case 'aside':
        findings.add('capture.found.aside', 'error', args);
        break;
      case 'failed':
        findings.add(note.reason === 'empty' ? 'capture.found.empty' : 'capture.found.failed', 'error', { ...args, profiler: note.profiler });
        break;
      case 'ended-before':
        findings.add('capture.found.ended-before', 'error', args);
        break;
      case 'waiting':
        findings.add('capture.found.killed-waiting', 'error', args);
        break;
      case 'recording':
        findings.add('capture.found.killed-recording', 'error', args);
        break;
      case 'not-asked':
        break;
    }
    if (note.results.length > 0 && ranks.length > 0 && !read.has(note.rank)) {
      findings.add('capture.found.not-here', 'warning', { rank: note.rank, file: note.results.join(', '), host: note.host });
    }
    if (note.skippedByScaler > 0) {
      findings.add('capture.found.scaler', 'info', { rank: note.rank, count: note.skippedByScaler });
    }
  }
}

/** Ranks that neither wrote a note nor left a recording: their Python never ran the helper. */
function missingRanks(notes: readonly RankNote[], capture: CaptureSettings, ranks: readonly ReadRank[], world: number, findings: Findings): void {
  const asked = capture.ranks ?? Array.from({ length: world }, (_, rank) => rank);
  const known = new Set([...notes.map(({ rank }) => rank), ...ranks.flatMap(({ rank }) => (rank === undefined ? [] : [rank]))]);
  const beyond = asked.filter((rank) => world > 0 && rank >= world);
  const missing = asked.filter((rank) => !known.has(rank) && !beyond.includes(rank));
  if (beyond.length > 0) {
    findings.add('capture.found.no-such-rank', 'warning', { ranks: beyond.join(', '), count: beyond.length, world });
  }
  if (missing.length > 0 && known.size > 0) {
    findings.add('capture.found.missing-ranks', 'error', { ranks: missing.join(', '), count: missing.length });
  }
}

/** Steps are told by their marks, which XTuner does not write: it leaves a folder for each step instead. */
function stepFindings(ranks: readonly ReadRank[], { steps: asked, method }: CaptureSettings, findings: Findings): void {
  if (method === 'xtuner') {
    return;
  }
  const wanted = stepNumbers(asked);
  const lost = new Map<string, (string | number)[]>();
  for (const { rank, label, steps } of ranks) {
    const gone = wanted.filter((step) => !steps.includes(step));
    if (gone.length > 0) {
      lost.set(gone.join(', '), [...(lost.get(gone.join(', ')) ?? []), rank ?? label]);
    }
  }
  for (const [steps, who] of lost) {
    findings.add('capture.found.lost-steps', 'warning', { steps, ranks: who.join(', '), count: who.length });
  }
}

function contentFindings(ranks: readonly ReadRank[], { stacks = false }: CaptureSettings, findings: Findings): void {
  const namesOf = (some: readonly ReadRank[]): MessageArguments => ({ ranks: some.map(({ rank, label }) => rank ?? label).join(', '), count: some.length });
  const hostOnly = ranks.filter(({ deviceEvents }) => deviceEvents === 0);
  if (hostOnly.length > 0) {
    findings.add('capture.found.no-device-events', 'warning', namesOf(hostOnly));
  }
  const without = ranks.filter((rank) => stacks && !rank.stacks);
  if (without.length > 0) {
    findings.add('capture.found.no-stacks', 'warning', namesOf(without));
  }
}
