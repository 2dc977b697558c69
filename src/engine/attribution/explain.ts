/**
 * Everything known about where a rank's kernels come from: fingerprints with their source, and for every kernel its phase,
 * its chain and its statement. Stacks recorded in the profile come first; alignment with the workspace fills what they leave.
 */
import type { Parser } from 'web-tree-sitter';
import type { FingerprintSourceEntry, SourceHints } from '../../protocol/fingerprints';
import { fingerprints, type Fingerprint } from '../chains/fingerprints';
import { parseFrame, type FrameText } from '../links/frames';
import { callStackOf, type KernelSource } from '../links/source';
import { EventKind, type RankData } from '../profile/columns';
import type { OperatorGraph, OperatorNode } from '../python/operatorGraph';
import { LineIndex } from '../python/lineIndex';
import type { SourceIndex } from '../python/sourceIndex';
import { FUSIONS } from '../fusions';
import type { Fusion } from '../fusions/fusion';
import { matchFusions } from '../fusions/matchGraph';
import { CandidateIndex, catalogueForms } from './candidates';
import { carryOver } from './carry';
import { compiledRange, ThroughReader, type CompiledRange, type Through } from './launchedThrough';
import { locate, type Abstained, type Located } from './locate';
import { PathMapping, type PathMap } from './pathMapping';
import { refineCalls } from './refineStacks';
import { RankingMemory } from './rankingMemory';
import { HintOrder } from './sourceHints';

/** A place in source that launches kernels. Lines from 1, columns from 0 in UTF-16. */
export interface KernelOrigin {
  readonly file: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly startColumn: number;
  readonly endColumn: number;
  readonly function: string;
  readonly method: 'stack' | 'alignment' | 'carried';
  /** Not launched one by one from there: by the replay of a recorded graph, or by what the compiler made of the place. */
  readonly through?: Through;
  readonly confidence: number;
  /** Other places with the same body. */
  readonly equals: number;
  /** The kernel is the backward of this place. */
  readonly backward: boolean;
  /** The file is not what ran any more: the line is where the function stands now. */
  readonly changed?: true;
}

export interface ExplainedFingerprint {
  readonly fingerprint: Fingerprint;
  readonly sources: readonly FingerprintSourceEntry[];
}

export interface Explanation {
  readonly fingerprints: readonly ExplainedFingerprint[];
  /** Index into `fingerprints` of the chain a device event belongs to, -1 none. */
  readonly chainOf: Int32Array;
  readonly origins: readonly KernelOrigin[];
  /** Index into `origins` for each device event, -1 where we abstain. */
  readonly originOf: Int32Array;
  /** How alignment went; undefined when no source was given. */
  readonly alignment: Located | Abstained | undefined;
  /** Recorded files that several files here fit equally. */
  readonly ambiguous: ReadonlyMap<string, readonly string[]>;
  /** How much the capture with stacks has in common with this one, 0 to 1, and whether that was enough; undefined when none was given. */
  readonly carried: { readonly share: number; readonly enough: boolean } | undefined;
}

export interface ExplainOptions {
  readonly parser: Parser;
  readonly sources?: SourceIndex;
  readonly pathMap?: PathMap;
  readonly step?: number;
  /** Fusions of the workspace's own. */
  readonly fusions?: readonly Fusion[];
  /** The same code, captured with Python stacks: what it says is carried over where both captures run the same. */
  readonly stacks?: RankData;
  readonly hints?: SourceHints;
}

const candidateCache = new WeakMap<SourceIndex, CandidateIndex>();
const rankingCache = new WeakMap<SourceIndex, RankingMemory>();

function rankingsIn(index: SourceIndex): RankingMemory {
  const known = rankingCache.get(index) ?? new RankingMemory();
  rankingCache.set(index, known);
  return known;
}

/** Lowered once per index: an edit makes a new index. */
function candidatesIn(index: SourceIndex): CandidateIndex {
  let candidates = candidateCache.get(index);
  if (candidates === undefined) {
    candidates = new CandidateIndex(index.program, index.scopes);
    candidateCache.set(index, candidates);
  }
  return candidates;
}

/**
 * A chain whose fusion stands in one function of the workspace only needs no alignment: one candidate is reachable. Less
 * sure than a path through the whole model, and marked so.
 */
const UNIQUE_MATCH_CONFIDENCE = 0.6;

