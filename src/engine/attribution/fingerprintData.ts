import type { Attribution, FingerprintData, FingerprintEntry, LineCost } from '../../protocol/fingerprints';
import { EventKind, type RankData } from '../profile/columns';
import type { OperatorGraph } from '../python/operatorGraph';
import type { SourceIndex } from '../python/sourceIndex';
import type { ExplainedFingerprint, Explanation } from './explain';

/** An explanation as plain data. */
export function fingerprintData(rank: RankData, explanation: Explanation, sources: SourceIndex | undefined): FingerprintData {
  const { alignment } = explanation;
  return {
    fingerprints: explanation.fingerprints.map((entry) => fingerprintEntry(rank, entry)),
    lines: lineCosts(rank, explanation),
    attribution: {
      locatedShare: locatedShare(rank, explanation),
      alignment: alignment === undefined ? null
        : 'reason' in alignment ? alignment.reason
        : { file: alignment.candidate.scope.file, function: alignment.candidate.graph.root.name, confidence: alignment.confidence, equals: alignment.equals.map((candidate) => candidate.scope.file), holeShare: alignment.holeShare },
      stacks: rank.coverage.pythonFrames || rank.coverage.callStacks ? 'recorded' : /^(1|true)$/i.test(rank.facts.with_stack ?? '') ? 'empty' : 'none',
      carried: explanation.carried ?? null,
      holes: alignment === undefined || 'reason' in alignment ? [] : holesByFile(alignment.candidate.graph),
      files: sources?.files ?? 0,
      capped: sources?.capped ?? false,
      ambiguous: [...explanation.ambiguous].map(([recorded, candidates]) => ({ recorded, candidates })),
    },
  };
}

/** Without a device the operators of the CPU stand for kernels (`links/hostWork`). */
const unitOf = ({ backend }: RankData): Pick<LineCost, 'unit'> => (backend === 'cpu' ? { unit: 'operator' } : {});

const us = (ns: number): number => Math.round(ns) / 1000;
const orNull = (ns: number): number | null => (Number.isNaN(ns) ? null : us(ns));

function fingerprintEntry(rank: RankData, { fingerprint, sources }: ExplainedFingerprint): FingerprintEntry {
  const { deviceEvents: events } = rank;
  const [first] = fingerprint.events;
  const last = first[first.length - 1];
  const { recoverable } = fingerprint;
  return {
    id: fingerprint.id, fusion: fingerprint.fusion?.id ?? null, title: fingerprint.fusion?.title ?? fingerprint.chain, kind: fingerprint.fusion?.kind ?? 'unknown', form: fingerprint.form, phase: fingerprint.phase,
    kernels: fingerprint.kernels.map((kernel) => ({ name: kernel.name, type: kernel.type, family: kernel.family, meanUs: orNull(kernel.meanNs), term: kernel.term })), ...unitOf(rank),
    occurrences: fingerprint.occurrences, perStep: fingerprint.perStep, perLayer: Number.isNaN(fingerprint.perLayer) ? null : fingerprint.perLayer, meanUs: us(fingerprint.meanNs), totalUs: us(fingerprint.totalNs), periodUs: orNull(fingerprint.periodNs), gapUs: us(fingerprint.gapNs), stallUs: orNull(fingerprint.stallNs),
    recoverableDeviceUs: [us(recoverable.deviceNs[0]), us(recoverable.deviceNs[1])], recoverableStepUs: [us(recoverable.stepNs[0]), us(recoverable.stepNs[1])],
    first: { startNs: events.startNs[first[0]], endNs: events.startNs[last] + (Number.isNaN(events.durationNs[last]) ? 0 : events.durationNs[last]), event: first[0] },
    source: sources,
  };
}

/** Operators and holes of a graph by the file they stand in, most holes first. */
function holesByFile(graph: OperatorGraph): Attribution['holes'] {
  const files = new Map<string, { file: string; operators: number; holes: number }>();
  for (const { op, place } of graph.nodes) {
    if (NO_OPERATOR.has(op)) {
      continue;
    }
    const entry = files.get(place.file) ?? { file: place.file, operators: 0, holes: 0 };
    files.set(place.file, entry);
    entry.operators++;
    entry.holes += op === 'hole' ? 1 : 0;
  }
  return [...files.values()].sort((a, b) => b.holes - a.holes);
}

/** Nodes that launch nothing by their nature. */
const NO_OPERATOR: ReadonlySet<string> = new Set(['input', 'parameter', 'phi', 'shape', 'view']);

/** Kernel time by the line its expression starts on. */
function lineCosts(rank: RankData, { origins, originOf }: Explanation): readonly LineCost[] {
  const { deviceEvents: events } = rank;
  const costs = new Map<string, { file: string; line: number; kernels: number; totalNs: number; backwardNs: number; method: LineCost['method'] }>();
  for (let event = 0; event < events.count; event++) {
    const origin = origins[originOf[event]];
    const duration = events.durationNs[event];
    if (origin === undefined || Number.isNaN(duration)) {
      continue;
    }
    const key = `${origin.file}:${origin.startLine}`;
    const cost = costs.get(key) ?? { file: origin.file, line: origin.startLine, kernels: 0, totalNs: 0, backwardNs: 0, method: origin.method };
    costs.set(key, cost);
    cost.kernels++;
    cost.totalNs += duration;
    cost.backwardNs += origin.backward ? duration : 0;
  }
  return [...costs.values()].sort((a, b) => b.totalNs - a.totalNs).map(({ totalNs, backwardNs, ...cost }) => ({ ...cost, ...unitOf(rank), totalUs: us(totalNs), backwardUs: us(backwardNs) }));
}

function locatedShare(rank: RankData, { originOf }: Explanation): number {
  const { deviceEvents: events } = rank;
  let located = 0;
  let all = 0;
  for (let event = 0; event < events.count; event++) {
    const duration = events.durationNs[event];
    if (events.kind[event] === EventKind.Compute && !Number.isNaN(duration)) {
      all += duration;
      located += originOf[event] >= 0 ? duration : 0;
    }
  }
  return all === 0 ? 0 : located / all;
}
