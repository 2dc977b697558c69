/**
 * The Overview's tables as data: the view draws them, the view and the host write them as CSV. Titles and column names are
 * English texts, keys of the translation bundle; times are microseconds, shares are fractions, unknown is null.
 */
import type { OverviewData } from './overview';
import type { LaneFigures } from './report';
import { text } from './text';

export type Cell = string | number | null;

/** How a column's cells are meant; the view picks the unit that suits the column. */
/** `usSigned` and `change` are differences: their sign is always written. */
export type CellKind = 'text' | 'count' | 'us' | 'share' | 'usSigned' | 'change';

export interface FigureColumn {
  /** Name in CSV: stable, English, with the unit. */
  readonly key: string;
  /** Message code of the heading. */
  readonly title: string;
  readonly kind: CellKind;
  /** Message code of the definition. */
  readonly figure?: string;
}

export type TableId = 'figures' | 'decomposition' | 'families' | 'kernels' | 'streams' | 'steps' | 'profiler-step-trace' | 'profiler-communication' | 'fingerprints' | `compare-${string}`;

export interface FigureTable {
  readonly id: TableId;
  /** English title. */
  readonly title: string;
  readonly columns: readonly FigureColumn[];
  readonly rows: readonly (readonly Cell[])[];
}

const column = (key: string, title: string, kind: CellKind, figure?: string): FigureColumn => ({ key, title: `column.${title}`, kind, ...(figure === undefined ? {} : { figure: `figure.${figure}` }) });

/** One row of the percentile table: its cell has a kind of its own. */
export interface Figure {
  readonly id: string;
  readonly kind: CellKind;
  readonly value: Cell;
}

/** The percentile table of the article: how many kernels, how long, how dense. */
export function keyFigures(data: OverviewData): readonly Figure[] {
  const { kernels } = data.report;
  return [
    { id: 'count', kind: 'count', value: kernels.count },
    { id: 'p50Us', kind: 'us', value: kernels.p50Us },
    { id: 'p90Us', kind: 'us', value: kernels.p90Us },
    { id: 'p99Us', kind: 'us', value: kernels.p99Us },
    { id: 'shareLe50us', kind: 'share', value: kernels.shareLe50us },
    { id: 'shareLe100us', kind: 'share', value: kernels.shareLe100us },
    { id: 'meanIntervalUs', kind: 'us', value: kernels.meanIntervalUs },
    { id: 'topFiveCommunicationShare', kind: 'share', value: data.topFiveCommunicationShare },
    { id: 'maxUs', kind: 'us', value: kernels.maxUs },
    { id: 'totalUs', kind: 'us', value: kernels.totalUs },
    { id: 'spanUs', kind: 'us', value: kernels.spanUs },
    { id: 'busyUs', kind: 'us', value: kernels.busyUs },
  ];
}

export interface DecompositionPart {
  readonly id: 'computeBusyUs' | 'exposedCommunicationUs' | 'exposedCopyUs' | 'freeUs';
  /** Suffix of the theme colour. */
  readonly colour: string;
  readonly valueUs: number | null;
}

/** What makes up the span, with its colours: `span = computeBusy + exposedCommunication + exposedCopy + free`. */
export const LANE_PARTS: readonly Omit<DecompositionPart, 'valueUs'>[] = [
  { id: 'computeBusyUs', colour: 'matmul' }, { id: 'exposedCommunicationUs', colour: 'communication' }, { id: 'exposedCopyUs', colour: 'glue' }, { id: 'freeUs', colour: 'free' },
];

export const decomposition = (lanes: LaneFigures): readonly DecompositionPart[] => LANE_PARTS.map((part) => ({ ...part, valueUs: lanes[part.id] }));

/** Lanes that overlap others, shown below the bar. */
export const OTHER_LANES = ['computeIdleUs', 'mainStreamIdleUs', 'communicationBusyUs', 'overlappedUs', 'copyBusyUs'] as const satisfies readonly (keyof LaneFigures)[];

const share = (part: number | null, whole: number | null): number | null => (part === null || whole === null || !(whole > 0) ? null : part / whole);

function figuresTable(data: OverviewData): FigureTable {
  return {
    id: 'figures', title: text('view.figures'),
    columns: [column('figure', 'figure', 'text'), column('value', 'value', 'text'), column('unit', 'unit', 'text')],
    rows: keyFigures(data).map(({ id, kind, value }) => [id, value, kind === 'us' ? 'us' : kind === 'share' ? 'fraction' : '']),
  };
}

function decompositionTable(data: OverviewData): FigureTable {
  const { lanes } = data.report;
  const span = decomposition(lanes).reduce((sum, { valueUs }) => sum + (valueUs ?? 0), 0);
  const parts = decomposition(lanes).map(({ id, valueUs }): readonly Cell[] => [id, valueUs, share(valueUs, span)]);
  return {
    id: 'decomposition', title: text('view.decomposition'),
    columns: [column('lane', 'lane', 'text'), column('time_us', 'time', 'us'), column('share_of_span', 'shareOfSpan', 'share')],
    rows: [...parts, ...OTHER_LANES.map((id): readonly Cell[] => [id, lanes[id], share(lanes[id], span)])],
  };
}

