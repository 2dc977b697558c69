import {
  DIGEST_TABLES, type CompareCheck, type CompareFigure, type CompareOptions, type CompareReport, type CompareRow, type CompareSide, type CompareVerdict, type ComparedRank, type DigestTableId, type RankDigest, type SideSummary,
} from '../../protocol/compare';
import type { KernelFigures, LaneFigures } from '../../protocol/report';
import { UnreadableInput } from '../profile/problems';
import { compareChecks, sideFacts, type SideFacts } from './checks';
import { judge, scaled, spreadOf } from './noise';
import { pairRanks, type Pairing, type RankPair, type Sample } from './pairing';
import { compareRows } from './rows';
import { windowPairs } from './windowPairs';

/** Differences per token are told for so many tokens of the job, so that they are numbers one can read. */
const TOKENS_UNIT = 1000;

/** Compares two sides. Throws `UnreadableInput` when a side holds no kernel at all. */
export function compareDigests(base: CompareSide, candidate: CompareSide, options: CompareOptions = {}): CompareReport {
  const pairing = pairRanks(base, candidate);
  const baseFacts = sideFacts(pairing.pairs.flatMap((pair) => pair.base), options.tokensBase);
  const candidateFacts = sideFacts(pairing.pairs.flatMap((pair) => pair.candidate), options.tokensCandidate);
  if (baseFacts === undefined || candidateFacts === undefined || !hasKernels(baseFacts) || !hasKernels(candidateFacts)) {
    throw new UnreadableInput({ code: 'error.compare-no-kernels', args: { file: baseFacts === undefined || !hasKernels(baseFacts) ? base.name : candidate.name } });
  }
  const checks = compareChecks(baseFacts, candidateFacts, pairing);
  const blocked = checks.some(({ outcome }) => outcome === 'blocks');
  const per = checks.some(({ outcome }) => outcome === 'perToken') ? 'token' : 'step';
  const factor = ({ tokens }: SideFacts): number => (per === 'token' && tokens !== null ? TOKENS_UNIT / tokens : 1);
  const [baseFactor, candidateFactor] = [factor(baseFacts), factor(candidateFacts)];
  const verdict = verdictOf(checks, baseFacts, candidateFacts, per, baseFactor, candidateFactor);
  const crossVendor = baseFacts.first.backend !== candidateFacts.first.backend;
  const rules = { baseFactor, candidateFactor, judged: !blocked };
  const tables = Object.fromEntries(DIGEST_TABLES.map((id): [DigestTableId, readonly CompareRow[]] => [id, crossVendor && id === 'kernels' ? [] : compareRows(id, pairing.pairs, rules)])) as CompareReport['tables'];
  return {
    schema: 'fuselens-compare/1', base: summary(base, baseFacts), candidate: summary(candidate, candidateFacts), checks, verdict, crossVendor, per, factors: { base: baseFactor, candidate: candidateFactor }, ranks: pairing.pairs.map(comparedRank),
    figures: figuresOf(baseFacts, candidateFacts, verdict.stepTime, [baseFactor, candidateFactor], options), lanes: lanesOf(baseFacts, candidateFacts, [baseFactor, candidateFactor]), tables,
    density: { base: baseFacts.first.density, candidate: candidateFacts.first.density }, memory: { base: baseFacts.first.memory, candidate: candidateFacts.first.memory },
    windows: windowPairs(tables.chains, tables.operators), notes: [...notesOf(pairing, baseFacts, candidateFacts, crossVendor), ...lossNotes(base), ...lossNotes(candidate)],
  };
}

const hasKernels = ({ samples }: SideFacts): boolean => samples.some(({ digest, step }) => (digest.steps[step].kernels.count ?? 0) > 0);

const values = (samples: readonly Sample[], pick: (digest: RankDigest, step: number) => number | null): readonly (number | null)[] => samples.map(({ digest, step }) => pick(digest, step));

