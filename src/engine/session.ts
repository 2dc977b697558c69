/**
 * One open profile: detection, ranks loaded on demand, and every method of the Engine interface over them. The same class
 * runs in the worker, in a child process, in the CLI and in tests.
 */
import type { EngineMethod, EngineParams, EngineProgress, EngineResult, OpenOptions, Problem, ProfileSummary, RankSummary } from '../protocol/engine';
import type { FingerprintData } from '../protocol/fingerprints';
import { isLoss } from '../protocol/losses';
import { visibleText } from '../protocol/visibleText';
import type { Parser } from 'web-tree-sitter';
import type { FilePort, SpillStore } from './port';
import type { RankData } from './profile/columns';
import { asReason, Cancelled, ProblemList, UnreadableInput } from './profile/problems';
import { RankPool } from './profile/rankPool';
import { placedProblems } from './readers/placedProblems';
import { rankFiles } from './readers/rankFiles';
import type { RankSource } from './readers/reader';
import { fingerprintData } from './attribution/fingerprintData';
import { locatedDetail } from './attribution/locatedDetail';
import { Explainer, type ExplainRequest, type Explained } from './explainer';
import { isHostWork, workOf } from './links/hostWork';
import { compareDigests } from './compare/compareDigests';
import { compareWindow } from './compare/compareWindow';
import { rankDigest } from './compare/rankDigest';
import { detectProfile, type DetectedProfile } from './detect';
import { analyzeReport, type ReportPart } from './analysis/analyzeReport';
import { collectiveEnds } from './analysis/clockOffsets';
import { overview } from './analysis/overview';
import { rankReport } from './analysis/rankReport';
import { isKernel } from './analysis/selection';
import { chainShapes, occurrenceFrom } from './verify/chainShapes';
import { assignFamilies, type FamilyRule } from './analysis/families';
import { timelineMethods, type TimelineMethod } from './timeline/methods';

/** Where columns are kept between sessions; both calls may fail silently: a cache never decides whether a profile opens. */
export interface ColumnCache {
  load(source: RankSource): Promise<{ readonly data: RankData; readonly problems: readonly Problem[] } | undefined>;
  /** Gives a problem when, for the first time, nothing can be kept (disk full). */
  store(source: RankSource, data: RankData, problems: readonly Problem[]): Promise<Problem | undefined>;
}

export interface EngineEnvironment {
  readonly port: FilePort;
  readonly cache?: ColumnCache;
  /** Opens a spill store for the arguments of a compressed trace; undefined when nothing can be written. */
  readonly spill?: (source: RankSource) => Promise<{ readonly key: string; readonly store: SpillStore } | undefined>;
  readonly familyRules?: readonly FamilyRule[];
  /** Makes the Python parser, where the host has its WebAssembly; without it chains cannot be recognised. */
  readonly pythonParser?: () => Promise<Parser>;
  /** Loaded ranks beyond this many bytes are dropped, least recently used first. */
  readonly memoryBudgetBytes?: number;
}

export interface SessionCallOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (progress: EngineProgress) => void;
}

export interface LoadedRank {
  readonly source: RankSource;
  readonly data: RankData;
  readonly problems: readonly Problem[];
}

/** One rank of a report, and what it was made from. */
export interface RankPart {
  readonly loaded: LoadedRank;
  readonly part: ReportPart;
  readonly told?: FingerprintData;
  readonly explanation?: Explained['explanation'];
}

/**
 * Arguments of compressed traces smaller than this are streamed again when asked for (well under a second); deflating all
 * of them while reading would cost more than the reading.
 */
const SPILL_FROM = 16 * 1024 * 1024;
const DEFAULT_BUDGET = 2 * 1024 ** 3;

type Handlers = { readonly [M in EngineMethod]: (params: EngineParams<M>, options: SessionCallOptions) => Promise<EngineResult<M>> };

export class EngineSession {
  private detected: DetectedProfile | undefined;
  private readonly pool: RankPool<LoadedRank>;
  /** Summaries stay after columns are dropped, so that the tree keeps what it has shown. */
  private readonly summaries = new Map<string, RankSummary>();
  private readonly handlers: Handlers;
  private readonly explainer: Explainer | undefined;
  /** The profile with stacks that was last asked for. */
  private other: { readonly path: string; readonly session: EngineSession; readonly opened: Promise<ProfileSummary> } | undefined;

