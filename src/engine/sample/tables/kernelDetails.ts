import type { Kernel } from '../model/kernel';
import type { RankRun } from './rankRun';
import { collectiveNames, STEP } from './rankRun';
import { absoluteText, usText } from './timeText';

const HEADER = 'Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),'
  + 'Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID\n';

const EAGER_MODEL = 4294967295;
const COMPUTE_STREAM = 2;
const FIRST_TASK = 4117;

/** Block Dim, Mix Block Dim. */
const BLOCKS: Readonly<Record<string, string>> = { AI_CORE: '24,0', AI_VECTOR_CORE: '48,0', MIX_AIC: '24,48', MIX_AIV: '48,0' };

/** kernel_details.csv, columns of CANN 8.3 without counters (`_aic_metrics` none), rows by start time. */
export function* kernelDetails(input: RankRun): Iterable<string> {
  yield HEADER;
  const { schedule, kernels, run } = input;
  const head = `${STEP},${input.rank},${EAGER_MODEL},`;
  const names = collectiveNames(input.collectives);
  const order = Array.from(schedule.collectiveStart.keys()).sort((a, b) => schedule.collectiveStart[a] - schedule.collectiveStart[b] || a - b);
  const cells = new Map<Kernel, readonly [string, string]>();
  let next = 0;
  let previousEnd = 0;
  let previousCollectiveEnd = 0;
  const collectiveRow = (id: number): string => {
    const start = schedule.collectiveStart[id];
    const wait = next === 0 ? 0 : Math.max(0, start - previousCollectiveEnd);
    previousCollectiveEnd = Math.max(previousCollectiveEnd, schedule.collectiveEnd[id]);
    return `${head}N/A,N/A,${names[id].name},${names[id].type},N/A,COMMUNICATION,${absoluteText(run.baseUs, start)},`
      + `${usText(schedule.collectiveEnd[id] - start)},${usText(wait)},0${',N/A'.repeat(9)}\n`;
  };
  for (let i = 0; i < kernels.length; i++) {
    const start = schedule.kernelStart[i];
    while (next < order.length && schedule.collectiveStart[order[next]] < start) {
      yield collectiveRow(order[next]);
      next++;
    }
    const kernel = kernels[i];
    let around = cells.get(kernel);
    if (around === undefined) {
      around = [`,${COMPUTE_STREAM},${kernel.name},${kernel.type},dynamic,${kernel.core},`, tail(kernel)];
      cells.set(kernel, around);
    }
    const wait = i === 0 ? 0 : start - previousEnd;
    previousEnd = start + schedule.kernelDuration[i];
    yield `${head}${FIRST_TASK + i}${around[0]}${absoluteText(run.baseUs, start)},${usText(schedule.kernelDuration[i])},${usText(wait)}${around[1]}`;
  }
  while (next < order.length) {
    yield collectiveRow(order[next]);
    next++;
  }
}

function tail(kernel: Kernel): string {
  const blocks = `,${BLOCKS[kernel.core]},NO,`;
  if (kernel.inputShapes === '') {
    return `${blocks}N/A,N/A,N/A,N/A,N/A,N/A,N/A\n`;
  }
  const formats = kernel.inputTypes.replace(/[A-Z0-9_]+/g, 'ND');
  return `${blocks}"""${kernel.inputShapes}""",${kernel.inputTypes},${formats},"""${kernel.outputShapes}""",${kernel.outputTypes},ND,N/A\n`;
}