/** The profiler's own range of a step where both sides have it for every sample; else from first to last kernel. */
function stepTimeSource(sides: readonly SideFacts[]): 'profiler' | 'span' {
  return sides.every(({ samples }) => samples.every(({ digest, step }) => (digest.steps[step].durationUs ?? 0) > 0)) ? 'profiler' : 'span';
}

const stepTimes = ({ samples }: SideFacts, source: 'profiler' | 'span'): readonly (number | null)[] =>
  values(samples, (digest, step) => (source === 'profiler' ? digest.steps[step].durationUs : digest.steps[step].kernels.spanUs));

function verdictOf(checks: readonly CompareCheck[], base: SideFacts, candidate: SideFacts, per: 'step' | 'token', baseFactor: number, candidateFactor: number): CompareVerdict {
  const stepTime = stepTimeSource([base, candidate]);
  const [baseStepUs, candidateStepUs] = [spreadOf(stepTimes(base, stepTime)), spreadOf(stepTimes(candidate, stepTime))];
  const baseUs = baseStepUs === null ? null : scaled(baseStepUs, baseFactor);
  const candidateUs = candidateStepUs === null ? null : scaled(candidateStepUs, candidateFactor);
  const blocking = checks.filter(({ outcome }) => outcome === 'blocks').map(({ code, args }) => ({ code, ...(args === undefined ? {} : { args }) }));
  const known = { per, stepTime, baseStepUs, candidateStepUs, baseUs, candidateUs } as const;
  if (blocking.length > 0 || baseUs === null || candidateUs === null) {
    return { kind: 'notComparable', ...known, differenceUs: null, change: null, noiseUs: null, reasons: blocking.length > 0 ? blocking : [{ code: 'compare.verdict.no-times' }] };
  }
  const { kind, noise } = judge(baseUs, candidateUs);
  const differenceUs = candidateUs.median - baseUs.median;
  return { kind, ...known, differenceUs, change: baseUs.median > 0 ? differenceUs / baseUs.median : null, noiseUs: noise, reasons: kind === 'unjudged' ? [{ code: 'compare.verdict.one-sample' }] : [] };
}

function figure(id: string, kind: CompareFigure['kind'], base: readonly (number | null)[], candidate: readonly (number | null)[], factors?: readonly [number, number]): CompareFigure {
  const [from, to] = [spreadOf(base), spreadOf(candidate)];
  const difference = from === null || to === null ? null : to.median - from.median;
  const changeBy = (a: number, b: number): number | null => (from === null || to === null || !(from.median > 0) ? null : (to.median * b) / (from.median * a) - 1);
  return { id, kind, base: from, candidate: to, difference, change: changeBy(1, 1), unitChange: factors === undefined ? null : changeBy(...factors) };
}

function figuresOf(base: SideFacts, candidate: SideFacts, stepTime: 'profiler' | 'span', factors: readonly [number, number], { ranksPerCard }: CompareOptions): readonly CompareFigure[] {
  const of = (id: keyof KernelFigures, kind: CompareFigure['kind'], work?: readonly [number, number]): CompareFigure =>
    figure(id, kind, values(base.samples, (digest, step) => digest.steps[step].kernels[id]), values(candidate.samples, (digest, step) => digest.steps[step].kernels[id]), work);
  const memory = (id: 'peakReservedBytes' | 'peakAllocatedBytes'): CompareFigure => figure(id, 'bytes', memoryOf(base, id), memoryOf(candidate, id));
  const rate = (id: string, factor: number): CompareFigure => figure(id, 'rate', rates(base, stepTime, factor), rates(candidate, stepTime, factor));
  const perCard = ranksPerCard ?? base.first.ranksPerCard ?? candidate.first.ranksPerCard;
  const all = [
    ...(stepTime === 'profiler' ? [figure('stepDurationUs', 'us', stepTimes(base, stepTime), stepTimes(candidate, stepTime), factors)] : []),
    of('spanUs', 'us', factors), of('count', 'count', factors), of('totalUs', 'us', factors), of('p50Us', 'us'), of('p90Us', 'us'), of('p99Us', 'us'), of('maxUs', 'us'), of('shareLe50us', 'share'), of('shareLe100us', 'share'),
    of('meanIntervalUs', 'us'), memory('peakReservedBytes'), memory('peakAllocatedBytes'), rate('tokensPerSecondPerRank', 1), ...(perCard === null ? [] : [rate('tokensPerSecondPerCard', perCard)]),
  ];
  return all.filter(({ base: from, candidate: to }) => from !== null || to !== null);
}

