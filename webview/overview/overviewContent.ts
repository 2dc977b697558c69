import type { RankSummary } from '../../src/protocol/engine';
import type { OverviewData } from '../../src/protocol/overview';
import { communicationTable, decomposition, familiesTable, figureTables, kernelsTable, stepsTable, streamsTable, type FigureTable, type TableId } from '../../src/protocol/overviewTables';
import { decompositionBar } from '../charts/decompositionBar';
import { densityChart, type LiveChart } from '../charts/densityChart';
import { familyBars } from '../charts/familyBars';
import { h } from '../shared/dom';
import { DataTable, type Sort } from '../tables/dataTable';
import { copyWith, section, type SectionContext } from '../tables/tableSection';
import { kernelsSection } from './kernelsSection';
import { keyFiguresTable } from './keyFigures';
import { stepTraceTable } from './stepTrace';

/** What the Overview remembers besides rank and step. */
export interface OverviewDetail {
  readonly filter?: string;
  readonly sort?: Sort;
}

export interface ContentOptions extends SectionContext {
  readonly data: OverviewData;
  readonly rank: RankSummary;
  readonly step: number | undefined;
  readonly detail: OverviewDetail;
  readonly onDetail: (detail: OverviewDetail) => void;
  readonly onStep: (step: number) => void;
}

/** All sections of the Overview for one rank and window. `dispose` frees the charts. */
export function overviewContent(options: ContentOptions): LiveChart {
  const { data, words } = options;
  if (data.report.kernels.count === 0 && (data.report.split.memcpy.count ?? 0) + (data.report.split.memset.count ?? 0) === 0) {
    return { element: h('p', { class: 'note' }, words.t('view.noKernels')), dispose: () => undefined };
  }
  if (data.report.kernels.count === null) {
    return { element: unknownKernels(options), dispose: () => undefined };
  }
  const tables = new Map<TableId, FigureTable>(figureTables(data).map((table) => [table.id, table]));
  const chart = densityChart(data.density, words);
  const span = decomposition(data.report.lanes).reduce((sum, { valueUs }) => sum + (valueUs ?? 0), 0);
  const element = h('div', { class: 'content' },
    section(options, { id: 'decomposition', title: `${words.t('view.decomposition')} · ${words.t('view.span', { span: words.time(span > 0 ? span : null) })}`, tip: words.t('figure.span'), table: tables.get('decomposition') },
      decompositionBar(data.report.lanes, words)),
    h('div', { class: 'columns' },
      section(options, { id: 'figures', title: words.t('view.figures'), table: tables.get('figures') }, keyFiguresTable(data, words)),
      section(options, { id: 'density', title: words.t('view.density'), tip: words.t('figure.density') }, chart.element, densityTwin(options))),
    section(options, { id: 'families', title: words.t('view.families'), tip: words.t('figure.families'), table: familiesTable(data) }, familyBars(data.report.families, words)),
    kernelsSection(options, kernelsTable(data)),
    stepsSection(options),
    streamsSection(options),
    h('div', { class: 'columns' }, stepTraceSection(options), assumptionsSection(options)),
    communicationSection(options));
  return { element, dispose: () => chart.dispose() };
}

/** A rank without kernels: what the profiler summed up of it, and nothing that would look like a figure of ours. */
function unknownKernels(options: ContentOptions): HTMLElement {
  return h('div', { class: 'content' }, h('p', { class: 'note' }, options.words.t('view.kernelsUnknown')), stepTraceSection(options), communicationSection(options), assumptionsSection(options));
}