  constructor(private readonly environment: EngineEnvironment) {
    this.pool = new RankPool(environment.memoryBudgetBytes ?? DEFAULT_BUDGET);
    this.explainer = environment.pythonParser === undefined ? undefined : new Explainer(environment.port, environment.pythonParser);
    this.handlers = {
      open: (params, options) => this.open(params.path, params.options, options),
      load: async (params, options) => this.summaryOf((await this.rank(params.rank, options)).source),
      rankFiles: ({ rank }) => rankFiles(this.environment.port, this.sourceOf(rank)),
      release: (params) => Promise.resolve(this.pool.delete(params.rank)),
      rankReport: async (params, options) => {
        const loaded = await this.rank(params.rank, options);
        return rankReport(loaded.data, { label: loaded.source.label, ...(params.step === undefined ? {} : { step: params.step }) });
      },
      overview: async (params, options) => {
        const loaded = await this.rank(params.rank, options);
        return overview(loaded.data, { label: loaded.source.label, ...(params.step === undefined ? {} : { step: params.step }) });
      },
      analyze: (params, options) => this.analyze(params, options),
      fingerprints: async (params, options) => {
        const { work, explanation, index } = await this.explain(params.rank, params, options);
        return fingerprintData(work, explanation, index);
      },
      fuse: async (params, options) => {
        if (this.explainer === undefined) {
          throw new UnreadableInput({ code: 'error.no-python-parser' });
        }
        return this.explainer.fuse(params, this.detected?.backend, options.signal);
      },
      chainShapes: async (params, options) => {
        const data = workOf((await this.rank(params.rank, options)).data);
        return chainShapes(data, occurrenceFrom(data, params.event, params.kernels), params.fusion);
      },
      ...this.compareMethods(),
      ...this.timelineHandlers(),
    };
  }

  async call<M extends EngineMethod>(method: M, params: EngineParams<M>, options: SessionCallOptions = {}): Promise<EngineResult<M>> {
    const handler: ((params: EngineParams<M>, options: SessionCallOptions) => Promise<EngineResult<M>>) | undefined = this.handlers[method];
    if (handler === undefined) {
      throw new UnreadableInput({ code: 'error.unknown-method', args: { method } });
    }
    return handler(params, options);
  }

  /** Chains of a rank and, with sources, the lines they come from. */
  async explain(id: string, request: ExplainRequest & { readonly stacks?: string }, options: SessionCallOptions = {}): Promise<Explained & { readonly loaded: LoadedRank; readonly work: RankData }> {
    if (this.explainer === undefined) {
      throw new UnreadableInput({ code: 'error.no-python-parser' });
    }
    const loaded = await this.rank(id, options);
    const stacks = request.stacks === undefined ? undefined : await this.rankWithStacks(request.stacks, loaded, options);
    const work = workOf(loaded.data);
    return { loaded, work, ...(await this.explainer.explain(work, request, options.signal, stacks === undefined ? undefined : workOf(stacks))) };
  }

  /** The rank of a second profile that stands for `loaded`: the same rank, else its only one. */
  private async rankWithStacks(path: string, loaded: LoadedRank, options: SessionCallOptions): Promise<RankData> {
    if (this.other?.path !== path) {
      const session = new EngineSession(this.environment);
      this.other = { path, session, opened: session.open(path, undefined, options) };
    }
    const { session, opened } = this.other;
    const { ranks } = await opened;
    const wanted = loaded.data.rank ?? loaded.source.rank;
    const readable = ranks.filter((rank) => rank.readable);
    const rank = readable.find((one) => one.rank === wanted) ?? (readable.length === 1 ? readable[0] : undefined);
    if (rank === undefined) {
      throw new UnreadableInput({ code: 'error.no-such-rank-in', args: { rank: wanted ?? loaded.source.label, file: path } });
    }
    return (await session.rank(rank.id, options)).data;
  }

  private async open(path: string, openOptions: OpenOptions | undefined, options: SessionCallOptions): Promise<ProfileSummary> {
    this.pool.clear();
    this.summaries.clear();
    this.detected = await detectProfile(this.environment.port, path, { ...openOptions, signal: options.signal });
    return this.profileSummary(this.detected);
  }

  private profileSummary(detected: DetectedProfile): ProfileSummary {
    return {
      path: detected.path,
      name: visibleText(this.environment.port.basename(detected.path)),
      format: detected.format,
      backend: detected.backend,
      ranks: detected.sources.map((source) => this.summaryOf(source)),
      problems: detected.problems,
      alternative: detected.alternative,
    };
  }

