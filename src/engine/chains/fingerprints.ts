/**
 * Fingerprints of a rank: repeated kernel chains, recognised against the catalogue or kept as named unknowns, each with its
 * phase, its kernels, how often it runs and what it costs.
 */
import type { Parser } from 'web-tree-sitter';
import { FAMILIES, type Family } from '../../protocol/families';
import { FUSIONS } from '../fusions';
import type { Fusion } from '../fusions/fusion';
import type { RankData } from '../profile/columns';
import { coveredShare, type Intervals } from '../analysis/intervals';
import { busyUnions, selectEvents } from '../analysis/selection';
import { findWastes } from './findWastes';
import { kernelSequences, TokenNames, type KernelSequence } from './kernelSequence';
import { chainPatterns, type ChainPattern } from './patterns';
import { layerPeriods, type Period } from './periods';
import { PHASES, phasesOf, type Phase } from './phases';
import { recognise, type Occurrence } from './recognise';
import { recoverable, type Recoverable } from './recoverable';
import { unknownChains } from './unknownChains';

export interface ChainKernel {
  readonly name: string;
  readonly type: string;
  /** Family of the first occurrence's kernel. */
  readonly family: Family;
  readonly meanNs: number;
  /** Source text of the eager form's operator, '' for unknown chains. */
  readonly term: string;
}

export interface Fingerprint {
  /** Hash of the chain's operators, phase and fusion: the same over runs and versions of names. */
  readonly id: string;
  readonly fusion: Fusion | undefined;
  readonly form: string;
  /** Operators in order, joined by spaces: the name of an unknown chain. */
  readonly chain: string;
  readonly phase: Phase;
  readonly kernels: readonly ChainKernel[];
  readonly occurrences: number;
  readonly perStep: number;
  /** Occurrences in each repeat of the layer pattern (one layer, or the shortest mix of layers that repeats); NaN outside repeated layers. */
  readonly perLayer: number;
  readonly meanNs: number;
  readonly totalNs: number;
  /** Median distance between starts of neighbouring occurrences, NaN for a single one. */
  readonly periodNs: number;
  readonly gapNs: number;
  /** How long the host waited for the chain, all occurrences together; NaN where nothing tells. */
  readonly stallNs: number;
  readonly recoverable: Recoverable;
  /** For each occurrence its device event indices, in order. */
  readonly events: readonly Uint32Array[];
}

/** What a layer is known by. */
const LAYER_PRODUCTS = new Set(['matmul', 'attention', 'attentionBackward']);
/** An unknown chain that runs less often than this a step is no pattern. */
const UNKNOWN_MINIMUM = 8;

export interface FingerprintOptions {
  /** Only kernels of this step. */
  readonly step?: number;
  readonly fusions?: readonly Fusion[];
}

export function fingerprints(rank: RankData, parser: Parser, options: FingerprintOptions = {}): readonly Fingerprint[] {
  const names = new TokenNames();
  const { sequences } = kernelSequences(rank, names);
  const fusions = options.fusions ?? FUSIONS;
  const patterns = chainPatterns(parser, fusions, rank.backend, names);
  const { communication } = busyUnions(rank.deviceEvents, selectEvents(rank.deviceEvents));
  const groups = new Map<string, Group>();
  const inStep = (event: number): boolean => options.step === undefined || rank.deviceEvents.step[event] === options.step;
  const phases = sequences.map((sequence) => phasesOf(sequence.tokens, names));
  const taken = sequences.map((sequence) => new Uint8Array(sequence.tokens.length));
  const heavy = (token: number): boolean => LAYER_PRODUCTS.has(names.names[token]);
  const periods = sequences.map(({ tokens }) => layerPeriods(tokens, heavy));
  const add = (fusion: Fusion | undefined, pattern: ChainPattern | undefined, phase: Phase, chain: string, occurrence: GroupOccurrence): void => {
    const group = groups.get(`${fusion?.id ?? ''}|${phase}|${chain}`);
    if (group === undefined) {
      groups.set(`${fusion?.id ?? ''}|${phase}|${chain}`, { fusion, pattern, phase, chain, occurrences: [occurrence] });
    } else {
      group.occurrences.push(occurrence);
    }
  };
  const addChain = (s: number, occurrence: Occurrence): void => {
    const sequence = sequences[s];
    const pattern = patterns[occurrence.pattern];
    if (inStep(sequence.order[sequence.positions[occurrence.first]])) {
      const chain = [...occurrence.matched].filter((index) => index >= 0).map((index) => names.names[sequence.tokens[index]]).join(' ');
      const layers = periods[s].find(({ start, end }) => start <= occurrence.first && occurrence.first < end);
      add(pattern?.fusion, pattern, phaseOf(occurrence, phases[s], pattern?.fusion.family ?? ''), chain, occurrenceOf(sequence, occurrence, layers));
    }
  };
  sequences.forEach((sequence, s) => {
    for (const occurrence of recognise(sequence.tokens, patterns, names)) {
      taken[s].fill(1, occurrence.first, occurrence.last + 1);
      addChain(s, occurrence);
    }
  });
  const steps = options.step === undefined ? Math.max(1, rank.steps.length) : 1;
  for (const { fusion, run, phase } of findWastes(rank, { sequences, names, taken, phases, fusions })) {
    if (inStep(run.events[0])) {
      add(fusion, undefined, phase, run.chain, { own: Uint32Array.from(run.events), columns: Int32Array.from(run.events), terms: run.events, stallNs: run.stallNs });
    }
  }
  sequences.forEach((sequence, s) => {
    unknownChains(sequence.tokens, names, taken[s], UNKNOWN_MINIMUM).forEach((group) => group.forEach((occurrence) => addChain(s, occurrence)));
  });
  return [...groups.values()]
    .filter((group) => group.occurrences.length / steps >= (group.fusion === undefined ? UNKNOWN_MINIMUM : group.fusion.minimumPerStep ?? 1))
    .map((group) => summarise(rank, group, steps, communication))
    .sort((a, b) => b.recoverable.deviceNs[1] - a.recoverable.deviceNs[1] || b.totalNs - a.totalNs);
}

