/** What one folder is, told from the names in it (and in its output folder). */
import type { FilePort, FolderEntry } from '../port';
import { INFO_NAME } from './ascendInfo';

/** Folder of the analysed result inside a rank's folder. */
export const OUTPUT_FOLDER = 'ASCEND_PROFILER_OUTPUT';
/** The same for msprof's own folders. */
const MSPROF_OUTPUT = 'mindstudio_profiler_output';
const CLUSTER_FOLDER = 'cluster_analysis_output';

const RANK_DATABASE = /^ascend_(pytorch|mindspore)_profiler(_\d+)?\.db$/;
const MSPROF_DATABASE = /^msprof_\d+\.db$/;
const OP_SUMMARY = /^op_summary(_slice_\d+)?(_\d+)*\.csv$/;
const MSPROF_TRACE = /^msprof(_slice_\d+)?(_\d+)+\.json$/;
const RAW_FOLDER = /^PROF_\d{6}_\d{17}_\w+$/;
/** Files that only the analysed output of a rank has. */
const OUTPUT_FILES = ['kernel_details.csv', 'trace_view.json', 'step_trace_time.csv', 'operator_details.csv', 'op_statistic.csv', 'api_statistic.csv', 'communication.json', 'communication_matrix.json', 'memory_record.csv', 'operator_memory.csv', 'npu_module_mem.csv'];

export interface AscendFolder {
  readonly kind: 'rank' | 'raw' | 'cluster';
  /** The folder the user knows. */
  readonly path: string;
  readonly entries: readonly FolderEntry[];
  /** Where the result files lie; equals `path` for loose files. */
  readonly output: string;
  readonly outputEntries: readonly FolderEntry[];
  /** Kernel tables, in reading order (msprof splits large ones). */
  readonly kernels: readonly string[];
  readonly trace: string | undefined;
  readonly database: string | undefined;
  readonly tool: 'torch_npu' | 'mindspore' | 'msprof';
}

/** The profiles that `folder` is; empty when it is none itself (its subfolders may be). */
export async function describeFolder(port: FilePort, folder: string, entries: readonly FolderEntry[]): Promise<readonly AscendFolder[]> {
  const name = port.basename(folder);
  const files = namesOf(entries, 'file');
  const folders = namesOf(entries, 'folder');
  if (name === CLUSTER_FOLDER || files.some((file) => /^cluster_(step_trace_time\.csv|communication(_matrix)?\.json|analysis\.db)$/.test(file))) {
    return [{ ...empty(port, folder, entries), kind: 'cluster' }];
  }
  if (folders.includes(OUTPUT_FOLDER)) {
    return [await withOutput(port, folder, entries, port.join(folder, OUTPUT_FOLDER))];
  }
  if (name === OUTPUT_FOLDER || OUTPUT_FILES.some((file) => files.includes(file)) || files.some((file) => RANK_DATABASE.test(file))) {
    const parent = port.dirname(folder);
    return [name === OUTPUT_FOLDER ? await withOutput(port, parent, await port.list(parent), folder) : await withOutput(port, folder, entries, folder)];
  }
  if (folders.includes(MSPROF_OUTPUT) || files.some((file) => OP_SUMMARY.test(file)) || (RAW_FOLDER.test(name) && files.some((file) => MSPROF_DATABASE.test(file)))) {
    return [await msprofFolder(port, folder, entries)];
  }
  if (isCollection(name, files, folders)) {
    return [{ ...empty(port, folder, entries), kind: 'raw' }];
  }
  if (RAW_FOLDER.test(name)) {
    const analysed = await oldSummaries(port, folder, folders);
    return analysed.length > 0 ? analysed : rawPart(port, folder, entries);
  }
  return [];
}

/** What torch_npu or MindSpore collected into one folder, whether it has been analysed or not. */
function isCollection(name: string, files: readonly string[], folders: readonly string[]): boolean {
  return files.some((file) => INFO_NAME.test(file)) || folders.includes('FRAMEWORK') || (/_ascend_(pt|ms)$/.test(name) && folders.some((sub) => RAW_FOLDER.test(sub)));
}

