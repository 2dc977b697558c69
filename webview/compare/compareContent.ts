import { DIGEST_TABLES, type CompareFigure, type CompareOptions, type CompareReport, type DigestTableId, type Spread } from '../../src/protocol/compare';
import { compareDensityTable, compareFiguresTable, compareTable } from '../../src/protocol/compareTables';
import type { CompareDetail, CompareInit } from '../../src/protocol/compareView';
import { verdictSentences } from '../../src/protocol/compareWords';
import { LANE_PARTS } from '../../src/protocol/overviewTables';
import { densityOverlay } from '../charts/densityChart';
import { button, dropdown, textField } from '../shared/controls';
import { fillElement, h, icon } from '../shared/dom';
import { familyColour } from '../shared/theme';
import { UNKNOWN, type Words } from '../shared/words';
import { DataTable } from '../tables/dataTable';
import { copyWith, section, type SectionContext } from '../tables/tableSection';
import { changeBars, decompositionPair } from './bars';
import { checksSection } from './checksSection';
import type { CompareBridge } from './compareBridge';
import { memoryChart } from './memoryChart';
import { SIDE_COLOURS, SIDE_DASHES } from './sides';
import { windowSection } from './windowSection';

export interface CompareContentOptions extends SectionContext {
  readonly report: CompareReport;
  readonly init: CompareInit;
  readonly words: Words;
  readonly bridge: CompareBridge;
  readonly detail: () => CompareDetail;
  readonly onDetail: (change: Partial<CompareDetail>) => void;
  readonly onOptions: (options: CompareOptions) => void;
}

export interface CompareContent {
  readonly element: HTMLElement;
  dispose(): void;
}

/** The whole page: verdict, checks, figures, windows, bars, distributions, tables. */
export function compareContent(options: CompareContentOptions): CompareContent {
  const { report, words } = options;
  const density = densityOverlay((['base', 'candidate'] as const).map((side) => ({ density: report.density[side], label: words.t(`compare.${side}`), colour: SIDE_COLOURS[side], dash: SIDE_DASHES[side] })), words.t('compare.densityAlt'), words);
  const memory = report.memory.base === null && report.memory.candidate === null ? undefined : memoryChart(report.memory, words);
  const windows = windowSection(options);
  const scoped = scopedSections(options);
  const element = h('div', { class: 'compare' },
    head(options, scoped.redraw),
    h('div', { class: 'content' },
      verdict(options), checksSection(options),
      h('div', { class: 'columns' },
        section(options, { id: 'figures', title: words.t('compare.figures'), tip: words.t('compare.figures.about'), table: compareFiguresTable(report, 'figures') }, figuresTable(report.figures, options)),
        section(options, { id: 'lanes', title: words.t('compare.lanes'), tip: words.t('compare.lanes.about'), table: compareFiguresTable(report, 'lanes') }, lanes(options))),
      windows?.element, scoped.bars,
      h('div', { class: 'columns' },
        section(options, { id: 'density', title: words.t('compare.density'), tip: words.t('figure.density'), table: compareDensityTable(report) }, density.element, densityTwin(options)),
        section(options, { id: 'memory', title: words.t('compare.memory') }, memory?.element ?? h('p', { class: 'note' }, words.t('compare.memory.none')), memory === undefined ? undefined : h('p', { class: 'note' }, words.t('compare.memory.about', { component: (report.memory.base ?? report.memory.candidate)?.component ?? '' })))),
      scoped.table));
  return {
    element,
    dispose: () => {
      density.dispose();
      memory?.dispose();
      windows?.dispose();
    },
  };
}