  private summaryOf(source: RankSource): RankSummary {
    return this.summaries.get(source.id) ?? {
      id: source.id, label: source.label, rank: source.rank, group: source.group, format: source.format, bytes: source.bytes, readable: source.read !== undefined,
      ...(source.withoutKernels === true ? { withoutKernels: true } : {}),
    };
  }

  /** Every file that the ranks of the open profile are read from. */
  files(): readonly string[] {
    return this.opened().sources.flatMap(({ path, files }) => [path, ...files]);
  }

  private opened(): DetectedProfile {
    if (this.detected === undefined) {
      throw new UnreadableInput({ code: 'error.nothing-open' });
    }
    return this.detected;
  }

  private sourceOf(id: string): RankSource {
    const source = this.opened().sources.find((s) => s.id === id);
    if (source === undefined) {
      throw new UnreadableInput({ code: 'error.no-such-rank', args: { rank: id } });
    }
    return source;
  }

  /** Loads a rank once; callers that ask meanwhile share the same read. A read that fails or is cancelled leaves nothing behind. */
  async rank(id: string, options: SessionCallOptions = {}): Promise<LoadedRank> {
    const source = this.sourceOf(id);
    return this.pool.get(id, () => this.readRank(source, options), (loaded) => rankBytes(loaded.data));
  }

  private async readRank(source: RankSource, options: SessionCallOptions): Promise<LoadedRank> {
    const read = (await this.fromCache(source)) ?? (await this.fromFiles(source, options));
    const loaded = this.opened().sources.length > 1 ? { ...read, problems: placedProblems(read.problems, source) } : read;
    assignFamilies(loaded.data, this.environment.familyRules);
    if (isHostWork(loaded.data)) {
      assignFamilies(workOf(loaded.data), this.environment.familyRules);
    }
    this.summaries.set(source.id, loadedSummary(loaded));
    return loaded;
  }

  private async fromCache(source: RankSource): Promise<LoadedRank | undefined> {
    const cached = await this.environment.cache?.load(source);
    return cached === undefined ? undefined : { source, data: cached.data, problems: cached.problems };
  }

  private async fromFiles(source: RankSource, options: SessionCallOptions): Promise<LoadedRank> {
    const { read } = source;
    if (read === undefined) {
      throw new UnreadableInput({ code: 'error.rank-not-readable', args: { rank: source.label } });
    }
    const problems = new ProblemList();
    const spill = source.bytes < SPILL_FROM ? undefined : await this.environment.spill?.(source);
    const data = await read({ port: this.environment.port, problems, signal: options.signal, progress: options.progress, ...(spill === undefined ? {} : { spill }) });
    const found = problems.toArray();
    const note = await this.environment.cache?.store(source, data, found);
    return { source, data, problems: note === undefined ? found : [...found, note] };
  }

  /** Ranks one after the other, each released as soon as its figures are taken: 64 ranks never sit in memory together. */
  private async analyze(params: EngineParams<'analyze'>, options: SessionCallOptions): Promise<EngineResult<'analyze'>> {
    const detected = this.opened();
    const wanted = detected.sources.filter((source) => source.read !== undefined && (params.ranks === undefined || params.ranks.includes(source.id)));
    const parts: ReportPart[] = [];
    const step = params.step === undefined ? {} : { step: params.step };
    const problems = new ProblemList();
    problems.addAll(detected.problems);
    for (const source of wanted) {
      if (options.signal?.aborted === true) {
        throw new Cancelled();
      }
      const wasLoaded = this.pool.has(source.id);
      try {
        const { loaded, part } = await this.reportPart(source.id, { ...step, ...(params.sources === undefined ? {} : { sources: params.sources }) }, options);
        problems.addAll(loaded.problems);
        parts.push(part);
      } catch (error) {
        if (!(error instanceof UnreadableInput) || wanted.length === 1) {
          throw error;
        }
        // One rank that cannot be read must not hide the others; it is listed with its reason.
        problems.add('rank-unreadable', source.label, { severity: 'error', args: asReason(error.detail) });
      }
      if (!wasLoaded && wanted.length > 1) {
        this.pool.delete(source.id);
      }
    }
    return analyzeReport({ summary: this.profileSummary(detected), parts, problems: problems.toArray() });
  }

