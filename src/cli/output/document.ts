import type { Problem, ProfileSummary } from '../../protocol/engine';
import type { AnalyzeReport } from '../../protocol/report';
import { withinProfile } from '../../protocol/problemPlace';
import { renderProblem, type Translate } from '../../protocol/text';
import { knownColumns, knownParts } from './knownParts';
import { formatCount } from './numbers';
import { SectionBuilder, type RankPage, type Section } from './sections';

/** Everything a written report needs, already in the user's language. */
export interface ReportDocument {
  readonly title: string;
  readonly summary: string;
  readonly overview: readonly Section[];
  /** `leftOut`: one line on what the recording does not hold; '' where there is nothing to say. */
  readonly pages: readonly { readonly heading: string; readonly sections: readonly Section[]; readonly leftOut: string; readonly assumptions: readonly string[]; readonly page: RankPage }[];
  readonly problems: readonly { readonly severity: Problem['severity']; readonly message: string; readonly effect: string }[];
  readonly notes: readonly string[];
}

export interface DocumentInput {
  readonly summary: ProfileSummary;
  readonly report: AnalyzeReport;
  readonly problems: readonly Problem[];
  /** Ranks shown in full; the others are rows of the rank table. */
  readonly pages: readonly RankPage[];
  readonly stepName: string | undefined;
  /** Every rank in the tables over ranks, however many there are. */
  readonly allRanks?: boolean;
}

export function reportDocument({ summary, report, problems, pages, stepName, allRanks }: DocumentInput, translate: Translate, topKernels?: number): ReportDocument {
  const build = new SectionBuilder(translate, topKernels, allRanks);
  const known = report.ranks.flatMap(({ kernels: { count } }) => (count === null ? [] : [count]));
  const kernels = known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0);
  const shown = pages.map(({ report: own }) => build.rankNames(report.ranks)[report.ranks.findIndex(({ label }) => label === own.label)] ?? own.label);
  return {
    title: build.say('report.title', { name: summary.name }),
    summary: build.say('report.summary', { format: summary.format, ranks: report.ranks.length, kernels: formatCount(kernels) }),
    overview: report.ranks.length > 1 ? overviewOf(build, report, kernels) : [],
    pages: pages.map((page, i) => {
      const { sections, leftOut } = knownParts(build.rank(page));
      const missing = [...(page.report.kernels.count === 0 ? [build.say('report.deviceTables')] : []), ...leftOut];
      return {
        heading: stepName === undefined ? shown[i] : build.say('report.rankAndStep', { rank: shown[i], step: stepName }),
        sections, leftOut: missing.length === 0 ? '' : build.say('report.leftOut', { names: missing.join(', ') }), assumptions: build.assumptions(page.overview), page,
      };
    }),
    problems: groupProblems(problems.map((problem) => withinProfile(problem, summary.path)), build, translate),
    notes: pages.length < report.ranks.length ? [build.say('report.otherRanks', { shown: shown.join(', ') })] : [],
  };
}

/** Tables over ranks; where nothing ran on a device, each rank's own page says so. */
function overviewOf(build: SectionBuilder, report: AnalyzeReport, kernels: number | null): readonly Section[] {
  const { sections, leftOut } = knownColumns(build.ranks(report));
  const note = leftOut.length === 0 || kernels === 0 ? [] : [build.say('report.leftOut', { names: leftOut.join(', ') })];
  return sections.map((section, i) => (i < sections.length - 1 ? section : { ...section, notes: [...section.notes, ...note] }));
}

/** Sixteen ranks that lack the same file are one thing to tell, not sixteen. */
const SHOWN_PER_KIND = 2;
/** What was found and not opened is named, each by itself. */
const LEFT_OUT: ReadonlySet<string> = new Set(['ascend-cluster-aside', 'ascend-file-aside', 'file-passed-over', 'folder-unreadable']);
const SHOWN_LEFT_OUT = 20;

function groupProblems(problems: readonly Problem[], build: SectionBuilder, translate: Translate): ReportDocument['problems'] {
  const kinds = new Map<string, Problem[]>();
  for (const problem of problems) {
    const same = kinds.get(problem.kind);
    if (same === undefined) {
      kinds.set(problem.kind, [problem]);
    } else {
      same.push(problem);
    }
  }
  return [...kinds.values()].flatMap((same) => {
    // One more line for one more problem saves nothing.
    const limit = LEFT_OUT.has(same[0].kind) ? SHOWN_LEFT_OUT : SHOWN_PER_KIND;
    const shown = same.length <= limit + 1 ? same : same.slice(0, limit);
    const lines = shown.map((problem) => ({ severity: problem.severity, ...renderProblem(problem, translate) }));
    return shown.length === same.length ? lines : [...lines, { severity: same[0].severity, message: build.say('report.moreLikeIt', { count: same.length - shown.length }), effect: '' }];
  });
}