interface GroupOccurrence {
  /** Device events in order, helpers between them included. */
  readonly own: Uint32Array;
  /** Those shown, one for each kernel of the chain; groups have equally many. */
  readonly columns: Int32Array;
  /** For each column the token of the pattern it stands for. */
  readonly terms: ArrayLike<number>;
  readonly stallNs?: number | undefined;
  /** The stretch of repeated layers it lies in. */
  readonly layers?: Period | undefined;
}

interface Group {
  readonly fusion: Fusion | undefined;
  readonly pattern: ChainPattern | undefined;
  readonly phase: Phase;
  readonly chain: string;
  readonly occurrences: GroupOccurrence[];
}

function occurrenceOf({ order, positions }: KernelSequence, { first, last, matched }: Occurrence, layers: Period | undefined): GroupOccurrence {
  const terms = Int32Array.from([...matched].map((index, i) => (index >= 0 ? i : -1)).filter((i) => i >= 0));
  return { own: order.slice(positions[first], positions[last] + 1), columns: Int32Array.from(terms, (i) => order[positions[matched[i]]]), terms, layers };
}

/** A forward chain found in the backward pass is recompute: no operator of its own runs there. */
function phaseOf(occurrence: Occurrence, phases: Uint8Array, family: string): Phase {
  const phase = PHASES[phases[occurrence.first]] ?? 'unknown';
  if (family === 'optimizer') {
    return 'optimizer';
  }
  // A loss computed in chunks runs between its own backward kernels, yet only once.
  if (family === 'loss' && phase === 'backward') {
    return 'forward';
  }
  return phase === 'backward' && occurrence.pattern >= 0 ? 'recompute' : phase;
}

function summarise(rank: RankData, group: Group, steps: number, communication: Intervals): Fingerprint {
  const { deviceEvents: events, strings } = rank;
  const [first] = group.occurrences;
  const width = Math.min(...group.occurrences.map(({ columns }) => columns.length));
  const sums = new Float64Array(width);
  const timed = new Uint32Array(width);
  let total = 0;
  let gap = 0;
  let exposed = 0;
  let longest = 0;
  let stall = NaN;
  const starts: number[] = [];
  for (const { own, columns, stallNs } of group.occurrences) {
    let end = NaN;
    let sum = 0;
    let most = 0;
    for (const event of own) {
      const duration = events.durationNs[event];
      if (!Number.isNaN(duration)) {
        sum += duration;
        most = Math.max(most, duration);
      }
      if (end < events.startNs[event]) {
        gap += events.startNs[event] - end;
      }
      end = events.startNs[event] + (Number.isNaN(duration) ? 0 : duration);
    }
    for (let column = 0; column < width; column++) {
      const duration = events.durationNs[columns[column]];
      if (!Number.isNaN(duration)) {
        sums[column] += duration;
        timed[column]++;
      }
    }
    total += sum;
    longest += most;
    exposed += sum * (1 - coveredShare(communication, events.startNs[own[0]], end));
    starts.push(events.startNs[own[0]]);
    if (stallNs !== undefined && !Number.isNaN(stallNs)) {
      stall = (Number.isNaN(stall) ? 0 : stall) + stallNs;
    }
  }
  const count = group.occurrences.length;
  const kernels = Array.from(first.columns.subarray(0, width), (event, column): ChainKernel => ({
    name: strings.get(events.name[event]), type: strings.get(events.type[event]), family: FAMILIES[events.family[event]] ?? 'other', meanNs: timed[column] === 0 ? NaN : sums[column] / timed[column], term: group.pattern?.tokens[first.terms[column]]?.term ?? '',
  }));
  return {
    id: hash(`${group.fusion?.id ?? ''}|${group.phase}|${group.chain}`), fusion: group.fusion, form: group.pattern?.form ?? '', chain: group.chain, phase: group.phase,
    kernels, occurrences: count, perStep: count / steps, perLayer: perLayer(group.occurrences), meanNs: total / count, totalNs: total, periodNs: medianDistance(starts), gapNs: gap, stallNs: stall,
    recoverable: recoverable({ occurrences: count, meanNs: total / count, longestNs: group.fusion?.find === undefined ? longest / count : 0, exposedShare: total === 0 ? 0 : exposed / total, gapNs: gap, mayRemain: group.fusion?.find !== undefined }),
    events: group.occurrences.map(({ own }) => own),
  };
}

/** From the stretch with the most occurrences, if these are more than chance. */
function perLayer(occurrences: readonly GroupOccurrence[]): number {
  const counts = new Map<Period, number>();
  for (const { layers } of occurrences) {
    if (layers !== undefined) {
      counts.set(layers, (counts.get(layers) ?? 0) + 1);
    }
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  return most === undefined || most[1] < 3 ? NaN : most[1] / most[0].repeats;
}

function medianDistance(starts: number[]): number {
  starts.sort((a, b) => a - b);
  const distances = starts.slice(1).map((start, i) => start - starts[i]).sort((a, b) => a - b);
  return distances.length === 0 ? NaN : distances[distances.length >> 1];
}

/** FNV-1a, in base 36: short, stable, and the same in every language. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  }
  return (value >>> 0).toString(36).padStart(7, '0');
}
