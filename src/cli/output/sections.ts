import { attributionNotes } from '../../protocol/attributionNotes';
import type { RankFile } from '../../protocol/engine';
import type { FingerprintData, FingerprintEntry } from '../../protocol/fingerprints';
import type { OverviewData } from '../../protocol/overview';
import type { AnalyzeReport, LaneFigures, RankReport } from '../../protocol/report';
import { chainOperators } from '../../protocol/operatorNames';
import { text, type Translate } from '../../protocol/text';
import { wasteExplanation } from '../../protocol/wasteText';
import { readableName } from './kernelName';
import { LISTED_RANKS, spreadSection, stepTraceSections } from './manyRanks';
import { formatCount, formatShare, formatSize, formatTime, shareOf, UNKNOWN } from './numbers';
import type { TableColumn } from './table';

/** A report as titled tables, before anyone decides how they look: terminal, Markdown and HTML all draw these. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly SectionColumn[];
  readonly rows: readonly SectionRow[];
  readonly notes: readonly string[];
}

export interface SectionColumn extends TableColumn {
  readonly align: 'left' | 'right';
}

export interface SectionRow {
  readonly cells: readonly string[];
  /** Drawn as a bar behind the cells. */
  readonly share?: number;
  /** The definition of the row's figure. */
  readonly about?: string;
}

/** What a rank's pages are made of. */
export interface RankPage {
  readonly report: RankReport;
  readonly overview: OverviewData;
  readonly explained?: FingerprintData;
  readonly files?: readonly RankFile[];
}

const left = (title: string, shrinks?: boolean): SectionColumn => ({ title, align: 'left', ...(shrinks === undefined ? {} : { shrinks }) });
const right = (title: string): SectionColumn => ({ title, align: 'right' });

export class SectionBuilder {
  constructor(private readonly translate: Translate, private readonly topKernels = 15, private readonly allRanks = false) {}

  say(code: string, args?: Readonly<Record<string, string | number>>): string {
    return text(code, args, this.translate);
  }

  /** All sections of one rank, most telling first. */
  rank({ report, overview, explained, files = [] }: RankPage): readonly Section[] {
    if (report.kernels.count === null) {
      return [...this.profilers(overview), this.files(files)].filter((section) => section.rows.length > 0);
    }
    return [
      // Where nothing ran on a device, its tables would tell nothing but zeros and dashes.
      ...(report.kernels.count === 0 && report.lanes.copyBusyUs === null ? [] : [this.decomposition(report), this.kernels(report, overview)]), this.families(report), this.topKernelsOf(overview),
      ...(explained === undefined ? [] : [this.fingerprints(explained)]),
      ...(report.streams.length > 1 ? [this.streams(report)] : []),
      ...(report.steps.length > 1 ? [this.steps(report)] : []),
      ...this.profilers(overview), this.files(files),
    ].filter((section) => section.rows.length > 0);
  }

  /** Ranks of each run, one by one where they are few. */
  ranks(report: AnalyzeReport): readonly Section[] {
    const names = this.rankNames(report.ranks);
    const groups = new Map<string, number[]>();
    report.ranks.forEach(({ label }, i) => groups.set(groupOf(label), [...(groups.get(groupOf(label)) ?? []), i]));
    const many = this.allRanks ? [] : [...groups].filter(([, own]) => own.length > LISTED_RANKS);
    const listed = report.ranks.map((_rank, i) => i).filter((i) => !many.some(([, own]) => own.includes(i)));
    const title = this.say('report.ranks');
    return [
      ...(listed.length === 0 ? [] : [{
        id: 'ranks', title, notes: [],
        columns: [left(this.say('report.rank'), true), right(this.say('figureName.count')), right(this.say('figureName.spanUs')), ...LANES.map((lane) => right(this.say(`figureName.${lane}`)))],
        rows: listed.map((i) => {
          const { kernels, lanes } = report.ranks[i];
          return { cells: [names[i], formatCount(kernels.count), formatTime(kernels.spanUs), ...LANES.map((lane) => formatTime(lanes[lane]))] };
        }),
      }]),
      ...many.map(([group, own]) => spreadSection(`ranks-${group}`, group === '' ? title : `${title} · ${group}`, own.map((i) => names[i]), [
        { title: this.say('figureName.count'), values: own.map((i) => report.ranks[i].kernels.count), format: formatCount }, { title: this.say('figureName.spanUs'), values: own.map((i) => report.ranks[i].kernels.spanUs), format: formatTime },
        ...LANES.map((lane) => ({ title: this.say(`figureName.${lane}`), values: own.map((i) => report.ranks[i].lanes[lane]), format: formatTime })),
      ], (code, args) => this.say(code, args))),
    ];
  }