function head({ init, report, words, bridge, detail, onDetail }: CompareContentOptions, redraw: () => void): HTMLElement {
  const side = (name: 'base' | 'candidate'): HTMLElement => h('span', { class: 'pair-title', title: init[name].path }, h('span', { class: `side-mark side-${name}`, 'aria-hidden': 'true' }), init[name].name);
  const place = [...new Set([report.base.chip ?? report.base.backend ?? '', report.candidate.chip ?? report.candidate.backend ?? ''])].filter((part) => part !== '').join(' / ');
  const scope = (['rank', 'all'] as const).map((value) => ({ value, label: words.t(value === 'rank' ? 'compare.scope.oneRank' : 'compare.scope.allRanks', { ranks: report.ranks.length }) }));
  return h('header', { class: 'view-head' },
    h('div', { class: 'view-name' }, h('h1', {}, side('base'), h('span', { class: 'pair-arrow' }, '→'), side('candidate')), h('span', { class: 'faint' }, place)),
    h('div', { class: 'view-tools' },
      report.ranks.length > 1 ? dropdown(words.t('compare.scope'), scope, detail().scope ?? 'rank', (value) => {
        onDetail({ scope: value === 'all' ? 'all' : 'rank' });
        redraw();
      }) : undefined,
      button({ label: words.t('compare.swap'), icon: 'arrow-swap', onClick: () => bridge.post({ kind: 'swap' }) })));
}

const VERDICT_ICONS = { faster: 'arrow-down', slower: 'arrow-up', same: 'dash', unjudged: 'question', notComparable: 'circle-slash' } as const;

function verdict({ report, words }: CompareContentOptions): HTMLElement {
  const [headline, ...rest] = verdictSentences(report, { time: (us) => words.time(us), change: (share) => words.change(share), number: (value, digits) => words.number(value, digits) }, (english) => words.english(english));
  const notes = report.notes.map(({ code, args }) => words.t(code, args));
  return h('div', { class: `verdict verdict-${report.verdict.kind}`, role: 'status' },
    h('span', { class: 'verdict-icon' }, icon(VERDICT_ICONS[report.verdict.kind])), h('div', {}, h('div', { class: 'verdict-head' }, headline), h('ul', {}, [...rest, ...notes].map((sentence) => h('li', {}, sentence)))));
}

/** One row a figure: medians, with the spread in the tooltip, and how it changed. */
function figuresTable(figures: readonly CompareFigure[], { report, words }: CompareContentOptions): HTMLElement {
  const perToken = report.per === 'token';
  return h('table', { class: 'plain-table compare-figures' },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col', class: 'text' }, words.t('compare.figure')), ['compare.base', 'compare.candidate', 'compare.change', ...(perToken ? ['compare.changePerToken'] : [])].map((code) => h('th', { scope: 'col', class: 'number' }, words.t(code))))),
    h('tbody', {}, figures.map((figure) => h('tr', {},
      h('th', { scope: 'row', class: 'text' }, partMark(figure.id), h('span', { class: 'defined', tabindex: 0, 'data-tip': words.t(`figure.${figure.id}`) }, words.t(`figureName.${figure.id}`))),
      spreadCell(figure, figure.base, words), spreadCell(figure, figure.candidate, words), h('td', { class: 'number' }, words.change(figure.change)), perToken ? h('td', { class: 'number' }, words.change(figure.unitChange)) : undefined))));
}

/** The colour of a part of the bars above, which have no other legend. */
function partMark(id: string): HTMLElement | undefined {
  const colour = LANE_PARTS.find((part) => part.id === id)?.colour;
  return colour === undefined ? undefined : h('span', { class: `swatch piece-${id}`, style: `background: ${familyColour(colour)}`, 'aria-hidden': 'true' });
}

function spreadCell({ kind }: CompareFigure, spread: Spread | null, words: Words): HTMLElement {
  const write = (value: number): string => figureText(kind, value, words);
  return h('td', { class: 'number', ...(spread === null || spread.samples < 2 ? {} : { 'data-tip': `${write(spread.low)} – ${write(spread.high)} · n = ${spread.samples}` }) }, spread === null ? UNKNOWN : write(spread.median));
}

function figureText(kind: CompareFigure['kind'], value: number, words: Words): string {
  switch (kind) {
    case 'us': return words.time(value);
    case 'share': return words.share(value);
    case 'count':
    case 'rate': return words.count(value);
    case 'bytes': return `${words.number(value / 1e9, 2)} GB`;
  }
}

function lanes(options: CompareContentOptions): HTMLElement {
  const { report, words } = options;
  return h('div', {},
    decompositionPair(report, 'step', words),
    report.per === 'token' ? h('p', { class: 'note pair-note' }, words.t('compare.perToken')) : undefined, report.per === 'token' ? decompositionPair(report, 'token', words) : undefined,
    figuresTable(report.lanes, options));
}

