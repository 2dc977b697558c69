/** Whether a difference between two profiles is the difference between two ways of doing the same work. */
import type { CompareCheck, RankDigest } from '../../protocol/compare';
import type { Pairing, Sample } from './pairing';

type Facts = Readonly<Record<string, string>>;

export interface SideFacts {
  readonly samples: readonly Sample[];
  readonly first: RankDigest;
  readonly worldSize: number | null;
  readonly ranks: number;
  readonly tokens: number | null;
  readonly tokensFrom: 'option' | 'profile' | null;
}

export function sideFacts(samples: readonly Sample[], tokens: number | undefined): SideFacts | undefined {
  const first = samples.at(0)?.digest;
  if (first === undefined) {
    return undefined;
  }
  const said = samples.map(({ digest }) => digest.tokensPerStep).find((value) => value !== null) ?? null;
  return {
    samples, first, worldSize: samples.map(({ digest }) => digest.worldSize).find((value) => value !== null) ?? null,
    ranks: new Set(samples.map(({ digest }) => digest.rank ?? digest.label)).size,
    tokens: tokens ?? said, tokensFrom: tokens !== undefined ? 'option' : said !== null ? 'profile' : null,
  };
}

export function compareChecks(base: SideFacts, candidate: SideFacts, pairing: Pairing): readonly CompareCheck[] {
  return [
    backendCheck(base, candidate), chipCheck(base, candidate), stepsCheck(base, candidate), ranksCheck(base, candidate, pairing), modelCheck(base, candidate), batchCheck(base, candidate),
    settingsCheck('level', 'blocks', base, candidate, ['level', 'aic_metrics']), settingsCheck('stacks', 'blocks', seenStacks(base), seenStacks(candidate), ['with_stack', 'with_modules']),
    settingsCheck('settings', 'warns', base, candidate, ['record_shapes', 'profile_memory', 'l2_cache', 'activities']),
    versionsCheck(base, candidate), parallelCheck(base, candidate), environmentCheck(base, candidate),
  ];
}

function backendCheck(base: SideFacts, candidate: SideFacts): CompareCheck {
  const [from, to] = [base.first.backend, candidate.first.backend];
  return from === to ? { id: 'backend', outcome: 'same', base: from, candidate: to, code: 'compare.check.backend.same' }
    : { id: 'backend', outcome: 'blocks', base: from, candidate: to, code: 'compare.check.backend.differs', args: { base: from, candidate: to } };
}

function chipCheck(base: SideFacts, candidate: SideFacts): CompareCheck {
  const [from, to] = [base.first.chip, candidate.first.chip];
  if (from === null || to === null) {
    return { id: 'chip', outcome: 'unknown', base: from, candidate: to, code: 'compare.check.chip.unknown' };
  }
  return from === to ? { id: 'chip', outcome: 'same', base: from, candidate: to, code: 'compare.check.chip.same' }
    : { id: 'chip', outcome: 'blocks', base: from, candidate: to, code: 'compare.check.chip.differs', args: { base: from, candidate: to } };
}

/** What a recording without marked steps holds cannot be said: half a step, or three. */
function stepsCheck(base: SideFacts, candidate: SideFacts): CompareCheck {
  const marked = ({ samples }: SideFacts): number => samples.filter(({ digest, step }) => digest.steps[step].source !== 'window').length;
  const named = ({ samples }: SideFacts): string => [...new Set(samples.map(({ digest, step }) => digest.steps[step].name))].slice(0, 8).join(', ');
  const texts = { base: named(base), candidate: named(candidate) };
  return marked(base) > 0 && marked(candidate) > 0 ? { id: 'steps', outcome: 'same', ...texts, code: 'compare.check.steps.same' }
    : { id: 'steps', outcome: 'blocks', ...texts, code: 'compare.check.steps.unmarked' };
}

