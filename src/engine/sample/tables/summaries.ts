import type { RankRun } from './rankRun';
import { STEP } from './rankRun';
import { absoluteText, usText } from './timeText';

/** step_trace_time.csv: one row, torch_npu's nine columns and Preparing. No p2p, so Bubble is 0. */
export function stepTraceTime({ rank, lanes }: RankRun): string {
  const exposed = usText(lanes.exposedCommunication);
  const cells = [
    rank, STEP, usText(lanes.computeBusy), exposed, usText(lanes.overlapped), usText(lanes.communicationBusy), usText(lanes.free),
    usText(lanes.span), 0, exposed, '318.250',
  ];
  return 'Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,'
    + `Communication(Not Overlapped and Exclude Receive),Preparing\n${cells.join(',')}\n`;
}

interface Row { readonly type: string; readonly core: string; count: number; total: number; min: number; max: number }

/** op_statistic.csv: compute only, one row per type and core, by total time. */
export function opStatistic({ rank, kernels, schedule }: RankRun): string {
  const rows = new Map<string, Row>();
  let all = 0;
  kernels.forEach((kernel, i) => {
    const ns = schedule.kernelDuration[i];
    const key = `${kernel.type}|${kernel.core}`;
    const row = rows.get(key) ?? { type: kernel.type, core: kernel.core, count: 0, total: 0, min: Infinity, max: 0 };
    row.count++;
    row.total += ns;
    row.min = Math.min(row.min, ns);
    row.max = Math.max(row.max, ns);
    rows.set(key, row);
    all += ns;
  });
  const lines = [...rows.values()].sort((a, b) => b.total - a.total || (a.type < b.type ? -1 : 1)).map((row) => [
    rank, row.type, row.core, row.count, usText(row.total), usText(row.min), (row.total / row.count / 1000).toFixed(3), usText(row.max),
    ((100 * row.total) / all).toFixed(3),
  ].join(','));
  return `Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n${lines.join('\n')}\n`;
}

const SAMPLES = 240;
/** Peak of what tensors need; the same in both runs, so that only the reserved memory differs (figure 15). */
const PEAK_GB = 54.4;
const RESTING_GB = 26.8;

/**
 * memory_record.csv: allocated memory rises through each forward and falls through each backward; reserved memory is flat,
 * about 1 GB higher in the baseline, where gather buffers stay in a pool of their own.
 */
export function memoryRecord({ rank, run, lanes, schedule }: RankRun): string {
  const marks = [
    ...schedule.marks.filter((mark) => mark.name === 'micro-batch' || mark.name === 'backward' || mark.name === 'optimizer').map((mark) => mark.ns),
  ];
  const reserved = (run.targets.reservedGb * 1024).toFixed(1);
  const device = `NPU:${rank}`;
  const lines: string[] = [];
  const [firstForward, firstBackward, secondForward, secondBackward, optimizer] = marks;
  const share = (ns: number): number => {
    const [low, high, end] = ns < secondForward ? [firstForward, firstBackward, secondForward] : [secondForward, secondBackward, optimizer];
    return ns < low || ns > end ? 0 : ns < high ? (ns - low) / (high - low) : (end - ns) / (end - high);
  };
  for (let i = 0; i <= SAMPLES; i++) {
    const ns = Math.round((lanes.firstNs + (lanes.span * i) / SAMPLES) / 20) * 20;
    const allocated = ((RESTING_GB + (PEAK_GB - RESTING_GB) * share(ns)) * 1024).toFixed(3);
    const time = absoluteText(run.baseUs, ns);
    lines.push(`PTA,${time},${allocated},${reserved},${allocated},2,${device}`, `APP,${time},,${(run.targets.reservedGb * 1024 + 3120.5).toFixed(1)},,,${device}`);
  }
  return `Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\n${lines.join('\n')}\n`;
}