function uniqueMatches(index: SourceIndex, parser: Parser, added?: readonly Fusion[]): ReadonlyMap<string, FingerprintSourceEntry> {
  const places = new Map<string, Map<string, FingerprintSourceEntry>>();
  const forms = catalogueForms(parser, added);
  for (const { graph, scope } of candidatesIn(index).all() ?? []) {
    let counted: LineIndex | undefined;
    for (const match of matchFusions(graph, forms)) {
      const root = graph.nodes[match.root];
      if (root.place.file !== scope.file) {
        continue;
      }
      const lines = (counted ??= new LineIndex(scope.text));
      const own = match.nodes.map((node) => graph.nodes[node]).filter((node) => node.place.file === scope.file && node.call === root.call);
      const startLine = Math.min(...own.map((node) => lines.line(node.statement.start)));
      const endLine = Math.max(...own.map((node) => lines.line(node.statement.end - 1)));
      const known = places.get(match.fusion.id) ?? new Map<string, FingerprintSourceEntry>();
      places.set(match.fusion.id, known);
      known.set(`${scope.file}:${startLine}`, {
        file: scope.file, startLine, endLine, function: root.call < 0 ? graph.root.name : graph.calls[root.call].callee, method: 'alignment', confidence: UNIQUE_MATCH_CONFIDENCE, equals: [], occurrences: 0,
        kernels: own.map((node) => ({ line: lines.line(node.place.start), startColumn: lines.column(node.place.start), endLine: lines.line(node.place.end - 1), endColumn: lines.column(node.place.end) })),
      });
    }
  }
  const unique = new Map<string, FingerprintSourceEntry>();
  for (const [fusion, found] of places) {
    const [only] = found.values();
    if (found.size === 1) {
      unique.set(fusion, only);
    }
  }
  return unique;
}

export function explain(rank: RankData, options: ExplainOptions): Explanation {
  const found = fingerprints(rank, options.parser, { fusions: [...options.fusions ?? [], ...FUSIONS], ...(options.step === undefined ? {} : { step: options.step }) });
  const origins = new OriginTable(rank.deviceEvents.count);
  const paths = options.sources === undefined ? undefined : new PathMapping(options.sources, options.pathMap);
  if (rank.coverage.pythonFrames || rank.coverage.callStacks) {
    fromStacks(rank, origins, options.sources, paths);
  }
  const carried = options.stacks === undefined ? undefined : fromOtherCapture(rank, options.stacks, origins, options.sources, paths);
  const alignment = options.sources === undefined ? undefined : locate(rank, candidatesIn(options.sources), options.parser, { memory: rankingsIn(options.sources), ...(options.hints === undefined ? {} : { hints: new HintOrder(options.sources.program, options.hints) }) });
  if (alignment !== undefined && 'candidate' in alignment && options.sources !== undefined) {
    fromAlignment(alignment, options.sources, origins);
  }
  const chainOf = new Int32Array(rank.deviceEvents.count).fill(-1);
  found.forEach((fingerprint, index) => fingerprint.events.forEach((events) => events.forEach((event) => { chainOf[event] = index; })));
  const equals = alignment !== undefined && 'candidate' in alignment ? alignment.equals.map((candidate) => candidate.scope.file) : [];
  const explained = found.map((fingerprint): ExplainedFingerprint => ({ fingerprint, sources: sourcesOf(fingerprint, origins, equals) }));
  const alone = options.sources !== undefined && explained.some((entry) => entry.sources.length === 0) ? uniqueMatches(options.sources, options.parser, options.fusions) : new Map<string, FingerprintSourceEntry>();
  return { fingerprints: explained.map((entry) => (entry.sources.length > 0 ? entry : withUnique(entry, alone))), chainOf, origins: origins.list, originOf: origins.of, alignment, ambiguous: paths?.ambiguous() ?? new Map<string, readonly string[]>(), carried };
}

function withUnique(entry: ExplainedFingerprint, unique: ReadonlyMap<string, FingerprintSourceEntry>): ExplainedFingerprint {
  const source = entry.fingerprint.fusion === undefined ? undefined : unique.get(entry.fingerprint.fusion.id);
  return source === undefined ? entry : { ...entry, sources: [{ ...source, occurrences: entry.fingerprint.occurrences }] };
}

/** Origins by their place, so that a million kernels share few objects. */
class OriginTable {
  readonly list: KernelOrigin[] = [];
  readonly of: Int32Array;
  private readonly known = new Map<string, number>();

  constructor(events: number) {
    this.of = new Int32Array(events).fill(-1);
  }

  set(event: number, origin: KernelOrigin): void {
    const key = `${origin.file}:${origin.startLine}:${origin.startColumn}:${origin.endLine}:${origin.endColumn}:${origin.function}:${origin.method}:${origin.through ?? ''}:${origin.backward}`;
    let index = this.known.get(key);
    if (index === undefined) {
      index = this.list.length;
      this.list.push(origin);
      this.known.set(key, index);
    }
    this.of[event] = index;
  }
}

