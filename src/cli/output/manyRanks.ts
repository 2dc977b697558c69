/** Figures of many ranks in a few lines: the range with who holds its ends, the median, and who stands out. All ranks on demand. */
import { quantile } from '../../engine/compare/noise';
import { formatTime, UNKNOWN } from './numbers';
import type { Section, SectionColumn } from './sections';

/** Up to so many ranks are listed one by one. */
export const LISTED_RANKS = 8;
/** Columns of figures beside one another that fit 100 characters with the longest name. */
const BESIDE = 4;
const SHOWN_OUTLIERS = 8;
/** Distance from the quartiles, in quartile distances, from which a rank stands out (Tukey's fences). */
const FENCE = 1.5;
/** Nor does anyone stand out by less than this share of the median. */
const SMALLEST_SHARE = 0.02;

export interface RankFigure {
  readonly title: string;
  /** One value a rank; null where unknown. */
  readonly values: readonly (number | null)[];
  readonly format: (value: number | null) => string;
}

type Say = (code: string, args?: Readonly<Record<string, string | number>>) => string;

const left = (title: string): SectionColumn => ({ title, align: 'left' });
const right = (title: string): SectionColumn => ({ title, align: 'right' });

/** `names` belong to the values of each figure. */
export function spreadSection(id: string, title: string, names: readonly string[], figures: readonly RankFigure[], say: Say): Section {
  const rows = figures.flatMap(({ title: figure, values, format }) => {
    const known = values.flatMap((value, i) => (value === null ? [] : [{ value, name: names[i] }])).sort((a, b) => a.value - b.value);
    if (known.length === 0) {
      return [];
    }
    const [lowest, highest] = [known[0], known[known.length - 1]];
    const holders = (value: number): string => {
      const own = known.filter((one) => one.value === value);
      return own.length === names.length ? say('report.allRanks') : own.length === 1 ? own[0].name : `${own[0].name} +${own.length - 1}`;
    };
    return [{
      cells: [
        figure, format(lowest.value), holders(lowest.value), format(quantile(known.map(({ value }) => value), 0.5)), format(highest.value), holders(highest.value), format(highest.value - lowest.value),
      ],
    }];
  });
  return {
    id, title, rows, notes: [...outlierNotes(names, figures, say), say('report.allRanksOption', { count: names.length })],
    columns: [{ ...left(say('report.figure')), wraps: true }, right(say('report.lowest')), left(say('report.of')), right(say('report.median')), right(say('report.highest')), left(say('report.of')), right(say('report.spread'))],
  };
}

/** A line for each rank that lies far from the others, with the figures in which it does. */
function outlierNotes(names: readonly string[], figures: readonly RankFigure[], say: Say): readonly string[] {
  const told = names.map((): string[] => []);
  for (const { title, values, format } of figures) {
    const sorted = values.filter((value): value is number => value !== null).sort((a, b) => a - b);
    const [low, median, high] = [0.25, 0.5, 0.75].map((q) => (sorted.length === 0 ? NaN : quantile(sorted, q)));
    const reach = Math.max(FENCE * (high - low), SMALLEST_SHARE * Math.abs(median));
    values.forEach((value, i) => {
      if (value !== null && (value < low - reach || value > high + reach)) {
        told[i].push(say('report.outlierFigure', { figure: title, value: format(value), median: format(median) }));
      }
    });
  }
  const notes = told.flatMap((own, i) => (own.length === 0 ? [] : [say('report.outlier', { rank: names[i], figures: own.join(', ') })]));
  const more = notes.length - SHOWN_OUTLIERS;
  return more > 1 ? [...notes.slice(0, SHOWN_OUTLIERS), say('report.moreOutliers', { count: more })] : notes;
}

/** Ranks side by side, a few to a table, figures beneath one another. */
export function besideSections(id: string, title: string, names: readonly string[], figures: readonly RankFigure[], say: Say): readonly Section[] {
  const starts = Array.from({ length: Math.ceil(names.length / BESIDE) }, (_each, i) => i * BESIDE);
  return starts.map((from) => {
    const shown = names.slice(from, from + BESIDE);
    return {
      id: `${id}-${from}`, title: names.length <= BESIDE ? title : `${title} · ${from + 1}–${from + shown.length}`, notes: [], columns: [{ ...left(say('report.figure')), wraps: true }, ...shown.map(right)],
      rows: figures.map(({ title: figure, values, format }) => ({ cells: [figure, ...shown.map((_name, i) => format(values[from + i] ?? null))] })),
    };
  });
}

/** What tells the rows of a step_trace_time table apart; everything else in it is a time in microseconds. */
const KEY_COLUMN = /^(step|type|index|device_?id|device)$/i;

/** The profiler's own table: of one rank's steps, or in a cluster analysis of all ranks and stages. */
export function stepTraceSections({ columns, rows }: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }, isAll: boolean, say: Say): readonly Section[] {
  const column = (name: string): number => columns.findIndex((each) => each.toLowerCase() === name);
  const [step, type, index] = ['step', 'type', 'index'].map(column);
  const cell = (row: readonly string[], at: number): string => (at < 0 ? '' : (row[at] ?? '').trim());
  // Ranks and the stages they form are added up differently and do not stand in one range.
  const groups = new Map<string, (readonly string[])[]>();
  rows.forEach((row) => groups.set(cell(row, type), [...(groups.get(cell(row, type)) ?? []), row]));
  return [...groups].flatMap(([kind, own]) => {
    const severalSteps = new Set(own.map((row) => cell(row, step))).size > 1;
    const names = own.map((row, i) => {
      const name = index >= 0 ? `${kind} ${cell(row, index)}`.trim() : own.length === 1 ? say('report.value') : '';
      const inStep = cell(row, step) !== '' && (severalSteps || name === '') ? `${say('report.step')} ${cell(row, step)}` : '';
      return [name, inStep].filter((part) => part !== '').join(', ') || String(i + 1);
    });
    const figures = columns.flatMap((title, at): RankFigure[] => KEY_COLUMN.test(title) ? [] : [{ title, values: own.map((row) => numberIn(row[at])), format: (value) => (value === null ? UNKNOWN : formatTime(value)) }]);
    const title = kind === '' || groups.size === 1 ? say('report.profilerStepTrace') : `${say('report.profilerStepTrace')} · ${kind}`;
    return isAll || own.length <= BESIDE ? besideSections(`profilerStepTrace${kind}`, title, names, figures, say) : [spreadSection(`profilerStepTrace${kind}`, title, names, figures, say)];
  });
}

function numberIn(text: string | undefined): number | null {
  const value = text === undefined || text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}
