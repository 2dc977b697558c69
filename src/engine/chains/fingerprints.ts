/**
 * Fingerprints of a rank: repeated kernel chains, recognised against the catalogue or kept as named unknowns, each with its
 * phase, its kernels, how often it runs and what it costs.
 */
import type { Parser } from 'web-tree-sitter';
import { FUSIONS } from '../fusions';
import type { Fusion } from '../fusions/fusion';
import type { RankData } from '../profile/columns';
import { coveredShare, type Intervals } from '../analysis/intervals';
import { busyUnions, selectEvents } from '../analysis/selection';
import { kernelSequences, TokenNames, type KernelSequence } from './kernelSequence';
import { chainPatterns, type ChainPattern } from './patterns';
import { PHASES, phasesOf, type Phase } from './phases';
import { recognise, type Occurrence } from './recognise';
import { recoverable, type Recoverable } from './recoverable';
import { unknownChains } from './unknownChains';

export interface ChainKernel {
  readonly name: string;
  readonly type: string;
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
  readonly meanNs: number;
  readonly totalNs: number;
  /** Median distance between starts of neighbouring occurrences, NaN for a single one. */
  readonly periodNs: number;
  readonly gapNs: number;
  readonly recoverable: Recoverable;
  /** For each occurrence its device event indices, in order. */
  readonly events: readonly Uint32Array[];
}

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
  const patterns = chainPatterns(parser, options.fusions ?? FUSIONS, rank.backend, names);
  const { communication } = busyUnions(rank.deviceEvents, selectEvents(rank.deviceEvents));
  const groups = new Map<string, Group>();
  for (const sequence of sequences) {
    const known = recognise(sequence.tokens, patterns, names).filter((occurrence) => inStep(rank, sequence, occurrence, options.step));
    const phases = phasesOf(sequence.tokens, names);
    for (const occurrence of known) {
      const pattern = patterns[occurrence.pattern];
      add(groups, sequence, occurrence, pattern, phaseOf(occurrence, phases, pattern.fusion.family), names);
    }
    for (const group of unknownChains(sequence.tokens, names, known, UNKNOWN_MINIMUM)) {
      for (const occurrence of group) {
        if (inStep(rank, sequence, occurrence, options.step)) {
          add(groups, sequence, occurrence, undefined, phaseOf(occurrence, phases, ''), names);
        }
      }
    }
  }
  const steps = options.step === undefined ? Math.max(1, rank.steps.length) : 1;
  return [...groups.values()]
    .filter((group) => group.occurrences.length / steps >= (group.pattern === undefined ? UNKNOWN_MINIMUM : group.pattern.fusion.minimumPerStep ?? 1))
    .map((group) => summarise(rank, group, steps, communication))
    .sort((a, b) => b.recoverable.deviceNs[1] - a.recoverable.deviceNs[1] || b.totalNs - a.totalNs);
}

interface Group {
  readonly pattern: ChainPattern | undefined;
  readonly phase: Phase;
  readonly chain: string;
  readonly occurrences: { readonly sequence: KernelSequence; readonly occurrence: Occurrence }[];
}

function add(groups: Map<string, Group>, sequence: KernelSequence, occurrence: Occurrence, pattern: ChainPattern | undefined, phase: Phase, names: TokenNames): void {
  const chain = [...occurrence.matched].filter((index) => index >= 0).map((index) => names.names[sequence.tokens[index]]).join(' ');
  const key = `${pattern?.fusion.id ?? ''}|${phase}|${chain}`;
  const group = groups.get(key);
  if (group === undefined) {
    groups.set(key, { pattern, phase, chain, occurrences: [{ sequence, occurrence }] });
  } else {
    group.occurrences.push({ sequence, occurrence });
  }
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

function inStep(rank: RankData, sequence: KernelSequence, occurrence: Occurrence, step: number | undefined): boolean {
  return step === undefined || rank.deviceEvents.step[sequence.order[sequence.positions[occurrence.first]]] === step;
}

function summarise(rank: RankData, group: Group, steps: number, communication: Intervals): Fingerprint {
  const { deviceEvents: events, strings } = rank;
  const first = group.occurrences[0];
  const shown = [...first.occurrence.matched].map((index, i) => ({ index, i })).filter(({ index }) => index >= 0);
  const sums = shown.map(() => 0);
  const timed = shown.map(() => 0);
  let total = 0;
  let gap = 0;
  let exposed = 0;
  let longest = 0;
  const starts: number[] = [];
  const occurrenceEvents: Uint32Array[] = [];
  for (const { sequence, occurrence } of group.occurrences) {
    // Helpers launched between the chain's kernels belong to it.
    const own = sequence.order.slice(sequence.positions[occurrence.first], sequence.positions[occurrence.last] + 1);
    occurrenceEvents.push(own);
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
    let column = 0;
    for (const index of occurrence.matched) {
      if (index >= 0) {
        const duration = events.durationNs[sequence.order[sequence.positions[index]]];
        if (!Number.isNaN(duration)) {
          sums[column] += duration;
          timed[column]++;
        }
        column++;
      }
    }
    total += sum;
    longest += most;
    exposed += sum * (1 - coveredShare(communication, events.startNs[own[0]], end));
    starts.push(events.startNs[own[0]]);
  }
  const count = group.occurrences.length;
  const kernels = shown.map(({ index, i }, column): ChainKernel => {
    const event = first.sequence.order[first.sequence.positions[index]];
    return { name: strings.get(events.name[event]), type: strings.get(events.type[event]), meanNs: timed[column] === 0 ? NaN : sums[column] / timed[column], term: group.pattern?.tokens[i]?.term ?? '' };
  });
  return {
    id: hash(`${group.pattern?.fusion.id ?? ''}|${group.phase}|${group.chain}`), fusion: group.pattern?.fusion, form: group.pattern?.form ?? '', chain: group.chain, phase: group.phase,
    kernels, occurrences: count, perStep: count / steps, meanNs: total / count, totalNs: total, periodNs: medianDistance(starts), gapNs: gap,
    recoverable: recoverable({ occurrences: count, meanNs: total / count, longestNs: longest / count, exposedShare: total === 0 ? 0 : exposed / total, gapNs: gap }),
    events: occurrenceEvents,
  };
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