/**
 * The innermost user frame. Its line is where the function is defined, or the line being run where the profiler knew it;
 * with the source at hand the operator graph of the function gives the expression.
 */
function fromStacks(rank: RankData, origins: OriginTable, index: SourceIndex | undefined, paths: PathMapping | undefined): void {
  const { deviceEvents: events, hostEvents: host, strings } = rank;
  const calls = new Map<number, { readonly frame: FrameText; readonly events: number[] }>();
  const launched = new ThroughReader(rank);
  const ranges = new Map<string, CompiledRange | undefined>();
  const rangeOf = (region: KernelSource, sources: SourceIndex, mapping: PathMapping): CompiledRange | undefined => {
    const key = `${region.innermostUser} ${region.modules[region.modules.length - 1] ?? ''}`;
    if (!ranges.has(key)) {
      ranges.set(key, compiledRange(rank, region, sources.scopes, mapping));
    }
    return ranges.get(key);
  };
  for (let event = 0; event < events.count; event++) {
    const { through, source, region } = launched.of(event);
    const range = region === undefined || index === undefined || paths === undefined ? undefined : rangeOf(region, index, paths);
    if (range !== undefined) {
      origins.set(event, { ...range, startColumn: 0, endColumn: 0, method: 'stack', through: 'compiled', confidence: 1, equals: 0, backward: region?.via === 'forward' });
      continue;
    }
    const row = source === undefined ? -1 : source.innermostUser >= 0 ? source.innermostUser : source.frames[source.frames.length - 1] ?? -1;
    const stack = row < 0 || rank.coverage.callStacks ? callStackOf(rank, event) : undefined;
    const text = row >= 0 ? strings.get(host.name[row]) : stack?.innermostUser ?? stack?.frames[0];
    const entered = text === undefined ? undefined : parseFrame(text);
    // A frame names the line of the `def`; a `Call stack` of the same function names the line that ran.
    const running = row < 0 || stack?.innermostUser === undefined ? undefined : parseFrame(stack.innermostUser);
    const frame = running !== undefined && running.function === entered?.function && running.file === entered.file ? running : entered;
    if (frame !== undefined) {
      const here = recordedPlace(frame, paths, frame !== entered);
      origins.set(event, { ...here, endLine: here.startLine, startColumn: 0, endColumn: 0, function: frame.function, method: 'stack', confidence: 1, equals: 0, backward: source?.via === 'forward', ...(through === undefined ? {} : { through }) });
      if (through === undefined && frame === entered && row >= 0 && source?.via === 'direct' && events.kind[event] === EventKind.Compute && !Number.isNaN(events.startNs[event])) {
        const call = calls.get(row) ?? { frame, events: [] };
        calls.set(row, call);
        call.events.push(event);
      }
    }
  }
  if (index === undefined || paths === undefined || calls.size === 0) {
    return;
  }
  const texts = new LineIndexes(index);
  for (const { event, node, graph } of refineCalls(rank, index, paths, calls)) {
    origins.set(event, { ...placeOf(node, texts), function: node.call < 0 ? graph.root.name : graph.calls[node.call].callee, method: 'stack', confidence: 1, equals: 0, backward: false });
  }
}

/** What the stacks of another capture say, for the kernels that run in both. Its own attribution stays out: only stacks are carried. */
function fromOtherCapture(rank: RankData, other: RankData, origins: OriginTable, index: SourceIndex | undefined, paths: PathMapping | undefined): Explanation['carried'] {
  const recorded = new OriginTable(other.deviceEvents.count);
  fromStacks(other, recorded, index, paths);
  const found = carryOver(rank, other);
  if (!('eventOf' in found)) {
    return { share: found.share, enough: false };
  }
  for (let event = 0; event < rank.deviceEvents.count; event++) {
    const origin = found.eventOf[event] < 0 || origins.of[event] >= 0 ? undefined : recorded.list[recorded.of[found.eventOf[event]]];
    if (origin !== undefined) {
      origins.set(event, { ...origin, method: 'carried', confidence: found.share });
    }
  }
  return { share: found.share, enough: true };
}