function ranksCheck(base: SideFacts, candidate: SideFacts, { by }: Pairing): CompareCheck {
  const [from, to] = [base.worldSize, candidate.worldSize];
  const texts = { base: from === null ? String(base.ranks) : String(from), candidate: to === null ? String(candidate.ranks) : String(to) };
  if (from !== null && to !== null && from !== to) {
    return { id: 'ranks', outcome: 'blocks', ...texts, code: 'compare.check.ranks.differ', args: { base: from, candidate: to } };
  }
  if (by === 'none') {
    return { id: 'ranks', outcome: 'blocks', ...texts, code: 'compare.check.ranks.unpaired' };
  }
  if (by === 'order') {
    return { id: 'ranks', outcome: 'warns', base: base.first.label, candidate: candidate.first.label, code: 'compare.check.ranks.others', args: { base: base.first.label, candidate: candidate.first.label } };
  }
  return from === null || to === null ? { id: 'ranks', outcome: 'unknown', ...texts, code: 'compare.check.ranks.unknown' } : { id: 'ranks', outcome: 'same', ...texts, code: 'compare.check.ranks.same', args: { count: from } };
}

/** Shares of operands, of which activations are a part and change with the batch: above the first the model is the same. */
const SAME_OPERANDS = 0.6;
const SOME_OPERANDS = 0.2;
/** Of multiplications by weights so many must be by a shape that both sides have: relatives (ResNet-50 and -18) share half. */
const SAME_WEIGHTS = 0.75;
/** Weights are compared where they were told from activations in so many of the multiplications. */
const LEAST_TOLD = 0.5;
/** Merged projections hold as many numbers as those they were merged from. */
const MERGED_TOLERANCE = 0.02;
/** Output and down projection are merged with nothing: two of a layer's four multiplications. */
const MERGED_WEIGHTS = 0.3;
/** Matrix multiplications a step may differ by so much: fused projections, a norm less. */
const CALLS_TOLERANCE = 0.1;

function modelCheck(base: SideFacts, candidate: SideFacts): CompareCheck {
  const [from, to] = [base.first.matmul, candidate.first.matmul];
  const calls = [from.kernels / base.first.steps.length, to.kernels / candidate.first.steps.length];
  const texts = { base: `${Math.round(calls[0])}`, candidate: `${Math.round(calls[1])}` };
  if (from.kernels === 0 && to.kernels === 0) {
    return { id: 'model', outcome: 'unknown', base: null, candidate: null, code: 'compare.check.model.no-matmul' };
  }
  if (from.shaped === 0 || to.shaped === 0) {
    const near = Math.abs(calls[0] - calls[1]) <= CALLS_TOLERANCE * Math.max(calls[0], calls[1]);
    return near ? { id: 'model', outcome: 'unknown', ...texts, code: 'compare.check.model.calls-only' } : { id: 'model', outcome: 'blocks', ...texts, code: 'compare.check.model.calls-differ', args: { base: texts.base, candidate: texts.candidate } };
  }
  return told(from) && told(to) ? weightsCheck(base, candidate, texts) : operandsCheck(base, candidate, texts);
}

type Texts = Pick<CompareCheck, 'base' | 'candidate'>;
type Uses = readonly { readonly shape: string; readonly kernels: number }[];

const kernelsOf = (uses: Uses): number => uses.reduce((sum, { kernels }) => sum + kernels, 0);
const told = ({ shaped, modelWeights }: RankDigest['matmul']): boolean => kernelsOf(modelWeights) >= LEAST_TOLD * shaped;

function without(own: Uses, other: Uses): Uses {
  const known = new Set(other.map(({ shape }) => shape));
  return own.filter(({ shape }) => !known.has(shape));
}

/** The smaller share of the two sides. */
const sharedShare = (from: Uses, to: Uses): number => Math.min(...[[from, to], [to, from]].map(([own, other]) => (own.length === 0 ? 0 : 1 - kernelsOf(without(own, other)) / kernelsOf(own))));