export function familiesTable({ report }: OverviewData): FigureTable {
  const count = report.families.reduce((sum, family) => sum + family.count, 0);
  const total = report.families.reduce((sum, family) => sum + family.totalUs, 0);
  return {
    id: 'families', title: text('view.families'),
    columns: [
      column('family', 'family', 'text', 'family'), column('count', 'count', 'count', 'familyCount'), column('share_of_count', 'shareOfCount', 'share'),
      column('total_us', 'total', 'us', 'familyTotalUs'), column('share_of_total', 'shareOfTotal', 'share'), column('mean_us', 'mean', 'us'),
    ],
    rows: report.families.map((family) => [family.family, family.count, share(family.count, count), family.totalUs, share(family.totalUs, total), family.count > 0 ? family.totalUs / family.count : null]),
  };
}

export function kernelsTable({ kernels, report }: OverviewData): FigureTable {
  const total = report.kernels.totalUs;
  return {
    id: 'kernels', title: text('view.kernels'),
    columns: [
      column('name', 'name', 'text'), column('type', 'type', 'text'), column('family', 'family', 'text', 'family'), column('count', 'count', 'count'),
      column('total_us', 'total', 'us'), column('share_of_total', 'shareOfTotal', 'share'), column('mean_us', 'mean', 'us'), column('max_us', 'longest', 'us'),
    ],
    rows: kernels.map((kernel) => [kernel.name, kernel.type, kernel.family, kernel.count, kernel.totalUs, share(kernel.totalUs, total), kernel.meanUs, kernel.maxUs]),
  };
}

export function streamsTable({ report }: OverviewData): FigureTable {
  return {
    id: 'streams', title: text('view.streams'),
    columns: [
      column('device', 'device', 'text'), column('stream', 'stream', 'text'), column('count', 'count', 'count'), column('total_us', 'total', 'us', 'streamTotalUs'),
      column('busy_us', 'busy', 'us', 'streamBusyUs'), column('idle_us', 'idle', 'us', 'streamIdleUs'), column('first_us', 'first', 'us'), column('last_us', 'last', 'us'),
    ],
    rows: report.streams.map((stream) => [stream.device, stream.stream ?? stream.label ?? null, stream.count, stream.totalUs, stream.busyUs, stream.idleUs, stream.firstUs, stream.lastUs]),
  };
}

export function stepsTable({ report }: OverviewData): FigureTable {
  return {
    id: 'steps', title: text('view.steps'),
    columns: [
      column('step', 'step', 'text'), column('start_us', 'start', 'us'), column('duration_us', 'duration', 'us', 'stepDurationUs'), column('kernels', 'kernels', 'count', 'stepKernels'),
      column('compute_busy_us', 'computeBusy', 'us', 'computeBusyUs'), column('exposed_communication_us', 'exposedCommunication', 'us', 'exposedCommunicationUs'),
      column('exposed_copy_us', 'exposedCopy', 'us', 'exposedCopyUs'), column('free_us', 'free', 'us', 'freeUs'),
    ],
    rows: report.steps.map((step) => [step.name, step.startUs, step.durationUs, step.kernels, step.computeBusyUs, step.exposedCommunicationUs, step.exposedCopyUs, step.freeUs]),
  };
}

/** The profiler's own figures of each collective; its milliseconds as microseconds, like all others. */
export function communicationTable({ profilerCommunication }: OverviewData): FigureTable {
  const us = (ms: number | null): number | null => (ms === null ? null : ms * 1000);
  return {
    id: 'profiler-communication', title: text('view.profilerCommunication'),
    columns: [
      column('step', 'step', 'text'), column('operation', 'operation', 'text'), column('group', 'group', 'text'), column('elapsed_us', 'elapsed', 'us', 'profilerElapsed'),
      column('wait_us', 'wait', 'us', 'profilerWait'), column('transit_us', 'transit', 'us', 'profilerTransit'), column('idle_us', 'idle', 'us', 'profilerIdle'),
    ],
    rows: (profilerCommunication?.rows ?? []).map((one) => [one.step, one.name, one.group, us(one.elapseMs), us(one.waitMs), us(one.transitMs), us(one.idleMs)]),
  };
}

/** Every table, for export; those without rows are left out. */
export function figureTables(data: OverviewData): readonly FigureTable[] {
  const { profilerStepTrace } = data;
  const own = [figuresTable(data), decompositionTable(data), familiesTable(data), kernelsTable(data), streamsTable(data), stepsTable(data)];
  const profiler: readonly FigureTable[] = profilerStepTrace === null ? [] : [{
    id: 'profiler-step-trace', title: text('view.stepTrace'),
    columns: profilerStepTrace.columns.map((name) => ({ key: name, title: name, kind: 'text' })),
    rows: profilerStepTrace.rows,
  }];
  return [...own, ...profiler, communicationTable(data)].filter(({ rows }) => rows.length > 0);
}

/** RFC 4180, with a point as decimal mark whatever the language; unknown is an empty cell. */
export function tableCsv({ columns, rows }: FigureTable): string {
  return [columns.map(({ key }) => key), ...rows].map((cells) => cells.map(csvCell).join(',')).join('\r\n') + '\r\n';
}

/** Tab-separated, for the clipboard: spreadsheets and chats take it. */
export function tableText({ columns, rows }: FigureTable): string {
  return [columns.map(({ key }) => key), ...rows].map((cells) => cells.map((cell) => String(cell ?? '').replace(/[\t\r\n]+/g, ' ')).join('\t')).join('\n');
}

function csvCell(cell: Cell): string {
  const plain = cell === null ? '' : String(cell);
  // A name that starts like a formula would be run by a spreadsheet.
  const safe = typeof cell === 'string' && /^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