  /** Two recordings of one rank are told apart by their labels. */
  rankNames(ranks: readonly RankReport[]): readonly string[] {
    const names = ranks.map((rank) => rankName(rank, (code, args) => this.say(code, args)));
    return names.map((name, i) => (names.indexOf(name) === names.lastIndexOf(name) || name === ranks[i].label ? name : `${name} (${ranks[i].label})`));
  }

  decomposition({ kernels, lanes }: RankReport): Section {
    const span = kernels.spanUs;
    const part = (name: keyof LaneFigures, indent = ''): SectionRow => ({
      cells: [indent + this.say(`figureName.${name}`), formatTime(lanes[name]), formatShare(shareOf(lanes[name], span))],
      ...(shareOf(lanes[name], span) === null ? {} : { share: shareOf(lanes[name], span) ?? 0 }),
      about: this.say(`figure.${name}`),
    });
    const rest: readonly (keyof LaneFigures)[] = ['computeIdleUs', 'communicationBusyUs', 'overlappedUs', 'copyBusyUs', 'mainStreamIdleUs'];
    return {
      id: 'decomposition', title: this.say('report.decomposition', { span: formatTime(span) }), notes: [],
      columns: [left(this.say('report.part')), right(this.say('report.time')), right(this.say('report.shareOfSpan'))],
      rows: [part('computeBusyUs'), part('exposedCommunicationUs'), part('exposedCopyUs'), part('freeUs'), ...rest.map((name) => part(name, '· '))],
    };
  }

  kernels({ kernels }: RankReport, overview: OverviewData): Section {
    const row = (name: string, value: string): SectionRow => ({ cells: [this.say(`figureName.${name}`), value], about: this.say(`figure.${name}`) });
    const longest = overview.longest === null ? formatTime(kernels.maxUs) : `${formatTime(overview.longest.durationUs)}  ${readableName(overview.longest.name)}`;
    return {
      id: 'kernels', title: this.say('report.kernels'), notes: [],
      columns: [left(this.say('report.figure')), left(this.say('report.value'), true)],
      rows: [
        row('count', formatCount(kernels.count)),
        ...(kernels.timedCount === kernels.count ? [] : [row('timedCount', formatCount(kernels.timedCount))]),
        row('totalUs', formatTime(kernels.totalUs)), row('spanUs', formatTime(kernels.spanUs)), row('busyUs', formatTime(kernels.busyUs)), row('idleUs', formatTime(kernels.idleUs)),
        row('p50Us', formatTime(kernels.p50Us)), row('p90Us', formatTime(kernels.p90Us)), row('p99Us', formatTime(kernels.p99Us)),
        row('shareLe50us', formatShare(kernels.shareLe50us)), row('shareLe100us', formatShare(kernels.shareLe100us)),
        row('meanIntervalUs', formatTime(kernels.meanIntervalUs)), row('topFiveCommunicationShare', formatShare(overview.topFiveCommunicationShare)), row('maxUs', longest),
      ],
    };
  }

  families({ families, kernels }: RankReport): Section {
    const byTime = [...families].sort((a, b) => b.totalUs - a.totalUs);
    return {
      id: 'families', title: this.say('report.families'), notes: [],
      columns: [left(this.say('report.family')), right(this.say('report.count')), right(this.say('report.shareOfCount')), right(this.say('report.kernelTime')), right(this.say('report.share'))],
      rows: byTime.map(({ family, count, totalUs }) => ({
        cells: [this.say(`family.${family}`), formatCount(count), formatShare(shareOf(count, kernels.count)), formatTime(totalUs), formatShare(shareOf(totalUs, kernels.totalUs))],
        share: shareOf(totalUs, kernels.totalUs) ?? 0, about: this.say(`family.about.${family}`),
      })),
    };
  }

