import type { Problem, ProfileSummary, RankSummary } from '../../protocol/engine';
import type { FingerprintEntry } from '../../protocol/fingerprints';
import type { AnalyzeReport, RankReport, ReportedFingerprint } from '../../protocol/report';
import { text, renderProblem } from '../../protocol/text';
import { wasteExplanation } from '../../protocol/wasteText';

export interface ReportPart {
  readonly summary: RankSummary;
  /** Absolute time of the rank's own zero, ns. */
  readonly baseNs: bigint;
  readonly report: RankReport;
  readonly fingerprints?: readonly FingerprintEntry[];
  readonly sources?: AnalyzeReport['sources'];
}

export interface AnalyzeInput {
  readonly summary: ProfileSummary;
  readonly parts: readonly ReportPart[];
  readonly problems: readonly Problem[];
}

/**
 * The whole report. Ranks keep their own zero while they are read; here all times move to one base, the earliest of them,
 * so that ranks can be compared by plain subtraction. Messages are English: the JSON is read by programs.
 */
export function analyzeReport({ summary, parts, problems }: AnalyzeInput): AnalyzeReport {
  const baseNs = parts.reduce<bigint | undefined>((least, part) => least === undefined || part.baseNs < least ? part.baseNs : least, undefined);
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
          rank: report?.rank ?? rank.rank ?? null, label: rank.label, device: loaded?.device ?? null, host: loaded?.host ?? null,
          steps: loaded?.steps.length ?? 0, kernels: loaded?.kernels ?? null,
        };
      }),
      versions: versionsOf(parts[0]?.summary.loaded?.facts ?? {}),
    },
    problems: problems.map((problem) => ({ kind: problem.kind, count: problem.count, ...renderProblem(problem), where: problem.where })),
    ranks: parts.map((part) => ({ ...shifted(part.report, Number(part.baseNs - (baseNs ?? part.baseNs))), rank: part.report.rank ?? part.summary.rank ?? null })),
    fingerprints: mergedFingerprints(parts),
    sources: parts.find((part) => (part.sources ?? []).length > 0)?.sources ?? [],
    findings: [],
  };
}

/** Chains by id over the ranks: the entry of the first rank that has it, and each rank's own figures beside it. */
function mergedFingerprints(parts: readonly ReportPart[]): readonly ReportedFingerprint[] {
  const merged = new Map<string, { readonly entry: FingerprintEntry; readonly ranks: ReportedFingerprint['ranks'][number][] }>();
  for (const { summary, report, fingerprints } of parts) {
    for (const entry of fingerprints ?? []) {
      const known = merged.get(entry.id) ?? { entry, ranks: [] };
      merged.set(entry.id, known);
      known.ranks.push({ rank: report.rank ?? summary.rank ?? null, label: summary.label, occurrences: entry.occurrences, totalUs: entry.totalUs, recoverableDeviceUs: entry.recoverableDeviceUs });
    }
  }
  return [...merged.values()].map(({ entry, ranks }) => ({ ...entry, explanation: wasteExplanation(entry, text) ?? null, ranks }));
}

/** Of all facts about a run, those that name a version. */
function versionsOf(facts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(facts).filter(([name]) => /version|schema/i.test(name)));
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