/** The chart's numbers, for those who cannot see it and those who want them. */
function densityTwin({ data, words, ...context }: ContentOptions): HTMLElement {
  const { edgesUs, counts, density } = data.density;
  const rows = counts.flatMap((count, i) => (count === 0 ? [] : [[edgesUs[i], edgesUs[i + 1], count, density[i].toExponential(3)]]));
  const table: FigureTable = {
    id: 'figures', title: '',
    columns: [{ key: 'from_us', title: 'column.from', kind: 'us' }, { key: 'to_us', title: 'column.to', kind: 'us' }, { key: 'count', title: 'column.count', kind: 'count' }, { key: 'density', title: 'column.density', kind: 'text' }],
    rows,
  };
  const holder = h('details', { class: 'twin' }, h('summary', {}, words.t('view.asTable')));
  holder.addEventListener('toggle', () => {
    if (holder.open && holder.childElementCount === 1) {
      holder.append(new DataTable({ table, words, label: words.t('view.density'), maxHeight: 220 }).element);
    }
  });
  void context;
  return holder;
}

function stepsSection(options: ContentOptions): HTMLElement | undefined {
  const { data, words, onStep, step } = options;
  const table = stepsTable(data);
  if (table.rows.length === 0) {
    return undefined;
  }
  const activate = { label: words.t('view.step'), icon: 'arrow-right', run: onStep };
  return section(options, { id: 'steps', title: words.t('view.steps'), table }, new DataTable({ table, words, label: words.t('view.steps'), maxHeight: 300, activate, narrow: ['start_us', 'exposed_copy_us', 'kernels', 'free_us', 'exposed_communication_us'], copy: copyWith(options), ...(step === undefined ? {} : { selectedRow: step }) }).element);
}

function streamsSection(options: ContentOptions): HTMLElement | undefined {
  const { data, words } = options;
  const table = streamsTable(data);
  return table.rows.length === 0 ? undefined
    : section(options, { id: 'streams', title: words.t('view.streams'), tip: words.t('figure.streams'), table }, new DataTable({ table, words, label: words.t('view.streams'), maxHeight: 300, narrow: ['device', 'last_us', 'first_us', 'total_us', 'idle_us'], copy: copyWith(options) }).element);
}

function stepTraceSection(options: ContentOptions): HTMLElement | undefined {
  const { data, words } = options;
  const table = stepTraceTable(data, words.t('view.stepTrace'));
  return table === null ? undefined
    : section(options, { id: 'step-trace', title: words.t('view.stepTrace'), table }, h('p', { class: 'note' }, words.t('view.stepTraceNote')), new DataTable({ table, words, label: words.t('view.stepTrace'), maxHeight: 300, copy: copyWith(options) }).element);
}

function communicationSection(options: ContentOptions): HTMLElement | undefined {
  const { data, words } = options;
  const table = communicationTable(data);
  const omitted = data.profilerCommunication?.omitted ?? 0;
  return table.rows.length === 0 ? undefined
    : section(options, { id: 'profiler-communication', title: words.t('view.profilerCommunication'), table },
      new DataTable({ table, words, label: words.t('view.profilerCommunication'), maxHeight: 300, narrow: ['group', 'step', 'idle_us', 'transit_us'], copy: copyWith(options) }).element,
      omitted === 0 ? undefined : h('p', { class: 'note' }, words.t('view.profilerCommunicationMore', { count: omitted })));
}

function assumptionsSection(options: ContentOptions): HTMLElement | undefined {
  const { data, words, rank } = options;
  const facts = Object.entries(rank.loaded?.facts ?? {});
  return section(options, { id: 'assumptions', title: words.t('view.assumptions') },
    h('ul', { class: 'assumptions' }, data.assumptions.map(({ code, args }) => h('li', {}, words.t(code, args)))),
    facts.length === 0 ? undefined : h('dl', { class: 'facts' }, facts.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', { title: value }, plainFact(value))))));
}

/** Lists come as the profiler wrote them, as JSON: shown as words. */
function plainFact(value: string): string {
  if (!value.startsWith('[')) {
    return value;
  }
  try {
    const items: unknown = JSON.parse(value);
    return Array.isArray(items) && items.every((item) => typeof item !== 'object') ? items.join(', ') : value;
  } catch {
    return value;
  }
}
