import type { OverviewData } from '../../protocol/overview';
import { EventKind, type RankData, type SideTable } from '../profile/columns';
import { durationDensity } from './density';
import { eachRow } from './groups';
import { recordsCopies } from './laneFigures';
import { measureWindow, reportOf, type ReportOptions } from './rankReport';
import { isKernel, type Selection } from './selection';

/** Rows of the Overview's kernel table; what is left off is counted in `omitted`. */
const OVERVIEW_KERNELS = 2000;

/** Everything the Overview draws, for the whole recording or one step (index into `RankData.steps`). */
export function overview(data: RankData, options: ReportOptions): OverviewData {
  const window = measureWindow(data, options.step);
  const { selection, sorted, groups } = window;
  const step = options.step === undefined ? undefined : data.steps[options.step];
  return {
    report: reportOf(data, options, window),
    window: step === undefined ? { name: '', source: 'window' } : { name: step.name, source: step.source },
    density: durationDensity(sorted),
    ...longestKernels(data, selection),
    kernels: groups.slice(0, OVERVIEW_KERNELS).map((group) => ({
      name: group.name, type: group.type, family: group.family, count: group.count, totalUs: group.totalNs / 1000,
      meanUs: group.timed === 0 ? null : group.totalNs / group.timed / 1000,
      maxUs: group.timed === 0 ? null : group.maxNs / 1000,
      longestIndex: group.longestRow,
    })),
    omitted: Math.max(0, groups.length - OVERVIEW_KERNELS),
    assumptions: assumptions(data, selection, options.step),
    profilerStepTrace: profilerStepTrace(data, step?.number),
    profilerCommunication: profilerCommunication(data, step?.number),
  };
}

function longestKernels(data: RankData, selection: Selection): Pick<OverviewData, 'topFiveCommunicationShare' | 'longest'> {
  const { deviceEvents: events, strings } = data;
  const communication: number[] = [];
  let totalNs = 0;
  let longest = -1;
  eachRow(selection, (row) => {
    const duration = events.durationNs[row];
    if (!isKernel(events.kind[row]) || Number.isNaN(duration)) {
      return;
    }
    totalNs += duration;
    if (longest < 0 || duration > events.durationNs[longest]) {
      longest = row;
    }
    if (events.kind[row] === EventKind.Communication) {
      communication.push(duration);
    }
  });
  const topFive = Float64Array.from(communication).sort().slice(-5).reduce((sum, duration) => sum + duration, 0);
  return {
    topFiveCommunicationShare: communication.length === 0 || totalNs === 0 ? null : topFive / totalNs,
    longest: longest < 0 ? null : { name: strings.get(events.name[longest]), durationUs: events.durationNs[longest] / 1000, eventIndex: longest },
  };
}

/** What these figures take for granted, as message codes (`assumption.<name>`). */
function assumptions(data: RankData, selection: Selection, step: number | undefined): OverviewData['assumptions'] {
  const { deviceEvents: events, coverage } = data;
  const list: { code: string; args?: Record<string, string | number> }[] = [];
  if (step !== undefined) {
    list.push({ code: `assumption.step-${data.steps[step]?.source ?? 'window'}` });
  } else if (data.steps.length === 0 || data.steps.every((s) => s.source === 'window')) {
    list.push({ code: 'assumption.no-steps' });
  } else {
    list.push(data.steps.length === 1 ? { code: 'assumption.one-step' } : { code: 'assumption.whole-recording', args: { steps: data.steps.length } });
  }
  const devices = devicesOf(data, selection);
  if (devices.length > 1) {
    list.push({ code: 'assumption.devices', args: { count: devices.length, devices: devices.join(', ') } });
  }
  if (!coverage.streams && coverage.kernels && data.deviceEvents.count > 0) {
    list.push({ code: 'assumption.no-streams' });
  }
  if (!coverage.kernels) {
    list.push({ code: 'assumption.no-kernel-table' });
  } else if (!recordsCopies(data)) {
    list.push({ code: 'assumption.no-copies' });
  }
  if (!coverage.types && coverage.kernels && data.backend === 'ascend') {
    list.push({ code: 'assumption.no-types' });
  }
  let untimed = 0;
  let mixed = 0;
  eachRow(selection, (row) => {
    if (isKernel(events.kind[row])) {
      untimed += Number.isNaN(events.startNs[row] + events.durationNs[row]) ? 1 : 0;
      mixed += (events.flags[row] & 1) === 0 ? 0 : 1;
    }
  });
  if (untimed > 0) {
    list.push({ code: 'assumption.untimed', args: { count: untimed } });
  }
  if (mixed > 0) {
    list.push({ code: 'assumption.mixed', args: { count: mixed } });
  }
  return list;
}

/** Devices that ran kernels of the window, in the order of their streams. */
function devicesOf({ deviceEvents: events, streams }: RankData, selection: Selection): readonly number[] {
  const used = new Uint8Array(streams.length);
  eachRow(selection, (row) => {
    used[events.stream[row]] |= isKernel(events.kind[row]) ? 1 : 0;
  });
  return [...new Set(streams.flatMap(({ device }, i) => used[i] === 0 || device === undefined ? [] : [device]))];
}

/** The profiler's own rows of step_trace_time for this step (all rows where no step is chosen); null when there are none. */
export function profilerStepTrace(data: RankData, step: number | undefined): OverviewData['profilerStepTrace'] {
  const table = data.tables.find(isStepTrace);
  if (table === undefined || table.rows.length === 0) {
    return null;
  }
  const column = table.columns.findIndex((name) => name.trim().toLowerCase() === 'step');
  const rows = step === undefined || column < 0 ? table.rows : table.rows.filter((row) => row[column]?.trim() === String(step));
  return rows.length === 0 ? null : { columns: table.columns, rows };
}

/** Collectives kept of `communication.json`, the longest first. */
const MOST_COLLECTIVES = 500;

/** What the profiler itself says of each collective, the longest first; null when it says nothing. */
export function profilerCommunication(data: RankData, step: number | undefined): OverviewData['profilerCommunication'] {
  const ofStep = step === undefined ? data.communication : data.communication.filter((one) => /(\d+)\D*$/.exec(one.step)?.[1] === String(step));
  if (ofStep.length === 0) {
    return null;
  }
  const known = (value: number): number | null => (Number.isNaN(value) ? null : value);
  const longest = [...ofStep].sort((a, b) => (known(b.elapseMs) ?? -1) - (known(a.elapseMs) ?? -1)).slice(0, MOST_COLLECTIVES);
  return {
    omitted: ofStep.length - longest.length,
    rows: longest.map((one) => ({
      step: one.step, kind: one.kind, name: one.name, group: one.group,
      elapseMs: known(one.elapseMs), waitMs: known(one.waitMs), transitMs: known(one.transitMs), idleMs: known(one.idleMs),
    })),
  };
}

function isStepTrace(table: SideTable): boolean {
  return /step_trace_time|StepTraceTime/i.test(table.file);
}
