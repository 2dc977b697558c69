/**
 * A rank whose kernel table and trace are gone (never copied, or removed by the profiler's own data simplification) but
 * whose sums are still there: step times, communication, operator statistics, memory. Its kernels are unknown.
 */
import { noDeviceEvents, noHostEvents } from '../profile/builders';
import type { RankData, SideTable, StepInfo } from '../profile/columns';
import type { FilePort } from '../port';
import { StringTable } from '../profile/strings';
import { findColumn } from './ascendColumns';
import { readSideFiles, type AscendTextFolder } from './ascendText';
import type { ReaderContext } from './reader';

const SUMS = /^(step_trace_time|op_statistic|api_statistic|operator_memory|operator_details|memory_record|npu_module_mem)(_\d+)*\.csv$|^communication(_matrix)?\.json$/;
const HEAD = 4096;

/** Whether one of the files says anything: a table with a row, a JSON object with a key. */
export async function hasSums(port: FilePort, files: readonly string[]): Promise<boolean> {
  for (const path of files.filter((file) => SUMS.test(port.basename(file)))) {
    const head = new TextDecoder('utf-8').decode(await port.read(path, 0, HEAD));
    const isTable = /\.csv$/.test(path);
    if (isTable ? head.split(/\r?\n/).filter((line) => line.trim() !== '').length > 1 : /^\ufeff?\s*\{\s*"/.test(head)) {
      return true;
    }
  }
  return false;
}

/** Reads what the profiler summed up of a rank. There are no events in it, and `coverage` says that this means nothing. */
export async function readAscendSummary(context: ReaderContext, { sideFiles, info }: AscendTextFolder): Promise<RankData> {
  const side = await readSideFiles(context, sideFiles, undefined);
  const stepTrace = side.tables.find(({ file }) => /^step_trace_time/.test(file));
  const none = { kind: 'none' } as const;
  return {
    backend: 'ascend', rank: info.rank, device: deviceOf(stepTrace), host: undefined, baseNs: 0n, strings: new StringTable(), deviceEvents: noDeviceEvents(), hostEvents: noHostEvents(),
    streams: [], threads: [], steps: stepsOf(stepTrace),
    coverage: { kernels: false, stepIds: false, streams: false, shapes: false, types: false, hostOperators: false, launches: false, pythonFrames: false, callStacks: false },
    detailSource: none, deviceDetailSource: none, ...side, facts: info.facts,
  };
}

/** The numbered steps of the profiler's table; when they began and how long they took on the host it does not say. */
function stepsOf(table: SideTable | undefined): readonly StepInfo[] {
  const at = table === undefined ? -1 : findColumn(table.columns, 'Step');
  const numbers = [...new Set((table?.rows ?? []).map((row) => row[at] ?? ''))].filter((text) => /^\d+$/.test(text)).map(Number);
  return numbers.sort((a, b) => a - b).map((number) => ({ name: `ProfilerStep#${number}`, number, startNs: NaN, durationNs: NaN, source: 'profiler' }));
}

function deviceOf(table: SideTable | undefined): string | undefined {
  const at = table === undefined ? -1 : findColumn(table.columns, 'Device_id');
  const devices = new Set((table?.rows ?? []).map((row) => row[at] ?? '').filter((text) => text !== ''));
  return devices.size === 1 ? [...devices][0] : undefined;
}
