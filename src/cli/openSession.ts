import path from 'node:path';
import { EngineSession, type LoadedRank } from '../engine/session';
import { labelInProfile } from '../engine/analysis/analyzeReport';
import { engineEnvironment } from '../node/environment';
import { defaultCacheFolder } from '../node/settings';
import type { Problem, ProfileSummary, RankSummary } from '../protocol/engine';
import { renderProblem } from '../protocol/text';
import { CommandFailure, UsageError, type CommandContext } from './io';
import { progressLine, type ProgressLine } from './progress';

const CACHE_LIMIT = 2 * 1024 ** 3;

export interface OpenProfile {
  readonly session: EngineSession;
  readonly summary: ProfileSummary;
  readonly progress: ProgressLine;
  readonly load: (rank: RankSummary) => Promise<LoadedRank>;
}

/** Opens a profile in this process; columns are cached under the user's cache folder, never beside the profile. */
export async function openProfile(context: CommandContext, profile: string, options: { readonly cache: boolean; readonly prefer?: 'text' | 'db' }): Promise<OpenProfile> {
  const { io } = context;
  const cacheFolder = options.cache ? defaultCacheFolder(io.environment) : undefined;
  const session = new EngineSession(engineEnvironment(cacheFolder === undefined ? {} : { cacheFolder, cacheLimitBytes: CACHE_LIMIT }));
  const progress = progressLine(context);
  try {
    const callOptions = { signal: io.signal, progress: progress.report };
    const summary = await session.call('open', { path: path.resolve(profile), ...(options.prefer === undefined ? {} : { options: { prefer: options.prefer } }) }, callOptions);
    return { session, summary, progress, load: (rank) => session.rank(rank.id, callOptions) };
  } finally {
    progress.clear();
  }
}

/** `step-5 · rank 0`, as tables write ranks of several folders. */
const namedAsShown = ({ group, rank }: RankSummary): string => `${group} · rank ${rank ?? ''}`;

/** Numbers, where each names one rank. */
function knownNames(summary: ProfileSummary): readonly string[] {
  const numbers = summary.ranks.map(({ rank }) => rank);
  return summary.ranks.map((rank) => (rank.rank !== undefined && numbers.indexOf(rank.rank) === numbers.lastIndexOf(rank.rank) ? String(rank.rank) : labelInProfile(summary, rank)));
}

/** The ranks a `--rank` names, by number, label, name in the tables or id; all readable ones without it. */
export function chooseRanks(summary: ProfileSummary, wanted: readonly string[]): readonly RankSummary[] {
  const readable = summary.ranks.filter((rank) => rank.readable);
  if (wanted.length === 0) {
    return readable;
  }
  const chosen = new Set<RankSummary>();
  for (const name of wanted) {
    const matching = summary.ranks.filter((rank) => [String(rank.rank), rank.label, rank.id, labelInProfile(summary, rank), namedAsShown(rank)].includes(name));
    if (matching.length === 0) {
      throw new UsageError('cli.usage.no-such-rank', { rank: name, known: knownNames(summary).join(', ') });
    }
    matching.forEach((rank) => chosen.add(rank));
  }
  return [...chosen];
}

/** Index of the step that `--step` names, by number or name; undefined when this rank has none such. */
export function findStep({ data }: LoadedRank, wanted: string): number | undefined {
  const byNumber = data.steps.findIndex((step) => step.number !== undefined && String(step.number) === wanted);
  const index = byNumber >= 0 ? byNumber : data.steps.findIndex((step) => step.name === wanted);
  return index < 0 ? undefined : index;
}

/** Why nothing of a profile can be shown: the worst of what was found in it, which names the file and what to do. */
export function nothingReadable(problems: readonly Problem[], file: string, { translate }: CommandContext): CommandFailure {
  const worst = problems.find(({ severity }) => severity === 'error') ?? problems[0];
  return worst === undefined
    ? new CommandFailure('cli.failure.nothing-readable', { file })
    : new CommandFailure('cli.failure.sentence', { sentence: renderProblem(worst, translate).message });
}