/** By weights alone, which no batch changes. */
function weightsCheck({ first: base }: SideFacts, { first: candidate }: SideFacts, texts: Texts): CompareCheck {
  const [from, to] = [base.matmul.modelWeights, candidate.matmul.modelWeights];
  const share = sharedShare(from, to);
  const args = { percent: Math.floor(share * 100) };
  if (share >= SAME_WEIGHTS) {
    return { id: 'model', outcome: 'same', ...texts, code: 'compare.check.model.same', args };
  }
  const numbers = (uses: Uses, steps: number): number => uses.reduce((sum, { shape, kernels }) => sum + shape.split(',').reduce((product, size) => product * Number(size), kernels), 0) / steps;
  const [less, more] = [numbers(from, base.steps.length), numbers(to, candidate.steps.length)].sort((a, b) => a - b);
  return share >= MERGED_WEIGHTS && more - less <= MERGED_TOLERANCE * more ? { id: 'model', outcome: 'same', ...texts, code: 'compare.check.model.merged', args }
    : { id: 'model', outcome: 'blocks', ...texts, code: 'compare.check.model.weights-differ', args };
}

/** By all operands, where weights cannot be told from activations. */
function operandsCheck(base: SideFacts, candidate: SideFacts, texts: Texts): CompareCheck {
  const share = sharedShare(base.first.matmul.weights, candidate.first.matmul.weights);
  const args = { percent: Math.floor(share * 100) };
  if (share >= SAME_OPERANDS) {
    return { id: 'model', outcome: 'same', ...texts, code: 'compare.check.model.same-operands', args };
  }
  if (share < SOME_OPERANDS) {
    return { id: 'model', outcome: 'blocks', ...texts, code: 'compare.check.model.differs', args };
  }
  return base.tokens !== null && candidate.tokens !== null && base.tokens !== candidate.tokens ? { id: 'model', outcome: 'unknown', ...texts, code: 'compare.check.model.unclear', args }
    : { id: 'model', outcome: 'blocks', ...texts, code: 'compare.check.model.perhaps', args };
}

/** The shapes of both sides may differ by this much and still be one batch: padding, a ragged last block. */
const SAME_WORK = 0.02;

/** Work of a step in the candidate over that in the base, from what went through weights both have; undefined without shapes. */
function workRatio(base: RankDigest, candidate: RankDigest): number | undefined {
  const uses = new Map(candidate.matmul.weights.map((use) => [use.shape, use]));
  const ratios = base.matmul.weights.flatMap(({ shape, kernels, otherElements }) => {
    const other = uses.get(shape);
    // A shape that is a weight on one side and by chance an activation on the other is used often on one side only.
    return other === undefined || otherElements === 0 ? [] : [{ ratio: (other.otherElements / candidate.steps.length) / (otherElements / base.steps.length), weight: Math.min(kernels, other.kernels) }];
  }).sort((a, b) => a.ratio - b.ratio);
  const half = ratios.reduce((sum, { weight }) => sum + weight, 0) / 2;
  let sum = 0;
  return ratios.find(({ weight }) => (sum += weight) >= half)?.ratio;
}

function batchCheck(base: SideFacts, candidate: SideFacts): CompareCheck {
  const [from, to] = [base.tokens, candidate.tokens];
  const texts = { base: from === null ? null : String(from), candidate: to === null ? null : String(to) };
  if (from !== null && to !== null) {
    return from === to ? { id: 'batch', outcome: 'same', ...texts, code: 'compare.check.batch.same', args: { tokens: from } }
      : { id: 'batch', outcome: 'perToken', ...texts, code: 'compare.check.batch.per-token', args: { base: from, candidate: to } };
  }
  const ratio = workRatio(base.first, candidate.first);
  if (ratio === undefined) {
    return { id: 'batch', outcome: 'blocks', ...texts, code: 'compare.check.batch.unknown' };
  }
  return Math.abs(Math.log(ratio)) <= SAME_WORK ? { id: 'batch', outcome: 'same', ...texts, code: 'compare.check.batch.same-shapes' }
    : { id: 'batch', outcome: 'blocks', ...texts, code: 'compare.check.batch.differs', args: { ratio: ratio.toFixed(2) } };
}