/** A `PROF_…` folder without results: inside a collection it is that collection which shows them, or is to be analysed. */
async function rawPart(port: FilePort, folder: string, entries: readonly FolderEntry[]): Promise<readonly AscendFolder[]> {
  const parent = port.dirname(folder);
  const around = await port.list(parent);
  return isCollection(port.basename(parent), namesOf(around, 'file'), namesOf(around, 'folder')) ? describeFolder(port, parent, around) : [{ ...empty(port, folder, entries), kind: 'raw', tool: 'msprof' }];
}

/** Up to CANN 7 the result stood in `device_<n>/summary`. */
async function oldSummaries(port: FilePort, folder: string, folders: readonly string[]): Promise<readonly AscendFolder[]> {
  const found: AscendFolder[] = [];
  for (const device of folders.filter((sub) => /^device_\d+$/.test(sub))) {
    const summary = port.join(folder, device, 'summary');
    const entries = await port.list(summary);
    if (namesOf(entries, 'file').some((file) => OP_SUMMARY.test(file))) {
      found.push(await msprofFolder(port, summary, entries));
    }
  }
  return found;
}

function empty(port: FilePort, path: string, entries: readonly FolderEntry[]): AscendFolder {
  const tool = /_ascend_ms$/.test(port.basename(path)) ? 'mindspore' : 'torch_npu';
  return { kind: 'rank', path, entries, output: path, outputEntries: entries, kernels: [], trace: undefined, database: undefined, tool };
}

async function withOutput(port: FilePort, path: string, entries: readonly FolderEntry[], output: string): Promise<AscendFolder> {
  let refused = false;
  const outputEntries = output === path ? entries : await port.list(output, () => { refused = true; });
  const files = namesOf(outputEntries, 'file');
  const find = (test: (name: string) => boolean): string | undefined => {
    const name = files.find(test);
    return name === undefined ? undefined : port.join(output, name);
  };
  const kernels = find((name) => name === 'kernel_details.csv');
  const folder = { ...empty(port, path, entries), output, outputEntries, kernels: kernels === undefined ? [] : [kernels], trace: find((name) => name === 'trace_view.json'), database: find((name) => RANK_DATABASE.test(name)) };
  // A result that may not be listed is no result that was never made.
  return outputEntries.length === 0 && !refused ? { ...folder, kind: 'raw' } : folder;
}

/** `PROF_…` as msprof leaves it: the newest export of `op_summary` and its timeline. */
async function msprofFolder(port: FilePort, path: string, entries: readonly FolderEntry[]): Promise<AscendFolder> {
  const output = namesOf(entries, 'folder').includes(MSPROF_OUTPUT) ? port.join(path, MSPROF_OUTPUT) : path;
  const outputEntries = output === path ? entries : await port.list(output);
  const files = namesOf(outputEntries, 'file');
  const database = namesOf(entries, 'file').find((name) => MSPROF_DATABASE.test(name));
  return {
    ...empty(port, path, entries), output, outputEntries, tool: 'msprof',
    kernels: newest(files.filter((name) => OP_SUMMARY.test(name))).map((name) => port.join(output, name)),
    trace: newest(files.filter((name) => MSPROF_TRACE.test(name))).map((name) => port.join(output, name))[0],
    database: database === undefined ? undefined : port.join(path, database),
  };
}

/** Every export carries its time at the end; only the slices of the latest belong together. */
function newest(names: readonly string[]): readonly string[] {
  const time = (name: string): string => /_(\d{14,17})\.\w+$/.exec(name)?.[1] ?? '';
  const latest = names.map(time).sort().at(-1);
  return names.filter((name) => time(name) === latest);
}

function namesOf(entries: readonly FolderEntry[], kind: 'file' | 'folder'): readonly string[] {
  return entries.filter((entry) => entry.kind === kind).map((entry) => entry.name);
}