/** A frame's place in the workspace, where its file is found there; else as recorded. */
function recordedPlace(frame: FrameText, paths: PathMapping | undefined, running: boolean): Pick<KernelOrigin, 'file' | 'startLine' | 'changed'> {
  const place = paths?.place(frame, running);
  switch (place?.kind) {
    case 'found': return { file: place.scope.file, startLine: frame.line };
    case 'changed': return { file: place.scope.file, startLine: place.line, changed: true };
    case 'ambiguous': case 'elsewhere': case undefined: return { file: frame.file, startLine: frame.line };
  }
}

/** Line tables of indexed files, made when first wanted. */
class LineIndexes {
  private readonly known = new Map<string, LineIndex>();

  constructor(private readonly index: SourceIndex) {}

  of(file: string): LineIndex {
    let lines = this.known.get(file);
    if (lines === undefined) {
      lines = new LineIndex(this.index.scopes.find((scope) => scope.file === file)?.text ?? '');
      this.known.set(file, lines);
    }
    return lines;
  }
}

function placeOf({ place }: OperatorNode, lines: LineIndexes): Pick<KernelOrigin, 'file' | 'startLine' | 'endLine' | 'startColumn' | 'endColumn'> {
  const table = lines.of(place.file);
  return { file: place.file, startLine: table.line(place.start), endLine: table.line(Math.max(place.start, place.end - 1)), startColumn: table.column(place.start), endColumn: table.column(place.end) };
}

function fromAlignment(located: Located, index: SourceIndex, origins: OriginTable): void {
  const { graph } = located.candidate;
  const lines = new LineIndexes(index);
  const made = new Map<number, KernelOrigin>();
  for (let event = 0; event < located.nodeOf.length; event++) {
    const node = located.nodeOf[event];
    if (node < 0 || origins.of[event] >= 0 || graph.nodes[node].op === 'hole') {
      continue;
    }
    const backward = located.side[event] === 2;
    const key = node * 2 + (backward ? 1 : 0);
    let origin = made.get(key);
    if (origin === undefined) {
      origin = originOf(graph.nodes[node], graph, lines, located, backward);
      made.set(key, origin);
    }
    origins.set(event, origin);
  }
}

function originOf(node: OperatorNode, graph: OperatorGraph, lines: LineIndexes, located: Located, backward: boolean): KernelOrigin {
  return { ...placeOf(node, lines), function: node.call < 0 ? graph.root.name : graph.calls[node.call].callee, method: 'alignment', confidence: located.confidence, equals: located.equals.length, backward };
}

/** A chain may run from several functions (a norm class and a query norm); one that explains less than a tenth is noise. */
const MINIMUM_SHARE = 0.1;

function sourcesOf(fingerprint: Fingerprint, origins: OriginTable, equals: readonly string[]): readonly FingerprintSourceEntry[] {
  const groups = new Map<string, { readonly places: Map<number, number>; occurrences: number }>();
  for (const events of fingerprint.events) {
    const counts = new Map<string, number>();
    events.forEach((event) => {
      const origin = origins.list[origins.of[event]];
      if (origin !== undefined) {
        const key = `${origin.file}\0${origin.function}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    });
    const [best] = [...counts].sort((a, b) => b[1] - a[1]);
    if (best === undefined || best[1] * 2 < events.length) {
      continue;
    }
    const group = groups.get(best[0]) ?? { places: new Map<number, number>(), occurrences: 0 };
    groups.set(best[0], group);
    group.occurrences++;
    events.forEach((event) => {
      const index = origins.of[event];
      const origin = origins.list[index];
      if (origin !== undefined && `${origin.file}\0${origin.function}` === best[0]) {
        group.places.set(index, (group.places.get(index) ?? 0) + 1);
      }
    });
  }
  return [...groups.values()].filter((group) => group.occurrences >= fingerprint.occurrences * MINIMUM_SHARE).sort((a, b) => b.occurrences - a.occurrences).flatMap((group) => {
    const places = [...group.places].filter(([, count]) => count * 2 >= group.occurrences).map(([index]) => origins.list[index]).sort((a, b) => a.startLine - b.startLine || a.startColumn - b.startColumn);
    const [first] = places;
    // Each kernel of it comes from several places in turn: none can be shown for it.
    return first === undefined ? [] : [{
      file: first.file, startLine: first.startLine, endLine: Math.max(...places.map((place) => place.endLine)), function: first.function, method: first.method, confidence: first.confidence, equals: first.method === 'alignment' ? equals : [], occurrences: group.occurrences,
      kernels: places.map((place) => ({ line: place.startLine, startColumn: place.startColumn, endLine: place.endLine, endColumn: place.endColumn })),
      ...(first.changed === true ? { changed: true } : {}),
      ...(first.through === undefined ? {} : { through: first.through }),
    }];
  });
}
