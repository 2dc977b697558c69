import type { Problem, ProfileSummary, RankSummary } from '../../protocol/engine';
import type { FingerprintEntry } from '../../protocol/fingerprints';
import type { AnalyzeReport, RankReport, ReportedFingerprint } from '../../protocol/report';
import { text, renderProblem } from '../../protocol/text';
import { wasteExplanation } from '../../protocol/wasteText';
import { clockOffsets, type CollectiveEnds } from './clockOffsets';

export interface ReportPart {
  readonly summary: RankSummary;
  /** Absolute time of the rank's own zero, ns. */
  readonly baseNs: bigint;
  readonly report: RankReport;
  /** For telling the clocks of the ranks apart. */
  readonly collectives?: CollectiveEnds;
  readonly fingerprints?: readonly FingerprintEntry[];
  readonly sources?: AnalyzeReport['sources'];
}

export interface AnalyzeInput {
  readonly summary: ProfileSummary;
  readonly parts: readonly ReportPart[];
  readonly problems: readonly Problem[];
}

/** A rank's label; where a profile holds several runs or steps, with the one it lies in before it, since each has a rank 0. */
export function labelInProfile({ ranks }: Pick<ProfileSummary, 'ranks'>, { group, label }: Pick<RankSummary, 'group' | 'label'>): string {
  return group !== '' && ranks.some((rank) => rank.group !== group) ? `${group}/${label}` : label;
}

/**
 * The whole report. Ranks keep their own zero while they are read; here all times move to one base, the earliest of them,
 * and to the clock of the first rank, so that ranks can be compared by plain subtraction. Messages are English: the JSON is read by programs.
 */
export function analyzeReport({ summary, parts: read, problems: found }: AnalyzeInput): AnalyzeReport {
  const offsets = clockOffsets(read.map(({ baseNs, collectives }) => ({ baseNs, ends: collectives ?? new Map() })));
  const parts = read.map((part, i) => ({ ...part, baseNs: part.baseNs - BigInt(Math.round(offsets[i].offsetNs)) }));
  const problems = [...found, ...clockProblems(read, offsets)];
  // A rank without kernels has no time of its own.
  const timed = parts.filter(({ report }) => report.kernels.count !== null);
  const baseNs = timed.reduce<bigint | undefined>((least, part) => least === undefined || part.baseNs < least ? part.baseNs : least, undefined);
  return {
    schema: 'fuselens/1',
    profile: {
      path: summary.path,
      format: summary.format,
      backend: summary.backend ?? parts[0]?.summary.loaded?.backend ?? null,
      baseNs: baseNs === undefined ? null : baseNs.toString(),
      ranks: summary.ranks.map((rank) => {
        const loaded = parts.find((part) => part.summary.id === rank.id)?.summary.loaded ?? rank.loaded;
        const report = parts.find((part) => part.summary.id === rank.id)?.report;
        return {
          rank: report?.rank ?? rank.rank ?? null, label: labelInProfile(summary, rank), device: loaded?.device ?? null, host: loaded?.host ?? null,
          steps: loaded?.steps.length ?? 0, kernels: loaded?.kernels ?? null,
        };
      }),
      versions: versionsOf(summary, parts),
    },
    problems: problems.map((problem) => ({ kind: problem.kind, count: problem.count, ...renderProblem(problem), where: problem.where })),
    ranks: parts.map((part) => ({ ...shifted(part.report, Number(part.baseNs - (baseNs ?? part.baseNs))), rank: part.report.rank ?? part.summary.rank ?? null, label: labelInProfile(summary, part.summary) })),
    fingerprints: mergedFingerprints(summary, parts),
    sources: parts.find((part) => (part.sources ?? []).length > 0)?.sources ?? [],
    findings: [],
  };
}

/** Clocks that clearly differ are told, with how sure that is. */
export function clockProblems(parts: readonly ReportPart[], offsets = clockOffsets(parts.map(({ baseNs, collectives }) => ({ baseNs, ends: collectives ?? new Map() })))): readonly Problem[] {
  const first = parts[0]?.summary.label ?? '';
  return offsets.flatMap(({ offsetNs, residualNs, matches }, i): readonly Problem[] => (offsetNs === 0 ? [] : [{
    kind: 'clocks-differ', severity: 'warning', count: 1, where: parts[i].summary.label,
    args: { first, seconds: (offsetNs / 1e9).toFixed(6), residual: (residualNs / 1000).toFixed(1), matches },
  }]));
}

/** Chains by id over the ranks: the entry of the first rank that has it, and each rank's own figures beside it. */
function mergedFingerprints(profile: ProfileSummary, parts: readonly ReportPart[]): readonly ReportedFingerprint[] {
  const merged = new Map<string, { readonly entry: FingerprintEntry; readonly ranks: ReportedFingerprint['ranks'][number][] }>();
  for (const { summary, report, fingerprints } of parts) {
    for (const entry of fingerprints ?? []) {
      const known = merged.get(entry.id) ?? { entry, ranks: [] };
      merged.set(entry.id, known);
      known.ranks.push({ rank: report.rank ?? summary.rank ?? null, label: labelInProfile(profile, summary), occurrences: entry.occurrences, totalUs: entry.totalUs, recoverableDeviceUs: entry.recoverableDeviceUs });
    }
  }
  return [...merged.values()].map(({ entry, ranks }) => ({ ...entry, explanation: wasteExplanation(entry, text) ?? null, ranks }));
}

/** Facts that are a version by the name of what they are the version of, as `profiler_info.json` has them. */
const VERSIONED = new Set(['torch_npu', 'mindspore', 'cann', 'driver', 'firmware', 'pytorch', 'torch', 'python', 'nsys']);

/** Of all facts about the run, those that name a version; ranks that disagree are all told, in order of the ranks. */
function versionsOf(summary: ProfileSummary, parts: readonly ReportPart[]): Readonly<Record<string, string>> {
  const found = new Map<string, Set<string>>();
  for (const { id, loaded } of summary.ranks) {
    const facts = (parts.find((part) => part.summary.id === id)?.summary.loaded ?? loaded)?.facts ?? {};
    for (const [name, version] of Object.entries(facts)) {
      if (VERSIONED.has(name) || /version|schema/i.test(name)) {
        found.set(name, (found.get(name) ?? new Set()).add(version));
      }
    }
  }
  return Object.fromEntries([...found].map(([name, versions]) => [name, [...versions].join(', ')]));
}

/** Moves a report's points in time by whole nanoseconds; durations stay. */
function shifted(report: RankReport, byNs: number): RankReport {
  if (byNs === 0) {
    return report;
  }
  const move = (us: number | null): number | null => us === null ? null : (Math.round(us * 1000) + byNs) / 1000;
  return {
    ...report,
    streams: report.streams.map((stream) => ({ ...stream, firstUs: move(stream.firstUs), lastUs: move(stream.lastUs) })),
    steps: report.steps.map((step) => ({ ...step, startUs: move(step.startUs) })),
  };
}
