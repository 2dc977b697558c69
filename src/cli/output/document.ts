import type { Problem, ProfileSummary } from '../../protocol/engine';
import type { AnalyzeReport } from '../../protocol/report';
import { withinProfile } from '../../protocol/problemPlace';
import { renderProblem, type Translate } from '../../protocol/text';
import { formatCount } from './numbers';
import { rankName, SectionBuilder, type RankPage, type Section } from './sections';

/** Everything a written report needs, already in the user's language. */
export interface ReportDocument {
  readonly title: string;
  readonly summary: string;
  readonly overview: Section | undefined;
  readonly pages: readonly { readonly heading: string; readonly sections: readonly Section[]; readonly assumptions: readonly string[]; readonly page: RankPage }[];
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
}

export function reportDocument({ summary, report, problems, pages, stepName }: DocumentInput, translate: Translate, topKernels?: number): ReportDocument {
  const build = new SectionBuilder(translate, topKernels);
  const known = report.ranks.flatMap(({ kernels: { count } }) => (count === null ? [] : [count]));
  const kernels = known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0);
  const shown = pages.map((page) => rankName(page.report, (code, args) => build.say(code, args)));
  return {
    title: build.say('report.title', { name: summary.name }),
    summary: build.say('report.summary', { format: summary.format, ranks: report.ranks.length, kernels: formatCount(kernels) }),
    overview: report.ranks.length > 1 ? build.ranks(report) : undefined,
    pages: pages.map((page, i) => ({
      heading: stepName === undefined ? shown[i] : build.say('report.rankAndStep', { rank: shown[i], step: stepName }),
      sections: build.rank(page), assumptions: build.assumptions(page.overview), page,
    })),
    problems: groupProblems(problems.map((problem) => withinProfile(problem, summary.path)), build, translate),
    notes: pages.length < report.ranks.length ? [build.say('report.otherRanks', { shown: shown.join(', ') })] : [],
  };
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