const memoryOf = ({ samples }: SideFacts, id: 'peakReservedBytes' | 'peakAllocatedBytes'): readonly (number | null)[] => [...new Set(samples.map(({ digest }) => digest))].map(({ memory }) => memory?.[id] ?? null);

/** Tokens of the step over its time and the ranks of the job; unknown where one of them is. */
function rates(side: SideFacts, stepTime: 'profiler' | 'span', factor: number): readonly (number | null)[] {
  const { tokens, worldSize, ranks } = side;
  return tokens === null ? [] : stepTimes(side, stepTime).map((us) => (us === null || us <= 0 ? null : (tokens / (us / 1e6) / (worldSize ?? ranks)) * factor));
}

const LANES = ['computeBusyUs', 'exposedCommunicationUs', 'exposedCopyUs', 'freeUs', 'computeIdleUs', 'mainStreamIdleUs', 'communicationBusyUs', 'overlappedUs', 'copyBusyUs'] as const satisfies readonly (keyof LaneFigures)[];

const lanesOf = (base: SideFacts, candidate: SideFacts, factors: readonly [number, number]): readonly CompareFigure[] =>
  LANES.map((id) => figure(id, 'us', values(base.samples, (digest, step) => digest.steps[step].lanes[id]), values(candidate.samples, (digest, step) => digest.steps[step].lanes[id]), factors));

function summary({ name, runs }: CompareSide, facts: SideFacts): SideSummary {
  const steps = new Set(facts.samples.map(({ digest, step, run }) => `${run} ${digest.group} ${digest.steps[step].name} ${digest.steps[step].index ?? ''}`)).size;
  return {
    name, backend: facts.first.backend, chip: facts.first.chip, runs: runs.length, ranks: facts.ranks, steps, samples: facts.samples.length, worldSize: facts.worldSize, tokensPerStep: facts.tokens, tokensFrom: facts.tokensFrom,
  };
}

function comparedRank({ rank, base, candidate }: RankPair): ComparedRank {
  const side = (samples: readonly Sample[]): ComparedRank['base'] => {
    const [first] = samples;
    return { run: first.run, id: first.digest.id, label: first.digest.label, group: first.digest.group, steps: samples.filter(({ digest }) => digest === first.digest).map(({ digest, step }) => digest.steps[step].index) };
  };
  return { rank, base: side(base), candidate: side(candidate) };
}

function lossNotes({ name, runs }: CompareSide): CompareReport['notes'] {
  const places = [...new Set(runs.flat().flatMap(({ losses }) => losses))];
  return places.length === 0 ? [] : [{ code: 'compare.note.losses', args: { side: name, places: places.slice(0, 4).join(', ') } }];
}

function notesOf(pairing: Pairing, base: SideFacts, candidate: SideFacts, crossVendor: boolean): CompareReport['notes'] {
  const leftOut = Math.max(...[...base.samples, ...candidate.samples].map(({ digest }) => digest.stepsLeftOut));
  const oneStep = [base, candidate].every(({ samples }) => new Set(samples.map(({ digest, step, run }) => `${run} ${digest.group} ${step}`)).size === 1);
  return [
    ...(crossVendor ? [{ code: 'compare.note.cross-vendor' }] : []), ...pairing.notes,
    ...(leftOut > 0 ? [{ code: 'compare.note.steps-left-out', args: { count: leftOut } }] : []),
    ...(oneStep && base.samples.length > 1 ? [{ code: 'compare.note.one-step' }] : []),
  ];
}