  /** What a report holds of one rank: its figures and, where Python can be parsed, its chains with their lines. */
  async reportPart(id: string, request: ExplainRequest & { readonly stacks?: string }, options: SessionCallOptions = {}): Promise<RankPart> {
    const explained = this.explainer === undefined ? undefined : await this.explain(id, request, options);
    const loaded = explained?.loaded ?? (await this.rank(id, options));
    const report = rankReport(loaded.data, { label: loaded.source.label, ...(request.step === undefined ? {} : { step: request.step }) });
    const told = explained === undefined ? undefined : fingerprintData(explained.work, explained.explanation, explained.index);
    const fingerprints = told === undefined ? {} : { fingerprints: told.fingerprints, sources: told.attribution.holes };
    return {
      loaded, part: { summary: this.summaryOf(loaded.source), baseNs: loaded.data.baseNs, report, collectives: collectiveEnds(loaded.data), ...fingerprints },
      ...(told === undefined ? {} : { told }), ...(explained === undefined ? {} : { explanation: explained.explanation }),
    };
  }

  private compareMethods(): Pick<Handlers, 'compareDigest' | 'compareDigests' | 'compareWindow'> {
    return {
      compareDigest: async ({ rank, ...request }, options) => {
        const wasLoaded = this.pool.has(rank);
        const { source, data: read, problems } = await this.rank(rank, options);
        const data = workOf(read);
        if (!data.coverage.kernels) {
          throw new UnreadableInput({ code: 'error.rank-without-kernels', args: { rank: source.label } });
        }
        const located = (request.sources ?? []).length === 0 ? undefined : await this.explainer?.explain(data, request, options.signal);
        const digest = rankDigest(data, { ...source, losses: problems.filter(isLoss).map(({ where }) => where) }, located?.explanation ?? (await this.explainer?.chains(data)));
        if (!wasLoaded) {
          this.pool.delete(rank);
        }
        return digest;
      },
      compareDigests: (params) => Promise.resolve(compareDigests(params.base, params.candidate, params.options)),
      compareWindow: async (params, options) => {
        const data = workOf((await this.rank(params.rank, options)).data);
        return compareWindow(data, params, await this.explainer?.chains(data));
      },
    };
  }

  private timelineHandlers(): Pick<Handlers, TimelineMethod> {
    const entries = (Object.keys(timelineMethods) as TimelineMethod[]).map((method) => [
      method,
      async (params: { readonly rank: string }, options: SessionCallOptions): Promise<unknown> => {
        const loaded = await this.rank(params.rank, options);
        const result = (timelineMethods[method] as (data: RankData, params: unknown, environment: EngineEnvironment) => unknown)(loaded.data, params, this.environment);
        return method === 'eventDetail' ? locatedDetail(await (result as EngineResult<'eventDetail'> | Promise<EngineResult<'eventDetail'>>), this.explainer?.known(loaded.data)) : result;
      },
    ]);
    return Object.fromEntries(entries) as Pick<Handlers, TimelineMethod>;
  }
}

function loadedSummary({ source, data, problems }: LoadedRank): RankSummary {
  const kernels = data.coverage.kernels ? countKernels(data) : undefined;
  return {
    id: source.id, label: source.label, rank: data.rank ?? source.rank, group: source.group, format: source.format, bytes: source.bytes, readable: true,
    ...(source.withoutKernels === true ? { withoutKernels: true } : {}),
    loaded: {
      backend: data.backend, device: data.device, host: data.host, baseNs: data.baseNs.toString(), kernels,
      steps: data.steps.map((step, index) => ({ index, name: step.name, number: step.number, startNs: step.startNs, durationNs: step.durationNs, source: step.source })),
      facts: data.facts, problems,
    },
  };
}

function countKernels(data: RankData): number {
  const { kind, count } = data.deviceEvents;
  let kernels = 0;
  for (let i = 0; i < count; i++) {
    kernels += isKernel(kind[i]) ? 1 : 0;
  }
  return kernels;
}

/** Bytes of the typed arrays (names are small and shared). */
function rankBytes(data: RankData): number {
  let bytes = 0;
  for (const table of [data.deviceEvents, data.hostEvents]) {
    for (const column of Object.values(table) as unknown[]) {
      bytes += ArrayBuffer.isView(column) ? column.byteLength : 0;
    }
  }
  for (const series of data.memory) {
    bytes += series.timeNs.byteLength * 4;
  }
  for (const series of data.counters ?? []) {
    bytes += series.timeNs.byteLength * 2;
  }
  return bytes;
}
