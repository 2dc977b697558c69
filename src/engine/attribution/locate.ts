/**
 * Finds the source of kernels without any Python stack: the forward pass is aligned with what the workspace's functions
 * would launch, the backward pass with the reversed tape of the path so found, recompute with the forward itself.
 */
import type { Parser } from 'web-tree-sitter';
import { kernelSequences, TokenNames } from '../chains/kernelSequence';
import type { RankData } from '../profile/columns';
import { catalogueForms, type BackendLook, type Candidate, type CandidateIndex } from './candidates';
import { answerClass } from './answerClass';
import { conflictShare } from './operandEvidence';
import { countedWeight, rankCandidates, tokenWeights, type Ranked } from './rankCandidates';
import type { RankingMemory } from './rankingMemory';
import { passesOf } from './regions';
import type { HintOrder } from './sourceHints';
import { spread, type Spread } from './spread';

export interface Located extends Spread {
  readonly candidate: Candidate;
  /** Others that explain the run just as well: equal bodies in other files. */
  readonly equals: readonly Candidate[];
  /** Share of the forward pass's weight that is explained by neither side, 0 best; and of the next unlike candidate (1 when there is none). */
  readonly penalty: number;
  readonly nextPenalty: number;
  readonly confidence: number;
  readonly holeShare: number;
  readonly residual: number;
  /** Share of what comes again in each layer. */
  readonly systematic: number;
}

export interface Abstained {
  readonly reason: { readonly code: string; readonly args?: Readonly<Record<string, string | number>> };
  /** The candidate that came nearest, for those who tune the thresholds. */
  readonly nearest?: { readonly file: string; readonly penalty: number; readonly nextPenalty: number; readonly systematic: number; readonly residual: number; readonly holeShare: number };
}

/** Above this share of unexplained weight no candidate is the source; a run that lost one kernel in thirty stays below (docs/accuracy.md). */
const ACCEPT = 0.08;
/** The same for what comes again in each layer: true sources stay below, most strangers far above. */
const ACCEPT_SYSTEMATIC = 0.02;
/** An answer less sure than this is none; from 0.75 on answers were never wrong where they were measured. */
const LEAST_CONFIDENCE = 0.25;
/** Unlike candidates further apart than this, and by so many operators, do not lower the confidence: in a short run one operator is a large share. */
const CLEAR_MARGIN = 0.02;
const CLEAR_OPERATORS = 3;
/** What holes explain proves nothing: with more than this in them no answer is given. */
const MAX_HOLES = 0.35;
/** With more contradictions by shapes and dtypes than this, operators in the same order are chance. */
const MOST_CONFLICTS = 0.5;
const FIRST_REGION = 3000;

export interface LocateOptions {
  /** Puts equals in order. */
  readonly hints?: HintOrder;
  /** Rankings of ranks before: the next one mostly runs the same. */
  readonly memory?: RankingMemory;
}

/** Of candidates this near to the best, those that shapes and dtypes speak this much more against are no alternative. */
const NEAR_BEST = 0.01;
const MOST_NEAR = 16;
const CONTRADICTED = 0.15;

function withoutContradicted(ranked: readonly Ranked[], conflictsOf: (entry: Ranked) => number): readonly Ranked[] {
  const conflicts = new Map(ranked.filter(({ penalty }) => penalty < ranked[0].penalty + NEAR_BEST).slice(0, MOST_NEAR).map((entry) => [entry, conflictsOf(entry)]));
  const least = Math.min(...conflicts.values());
  return ranked.filter((entry) => (conflicts.get(entry) ?? 0) <= least + CONTRADICTED);
}

export function locate(rank: RankData, index: Pick<CandidateIndex, 'like'>, parser: Parser, options: LocateOptions = {}): Located | Abstained {
  const names = new TokenNames();
  const { sequences } = kernelSequences(rank, names);
  const [main] = sequences;
  if (main === undefined || main.tokens.length === 0) {
    return { reason: { code: 'attribution.no-kernels' } };
  }
  const passes = passesOf(main, names);
  const first = passes.find((pass) => pass.phase === 'forward' || pass.phase === 'unknown');
  if (first === undefined) {
    return { reason: { code: 'attribution.no-forward' } };
  }
  // `aclnnAdds` is an Add kernel: without its API segment nothing tells it from a sum of tensors.
  const look: BackendLook = { cuda: rank.backend !== 'ascend' && rank.backend !== 'cpu', typesOnly: rank.backend === 'cpu' || (rank.backend === 'ascend' && ['adds', 'muls', 'subs', 'divs'].every((name) => names.has(name) < 0)) };
  const window = main.tokens.subarray(first.start, Math.min(first.end, first.start + FIRST_REGION));
  const region = [...window].map((token) => names.names[token]);
  const forms = catalogueForms(parser);
  const remembered = options.memory?.finalists(region, look);
  const again = remembered === undefined ? undefined : rankCandidates(window, remembered.candidates, names, look, forms);
  let ranked = again;
  if (remembered === undefined || again === undefined || !remembered.holds(again)) {
    const candidates = index.like(region, look);
    if (candidates.length === 0) {
      return { reason: { code: 'attribution.no-source' } };
    }
    ranked = rankCandidates(window, candidates, names, look, forms);
    options.memory?.keep(region, look, ranked);
  }
  const events = Array.from(window, (_, i) => main.order[main.positions[first.start + i]]);
  const conflictsOf = (entry: Ranked): number => conflictShare(rank, events, window, names, entry);
  const answer = answerClass(withoutContradicted(ranked ?? [], conflictsOf), options.hints);
  if (answer === undefined) {
    return { reason: { code: 'attribution.nothing-alike' } };
  }
  const { best, equals, nextPenalty } = answer;
  const nearest = { file: best.candidate.scope.file, penalty: best.penalty, nextPenalty, systematic: best.systematic, residual: best.residual, holeShare: best.holeShare };
  const clear = Math.max(CLEAR_MARGIN, CLEAR_OPERATORS / countedWeight(window, tokenWeights(names)));
  const margin = Math.max(0, Math.min(1, (nextPenalty - best.penalty) / clear));
  const conflicts = conflictsOf(best);
  const confidence = (1 - conflicts) ** 2 * (1 - best.systematic / ACCEPT_SYSTEMATIC) * (1 - best.penalty / ACCEPT / 4) * (1 - best.holeShare) * (0.6 + 0.4 * margin);
  if (conflicts > MOST_CONFLICTS) {
    return { reason: { code: 'attribution.contradicted', args: { share: Math.round(conflicts * 100), file: best.candidate.scope.file } }, nearest };
  }
  if (best.penalty > ACCEPT || best.holeShare > MAX_HOLES || confidence < LEAST_CONFIDENCE) {
    return { reason: { code: 'attribution.unexplained', args: { share: Math.round(Math.max(best.penalty, best.holeShare) * 1000) / 10, file: best.candidate.scope.file } }, nearest };
  }
  return { ...spread(rank.deviceEvents.count, main, passes, best, names, look), candidate: best.candidate, equals: equals.map((entry) => entry.candidate), penalty: best.penalty, nextPenalty, confidence, holeShare: best.holeShare, residual: best.residual, systematic: best.systematic };
}
