/** A comparison's tables as data, for the view and for CSV. Names are in the user's language, figures exact. */
import type { CompareFigure, CompareReport, CompareRow, DigestTableId, RankDigest, WindowKernel } from './compare';
import { rowName } from './compareWords';
import type { Cell, FigureColumn, FigureTable } from './overviewTables';
import { text, type Translate } from './text';

export type CompareScope = 'rank' | 'all';

/** Rows of one table. In scope `all`, calls and times are summed over all compared ranks. */
export function compareTable(report: CompareReport, id: DigestTableId, scope: CompareScope, translate: Translate): FigureTable {
  const ranks = report.ranks.length;
  const where = scope === 'all' && ranks > 1 ? text('compare.scope.allRanks', { ranks }, translate) : text('compare.scope.oneRank', undefined, translate);
  const head = (code: string, side?: string): string => [text(code, undefined, translate), side === undefined ? '' : text(side, undefined, translate)].filter((part) => part !== '').join(', ');
  const unit = text(report.per === 'token' ? 'compare.perToken' : 'compare.perStep', undefined, translate);
  const column = (key: string, title: string, kind: FigureColumn['kind'], figure?: string): FigureColumn => ({ key, title, kind, ...(figure === undefined ? {} : { figure }) });
  const all = scope === 'all';
  const columns: readonly FigureColumn[] = [
    column('name', head('compare.thing'), 'text'),
    ...(id === 'kernels' || id === 'operators' ? [column('family', 'column.family', 'text')] : []),
    column('base_calls', head('compare.count', 'compare.base'), 'count', 'compare.calls.about'), column('candidate_calls', head('compare.count', 'compare.candidate'), 'count', 'compare.calls.about'),
    column('base_us', `${head('compare.base')}, ${where}`, 'us'), column('candidate_us', `${head('compare.candidate')}, ${where}`, 'us'),
    column('difference_us', `${head('compare.difference')} ${unit}`, 'usSigned'), ...(all ? [] : [column('noise_us', 'compare.noise', 'us', 'compare.noise.about')]),
    column('change', 'compare.change', 'change'), column('verdict', 'compare.status', 'text', 'compare.status.about'), column('moved_by', 'compare.why', 'text', 'compare.why.about'),
  ];
  return { id: `compare-${id}`, title: text(`compare.table.${id}`), columns, rows: report.tables[id].map((row) => rowCells(row, id, all, translate)) };
}

function rowCells(row: CompareRow, id: DigestTableId, all: boolean, translate: Translate): readonly Cell[] {
  const { base, candidate } = row;
  const status = row.status === 'unjudged' ? null : text(`compare.status.${row.status}`, undefined, translate);
  return [
    rowName(row, id, translate), ...(id === 'kernels' || id === 'operators' ? [row.family ?? null] : []),
    (all ? base?.allCount : base?.count) ?? null, (all ? candidate?.allCount : candidate?.count) ?? null, (all ? base?.allTotalUs : base?.totalUs) ?? null, (all ? candidate?.allTotalUs : candidate?.totalUs) ?? null,
    all ? row.allDifferenceUs : row.differenceUs, ...(all ? [] : [row.noiseUs]), row.change, status, row.by === null ? null : text(`compare.by.${row.by}`, undefined, translate),
  ];
}

/** Figures or lanes with their spread; one row each, values in their own units. */
export function compareFiguresTable(report: CompareReport, id: 'figures' | 'lanes'): FigureTable {
  const value = (figure: CompareFigure, side: 'base' | 'candidate', pick: 'median' | 'low' | 'high' | 'samples'): Cell => figure[side]?.[pick] ?? null;
  const columns = ['figure', 'unit', 'base', 'base_low', 'base_high', 'base_samples', 'candidate', 'candidate_low', 'candidate_high', 'candidate_samples', 'change', 'change_per_unit_of_work'];
  return {
    id: `compare-${id}`, title: text(`compare.${id}`), columns: columns.map((key) => ({ key, title: key, kind: 'text' })),
    rows: report[id].map((figure) => [
      figure.id, UNITS[figure.kind], value(figure, 'base', 'median'), value(figure, 'base', 'low'), value(figure, 'base', 'high'), value(figure, 'base', 'samples'),
      value(figure, 'candidate', 'median'), value(figure, 'candidate', 'low'), value(figure, 'candidate', 'high'), value(figure, 'candidate', 'samples'), figure.change, figure.unitChange,
    ]),
  };
}

const UNITS: Readonly<Record<CompareFigure['kind'], string>> = { us: 'us', share: 'fraction', count: '', bytes: 'bytes', rate: 'tokens/s' };

/** Bins of both sides side by side; the bins of one grid, so they pair by their edges. */
export function compareDensityTable({ density }: CompareReport): FigureTable {
  const bins = new Map<string, { readonly from: number; readonly to: number; base: number; candidate: number }>();
  const take = ({ edgesUs, counts }: RankDigest['density'], side: 'base' | 'candidate'): void => counts.forEach((count, i) => {
    const key = edgesUs[i].toPrecision(9);
    const bin = bins.get(key) ?? { from: edgesUs[i], to: edgesUs[i + 1], base: 0, candidate: 0 };
    bin[side] += count;
    bins.set(key, bin);
  });
  take(density.base, 'base');
  take(density.candidate, 'candidate');
  return {
    id: 'compare-density', title: text('compare.density'),
    columns: [{ key: 'from_us', title: 'column.from', kind: 'us' }, { key: 'to_us', title: 'column.to', kind: 'us' }, { key: 'base_kernels', title: 'compare.base', kind: 'count' }, { key: 'candidate_kernels', title: 'compare.candidate', kind: 'count' }],
    rows: [...bins.values()].filter(({ base, candidate }) => base + candidate > 0).sort((a, b) => a.from - b.from).map(({ from, to, base, candidate }) => [from, to, base, candidate]),
  };
}

/** Kernels of a pair of windows, for those who cannot see the drawing and for CSV. */
export function windowTable(sides: readonly { readonly side: string; readonly kernels: readonly WindowKernel[] }[]): FigureTable {
  return {
    id: 'compare-windows', title: text('compare.windows'),
    columns: [
      { key: 'side', title: 'compare.side', kind: 'text' }, { key: 'start_us', title: 'column.start', kind: 'us' }, { key: 'duration_us', title: 'column.duration', kind: 'us' }, { key: 'name', title: 'column.name', kind: 'text' },
      { key: 'family', title: 'column.family', kind: 'text' }, { key: 'bracketed', title: 'compare.window.inFocus', kind: 'text' },
    ],
    rows: sides.flatMap(({ side, kernels }) => kernels.map((kernel) => [side, kernel.startNs / 1000, kernel.durationNs / 1000, kernel.name, kernel.family, kernel.focus ? '●' : ''])),
  };
}