function densityTwin(options: CompareContentOptions): HTMLElement {
  const { words, report } = options;
  return h('details', { class: 'twin' }, h('summary', {}, words.t('view.asTable')), new DataTable({ table: compareDensityTable(report), words, label: words.t('compare.density'), maxHeight: 220, copy: copyWith(options) }).element);
}

/** The parts that follow the scope, and how to draw them again. */
function scopedSections(options: CompareContentOptions): { readonly bars: HTMLElement; readonly table: HTMLElement; readonly redraw: () => void } {
  const [bars, table] = [h('div', {}), h('div', {})];
  const redraw = (): void => {
    fillElement(bars, barsSection(options, redraw));
    fillElement(table, tableSection(options, redraw));
  };
  redraw();
  return { bars, table, redraw };
}

const isTable = (value: string | undefined): value is DigestTableId => DIGEST_TABLES.some((id) => id === value);

function scopeText({ report, words, detail }: CompareContentOptions): string {
  return detail().scope === 'all' && report.ranks.length > 1 ? words.t('compare.scope.all', { ranks: report.ranks.length }) : report.base.samples > 1 ? words.t('compare.scope.rank', { samples: report.base.samples }) : words.t('compare.scope.single');
}

function barsSection(options: CompareContentOptions, redraw: () => void): HTMLElement {
  const { report, words, detail, onDetail } = options;
  const chosen = detail().bars;
  const id = isTable(chosen) ? chosen : 'operators';
  const choices = DIGEST_TABLES.filter((each) => report.tables[each].length > 0).map((each) => ({ value: each, label: words.t(`compare.table.${each}`) }));
  const choose = dropdown(words.t('compare.table'), choices, id, (value) => {
    onDetail({ bars: value });
    redraw();
  });
  const unit = words.t(report.per === 'token' ? 'compare.perToken' : 'compare.perStep');
  return section(options, { id: 'bars', title: `${words.t('compare.bars')} · ${scopeText(options)} · ${unit}`, tip: words.t('compare.bars.about'), tools: [choose] }, changeBars(report, id, detail().scope ?? 'rank', words));
}

function tableSection(options: CompareContentOptions, redraw: () => void): HTMLElement {
  const { report, words, detail, onDetail, bridge } = options;
  const chosen = detail().table;
  const id = isTable(chosen) ? chosen : 'chains';
  const table = compareTable(report, id, detail().scope ?? 'rank', (english) => words.english(english));
  const rows = report.tables[id];
  const grid = new DataTable({
    table, words, label: words.t(`compare.table.${id}`), maxHeight: 460, nameWidth: 'clamp(160px, 28cqw, 320px)', narrow: ['noise_us', 'moved_by', 'base_calls', 'candidate_calls', 'family', 'change'], copy: copyWith(options), onSort: (sort) => onDetail({ sort }), ...(detail().sort === undefined ? {} : { sort: detail().sort }),
    ...(id === 'lines' ? { activate: { label: words.t('compare.openSource'), icon: 'go-to-file', run: (index: number) => { const { file, line } = rows[index]; if (file !== undefined && line !== undefined) { bridge.post({ kind: 'openSource', file, line }); } } } } : {}),
  });
  grid.setFilter(detail().filter ?? '');
  const field = textField(words.t('compare.filter'), detail().filter ?? '', (filter) => {
    grid.setFilter(filter);
    onDetail({ filter });
  });
  const choose = dropdown(words.t('compare.table'), DIGEST_TABLES.map((each) => ({ value: each, label: `${words.t(`compare.table.${each}`)} (${words.count(report.tables[each].length)})` })), id, (value) => {
    onDetail({ table: value });
    redraw();
  });
  const empty = id === 'lines' ? 'compare.noLines' : id === 'kernels' && report.crossVendor ? 'compare.noKernelNames' : 'compare.noRows';
  return section(options, { id: 'tables', title: `${words.t(`compare.table.${id}`)} · ${scopeText(options)}`, tip: words.t('compare.status.about'), table },
    h('div', { class: 'table-tools' }, choose, field), rows.length === 0 ? h('p', { class: 'note' }, words.t(empty)) : grid.element, id === 'lines' && rows.length > 0 ? h('p', { class: 'note' }, words.t('compare.lines.about')) : undefined);
}
