/** Of ranked candidates the answer: the one to show, those that explain the run as well, and how far the next unlike one is. */
import type { Ranked } from './rankCandidates';
import type { HintOrder } from './sourceHints';

/** Candidates of the same text this near in penalty are one answer: heads and helpers may differ. */
const NEAR = 0.004;
/** Candidates of other text this near, light operators included, cannot be told apart by what they launch. */
const INDISTINCT = 0.002;
/** Of equal answers, one that runs this much less of its own operators is the less likely source. */
const COVERAGE_MARGIN = 0.12;
/** Share of kernels on the same text from which two answers are one. */
const SAME_TEXT = 0.97;

export interface AnswerClass {
  /** The one to show: of equals the one that runs most of its own code. */
  readonly best: Ranked;
  readonly equals: readonly Ranked[];
  /** Penalty of the next candidate that gives another answer; 1 when there is none. */
  readonly nextPenalty: number;
}

export function answerClass(ranked: readonly Ranked[], hints?: HintOrder): AnswerClass | undefined {
  const [lowest] = ranked;
  if (lowest === undefined) {
    return undefined;
  }
  // Light operators decide between those that explain the weighty ones equally well.
  const first = ranked.filter((entry) => entry.penalty < lowest.penalty + INDISTINCT).reduce((a, b) => (b.penalty + b.residual < a.penalty + a.residual - 1e-6 ? b : a));
  const texts = new Map<Ranked, readonly string[]>();
  const textsOf = (entry: Ranked): readonly string[] => {
    let known = texts.get(entry);
    if (known === undefined) {
      known = tokenTexts(entry);
      texts.set(entry, known);
    }
    return known;
  };
  const alike = ranked.filter((other) => other === first || (other.penalty - first.penalty < NEAR && sameShare(textsOf(first), textsOf(other)) >= SAME_TEXT) || (other.penalty - first.penalty < INDISTINCT && Math.abs(other.residual - first.residual) < INDISTINCT));
  const likeliest = alike.reduce((a, b) => (isBetter(b, a) ? b : a));
  const equals = alike.filter((other) => other !== likeliest && other.coverage >= likeliest.coverage - COVERAGE_MARGIN && !leadsTo(other, likeliest));
  // Sorting is stable: without hints the one that runs most of its own code stays first.
  const [best, ...others] = hints === undefined ? [likeliest, ...equals] : [likeliest, ...equals].sort((a, b) => hints.compare(a.candidate, b.candidate));
  // A head that others leave out, or a part of an equal model, is no other answer.
  const next = ranked.find((other) => !alike.includes(other) && !alike.some((entry) => leadsTo(other, entry)) && sameShare(textsOf(best), textsOf(other)) < SAME_TEXT);
  return { best, equals: others, nextPenalty: next?.penalty ?? 1 };
}

/** Of two that explain as much: in one file the head that leaves less over, in two the file that runs more of its own code. */
function isBetter(a: Ranked, b: Ranked): boolean {
  if (a.candidate.scope === b.candidate.scope) {
    return a.penalty < b.penalty - 1e-6 || (a.penalty < b.penalty + 1e-6 && a.residual < b.residual - 1e-6);
  }
  const gap = a.residual - b.residual;
  return a.penalty <= b.penalty + 0.0005 && (gap < -0.0005 || (gap < 0.0005 && a.coverage > b.coverage + 0.02));
}

/** One candidate calls the other: both lead to the same lines, and so do not compete. */
function leadsTo(a: Ranked, b: Ranked): boolean {
  let both = 0;
  let same = 0;
  a.alignment.states.forEach((state, i) => {
    const other = b.alignment.states[i];
    if (state > 0 && other > 0) {
      const [left, right] = [nodeOf(a, state), nodeOf(b, other)];
      both++;
      same += left !== undefined && right !== undefined && left.place.file === right.place.file && left.statement.start === right.statement.start ? 1 : 0;
    }
  });
  return both > 0 && same / both > 0.9;
}

const nodeOf = (ranked: Ranked, state: number): Ranked['candidate']['graph']['nodes'][number] | undefined => ranked.candidate.graph.nodes[ranked.automaton.node[state]];

/** For each token the text that explains it, whitespace removed; '' for none. Class and function names are not part of it. */
function tokenTexts(ranked: Ranked): readonly string[] {
  const { graph, sources } = ranked.candidate;
  const known = new Map<number, string>();
  return [...ranked.alignment.states].map((state) => {
    const node = state > 0 ? ranked.automaton.node[state] : -1;
    if (node < 0) {
      return '';
    }
    let text = known.get(node);
    if (text === undefined) {
      const { place, op } = graph.nodes[node];
      text = `${op}:${(sources(place.file) ?? '').slice(place.start, place.end).replace(/\s+/g, '')}`;
      known.set(node, text);
    }
    return text;
  });
}

function sameShare(a: readonly string[], b: readonly string[]): number {
  let same = 0;
  a.forEach((text, i) => {
    same += text === b[i] ? 1 : 0;
  });
  return a.length === 0 ? 0 : same / a.length;
}
