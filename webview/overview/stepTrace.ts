import type { OverviewData } from '../../src/protocol/overview';
import type { Cell, FigureColumn, FigureTable } from '../../src/protocol/overviewTables';
import type { LaneFigures } from '../../src/protocol/report';

/** The profiler's column → how we get the same from our lanes. Its Free counts copies as free. */
const PAIRS: readonly (readonly [column: string, ours: (lanes: LaneFigures) => number | null])[] = [
  ['Computing', (lanes) => lanes.computeBusyUs],
  ['Communication(Not Overlapped)', (lanes) => lanes.exposedCommunicationUs],
  ['Overlapped', (lanes) => lanes.overlappedUs],
  ['Communication', (lanes) => lanes.communicationBusyUs],
  ['Free', (lanes) => (lanes.freeUs === null ? null : lanes.freeUs + (lanes.exposedCopyUs ?? 0))],
];

/** Step times as the profiler wrote them, each beside ours for the same step; null when it wrote none. */
export function stepTraceTable(data: OverviewData, words: { readonly profiler: string; readonly ours: string; readonly step: string; readonly title: string }): FigureTable | null {
  const { profilerStepTrace: trace, report } = data;
  if (trace === null || trace.rows.length === 0) {
    return null;
  }
  const at = (name: string): number => trace.columns.findIndex((column) => column.trim().toLowerCase() === name.toLowerCase());
  const stepAt = at('Step');
  const pairs = PAIRS.filter(([name]) => at(name) >= 0);
  const columns: FigureColumn[] = [
    { key: 'step', title: words.step, kind: 'text' },
    ...pairs.flatMap(([name]): FigureColumn[] => [
      { key: `${name} profiler_us`, title: `${name}: ${words.profiler}`, kind: 'us' },
      { key: `${name} fuselens_us`, title: words.ours, kind: 'us' },
    ]),
  ];
  const rows = trace.rows.map((row): readonly Cell[] => {
    const step = stepAt < 0 ? '' : row[stepAt];
    const ours = lanesOfStep(data, step, trace.rows.length === 1 ? report.lanes : undefined);
    return [step, ...pairs.flatMap(([name, value]): readonly Cell[] => [number(row[at(name)]), ours === undefined ? null : value(ours)])];
  });
  return { id: 'profiler-step-trace', title: words.title, columns, rows };
}

/** Our lanes of the step with that number; the whole window where the profiler wrote one row and we know no such step. */
function lanesOfStep({ report }: OverviewData, step: string, whole: LaneFigures | undefined): LaneFigures | undefined {
  const digits = /(\d+)\D*$/;
  const wanted = digits.exec(step)?.[1];
  return (wanted === undefined ? undefined : report.steps.find(({ name }) => digits.exec(name)?.[1] === wanted)) ?? whole;
}

function number(text: string | undefined): number | null {
  const value = text === undefined || text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}