  topKernelsOf({ kernels, report, omitted }: OverviewData): Section {
    const more = kernels.length + omitted - this.topKernels;
    return {
      id: 'topKernels', title: this.say('report.topKernels'), notes: more > 0 ? [this.say('report.moreNames', { count: more })] : [],
      columns: [right(this.say('report.count')), right(this.say('report.kernelTime')), right(this.say('report.share')), right(this.say('report.mean')), left(this.say('report.family')), { ...left(this.say('report.name')), heads: true }],
      rows: kernels.slice(0, this.topKernels).map((kernel) => ({
        cells: [
          formatCount(kernel.count), formatTime(kernel.totalUs), formatShare(shareOf(kernel.totalUs, report.kernels.totalUs)), formatTime(kernel.meanUs), this.say(`family.${kernel.family}`),
          readableName(kernel.name),
        ],
      })),
    };
  }

  fingerprints({ fingerprints, attribution }: FingerprintData): Section {
    const notes = attributionNotes(attribution).map(({ code, args }) => this.say(code, args));
    const located = fingerprints.some(({ source }) => source.length > 0);
    return {
      id: 'fingerprints', title: this.say('report.fingerprints'), notes: [this.say('report.fingerprintsNote'), ...notes, ...this.wastes(fingerprints.slice(0, this.topKernels))],
      columns: [{ ...left(this.say('report.chain')), heads: true }, left(this.say('report.phase')), right(this.say('report.kernelsEach')), right(this.say('report.times')), right(this.say('report.mean')), right(this.say('report.kernelTime')), right(this.say('report.recoverable')), ...(located ? [left(this.say('report.source'), true)] : [])],
      rows: fingerprints.slice(0, this.topKernels).map((entry) => ({
        cells: [
          this.chainName(entry), this.say(`phase.${entry.phase}`), formatCount(entry.kernels.length), formatCount(entry.occurrences), formatTime(entry.meanUs), formatTime(entry.totalUs),
          `${formatTime(entry.recoverableDeviceUs[0])} – ${formatTime(entry.recoverableDeviceUs[1])}`, ...(located ? [sourceText(entry)] : []),
        ],
      })),
    };
  }

  /** Why each kind of waste shown is one. */
  private wastes(shown: readonly FingerprintEntry[]): readonly string[] {
    const kinds = new Map(shown.map((entry) => [entry.fusion, entry] as const));
    return [...kinds.values()].flatMap((entry) => {
      const explanation = wasteExplanation(entry, (code, args) => this.say(code, args));
      return explanation === undefined ? [] : [`${this.chainName(entry)}: ${explanation}`];
    });
  }

  private chainName(entry: FingerprintEntry): string {
    return entry.fusion === null ? this.say('report.unknownChain', { chain: chainOperators(entry.title, this.translate) }) : this.say(`fusion.${entry.fusion}`);
  }

  streams({ streams }: RankReport): Section {
    return {
      id: 'streams', title: this.say('figureName.streams'), notes: [],
      columns: [left(this.say('report.device')), left(this.say('report.stream'), true), right(this.say('figureName.count')), right(this.say('report.kernelTime')), right(this.say('report.busy')), right(this.say('figureName.idleUs'))],
      rows: streams.map((stream) => ({
        cells: [stream.device ?? UNKNOWN, stream.stream ?? stream.label ?? UNKNOWN, formatCount(stream.count), formatTime(stream.totalUs), formatTime(stream.busyUs), formatTime(stream.idleUs)],
      })),
    };
  }