const setting = (facts: Facts, key: string): string | undefined => {
  const value = facts[key];
  return value === undefined ? undefined : /^(1|true)$/i.test(value) ? 'on' : /^(0|false)$/i.test(value) ? 'off' : value.replace(/^(?:ProfilerLevel\.|Level_?)/i, 'Level');
};

/** Settings of the profiler cost time themselves; both sides must have paid the same. */
function settingsCheck(id: 'level' | 'stacks' | 'settings', outcome: 'blocks' | 'warns', base: SideFacts, candidate: SideFacts, keys: readonly string[]): CompareCheck {
  const describe = ({ first }: SideFacts, chosen: readonly string[]): string => chosen.map((key) => `${key} ${setting(first.facts, key) ?? '?'}`).join(', ');
  const known = keys.filter((key) => setting(base.first.facts, key) !== undefined && setting(candidate.first.facts, key) !== undefined);
  const different = known.filter((key) => setting(base.first.facts, key) !== setting(candidate.first.facts, key));
  if (different.length > 0) {
    const texts = { base: describe(base, different), candidate: describe(candidate, different) };
    return { id, outcome, ...texts, code: `compare.check.${id}.differs`, args: texts };
  }
  return known.length === 0 ? { id, outcome: 'unknown', base: null, candidate: null, code: `compare.check.${id}.unknown` }
    : { id, outcome: 'same', base: describe(base, known), candidate: describe(candidate, known), code: `compare.check.${id}.same` };
}

/** torch.profiler writes "with_stack" only when it is set: where a profile does not say it, its data do. */
function seenStacks(side: SideFacts): SideFacts {
  const { facts, stacks } = side.first;
  return stacks === null || 'with_stack' in facts ? side : { ...side, first: { ...side.first, facts: { ...facts, with_stack: String(stacks) } } };
}

const VERSION = /version|^torch|^cann$|mindspore|driver/i;
const NO_VERSION = /^schemaVersion$/;

function versionsCheck(base: SideFacts, candidate: SideFacts): CompareCheck {
  return differing('versions', base, candidate, (facts) => Object.fromEntries(Object.entries(facts).filter(([name]) => VERSION.test(name) && !NO_VERSION.test(name))));
}

function parallelCheck(base: SideFacts, candidate: SideFacts): CompareCheck {
  return differing('parallel', base, candidate, (facts) => {
    const { rank: _rank, ...rest } = objectOf(facts['distributed_args']);
    return rest;
  });
}

/** Variables of the environment are often what was changed between two runs: they are named. */
function environmentCheck(base: SideFacts, candidate: SideFacts): CompareCheck {
  return differing('environment', base, candidate, (facts) => objectOf(facts['ENV_VARIABLES']));
}

const SHOWN = 6;

function differing(id: 'versions' | 'parallel' | 'environment', base: SideFacts, candidate: SideFacts, pick: (facts: Facts) => Facts): CompareCheck {
  const [from, to] = [pick(base.first.facts), pick(candidate.first.facts)];
  const common = Object.keys(from).filter((name) => name in to);
  const different = common.filter((name) => from[name] !== to[name]).slice(0, SHOWN);
  const list = (facts: Facts, names: readonly string[]): string => names.map((name) => `${name}=${facts[name]}`).join(', ');
  if (different.length > 0) {
    return { id, outcome: 'warns', base: list(from, different), candidate: list(to, different), code: `compare.check.${id}.differs`, args: { names: different.join(', ') } };
  }
  return common.length === 0 ? { id, outcome: 'unknown', base: null, candidate: null, code: `compare.check.${id}.unknown` }
    : { id, outcome: 'same', base: list(from, common.slice(0, SHOWN)), candidate: list(to, common.slice(0, SHOWN)), code: `compare.check.${id}.same` };
}

function objectOf(text: string | undefined): Facts {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, typeof each === 'object' ? JSON.stringify(each) : String(each)])) : {};
  } catch {
    return {};
  }
}
