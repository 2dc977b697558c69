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
export function stepTraceTable(data: OverviewData, title: string): FigureTable | null {
  const { profilerStepTrace: trace, report } = data;
  if (trace === null || trace.rows.length === 0) {
    return null;
  }
  const at = (name: string): number => trace.columns.findIndex((column) => column.trim().toLowerCase() === name.toLowerCase());
  const stepAt = at('Step');
  const single = trace.rows.length === 1;
  const rows = trace.rows.flatMap((row): readonly (readonly Cell[])[] => {
    const step = stepAt < 0 ? '' : row[stepAt];
    const ours = lanesOfStep(data, step, single ? report.lanes : undefined);
    return PAIRS.filter(([name]) => at(name) >= 0).map(([name, value]) => {
      const theirs = number(row[at(name)]);
      const own = ours === undefined ? null : value(ours);
      return [...(single ? [] : [step]), name, theirs, own, theirs === null || own === null ? null : own - theirs];
    });
  });
  return { id: 'profiler-step-trace', title, columns: single ? COLUMNS.slice(1) : COLUMNS, rows };
}

const COLUMNS: readonly FigureColumn[] = [
  { key: 'step', title: 'column.step', kind: 'text' }, { key: 'lane', title: 'column.lane', kind: 'text' },
  { key: 'profiler_us', title: 'view.profilers', kind: 'us' }, { key: 'fuselens_us', title: 'view.ours', kind: 'us' }, { key: 'difference_us', title: 'column.difference', kind: 'us' },
];

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