  steps({ steps, kernels }: RankReport): Section {
    // Without kernels a step has its length on the host and nothing else.
    const lanes = kernels.count === 0 ? [] : LANES;
    const hasKernels = kernels.count !== 0;
    return {
      id: 'steps', title: this.say('report.steps'), notes: [],
      columns: [
        left(this.say('report.step'), true), ...(hasKernels ? [right(this.say('figureName.count'))] : []), right(this.say('figureName.stepDurationUs')), ...(hasKernels ? [right(this.say('figureName.leadInUs'))] : []),
        ...lanes.map((lane) => right(this.say(`figureName.${lane}`))),
      ],
      rows: steps.map((step) => ({
        cells: [step.name, ...(hasKernels ? [formatCount(step.kernels)] : []), formatTime(step.durationUs), ...(hasKernels ? [formatTime(step.leadInUs)] : []), ...lanes.map((lane) => formatTime(step[lane]))],
      })),
    };
  }

  /** What the profiler itself summed up. */
  private profilers({ profilerStepTrace, profilerCommunication }: OverviewData): readonly Section[] {
    return [
      ...(profilerStepTrace === null ? [] : this.stepTrace(profilerStepTrace)),
      ...(profilerCommunication === null ? [] : [this.profilerCommunication(profilerCommunication)]),
    ];
  }

  private stepTrace(trace: NonNullable<OverviewData['profilerStepTrace']>): readonly Section[] {
    const sections = stepTraceSections(trace, this.allRanks, (code, args) => this.say(code, args));
    return sections.map((section, i) => (i < sections.length - 1 ? section : { ...section, notes: [...section.notes, this.say('report.profilerStepTraceNote')] }));
  }

  /** What lies in the rank's folder: read, passed over and why, missing. */
  private files(files: readonly RankFile[]): Section {
    return {
      id: 'files', title: this.say('report.files'), notes: [], columns: [left(this.say('report.file'), true), right(this.say('report.size')), { ...left(this.say('report.use')), wraps: true }],
      rows: files.map(({ name, bytes, about }) => ({ cells: [name, bytes === null ? UNKNOWN : formatSize(bytes), this.say(about)] })),
    };
  }

  private profilerCommunication({ rows, omitted }: NonNullable<OverviewData['profilerCommunication']>): Section {
    const shown = rows.slice(0, this.topKernels);
    const more = rows.length - shown.length + omitted;
    const time = (ms: number | null): string => formatTime(ms === null ? null : ms * 1000);
    return {
      id: 'profilerCommunication', title: this.say('report.profilerCommunication'), notes: more > 0 ? [this.say('view.profilerCommunicationMore', { count: more })] : [],
      columns: [left(this.say('column.operation'), true), left(this.say('report.step')), right(this.say('column.elapsed')), right(this.say('column.wait')), right(this.say('column.transit')), right(this.say('column.idle'))],
      rows: shown.map((one) => ({ cells: [one.name, one.step, time(one.elapseMs), time(one.waitMs), time(one.transitMs), time(one.idleMs)] })),
    };
  }

  assumptions({ assumptions }: OverviewData): readonly string[] {
    return assumptions.map(({ code, args }) => this.say(code, args));
  }
}

const LANES = ['computeBusyUs', 'exposedCommunicationUs', 'exposedCopyUs', 'freeUs'] as const satisfies readonly (keyof LaneFigures)[];

export function rankName(rank: Pick<RankReport, 'rank' | 'label'>, say: (code: string, args?: Readonly<Record<string, string | number>>) => string): string {
  if (rank.rank === null) {
    return rank.label;
  }
  const name = say('report.rankNumber', { rank: rank.rank });
  // Names of folders hold no slash: what stands before one is the run or step.
  return rank.label.includes('/') ? `${rank.label.slice(0, rank.label.lastIndexOf('/'))} · ${name}` : name;
}

/** Run or step folder, as `rankName` reads it out of a label. */
const groupOf = (label: string): string => label.slice(0, Math.max(0, label.lastIndexOf('/')));

function sourceText({ source }: FingerprintEntry): string {
  const [first] = source;
  return first === undefined ? UNKNOWN : `${first.file.split(/[\\/]/).pop() ?? first.file}:${first.startLine}${first.endLine > first.startLine ? `-${first.endLine}` : ''}`;
}
