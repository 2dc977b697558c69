/** One file of an Ascend profile, opened alone: a kernel table, a trace, or a part of a rank's output folder. */
import type { FilePort } from '../port';
import { UnreadableInput } from '../profile/problems';
import { isKernelHeader, isWideHeader } from './ascendColumns';
import { describeFolder, OUTPUT_FOLDER } from './ascendFolder';
import { findAscendArchive } from './ascendArchive';
import { findAscendFolders, type AscendFinding, type AscendSearch } from './ascendFolders';
import { rankFromName, readRankInfo } from './ascendInfo';
import { rankSources } from './ascendSources';
import { readAscendText } from './ascendText';
import { CsvScanner } from './csvScanner';
import type { RankSource } from './reader';

const HEAD = 64 * 1024;

/** Parts of a rank's output that say nothing alone. */
const PARTS = /^(step_trace_time|operator_details|op_statistic|api_statistic|memory_record|operator_memory|npu_module_mem|l2_cache|data_preprocess|task_time)(_\d+)*\.csv$|^communication(_matrix)?\.json$|^profiler_(info(_\d+)?|metadata)\.json$/;

export async function findAscendFile(port: FilePort, path: string, search: AscendSearch): Promise<AscendFinding> {
  const name = port.basename(path);
  const folder = port.dirname(path);
  const isPart = PARTS.test(name);
  if (isPart || ((name === 'kernel_details.csv' || name === 'trace_view.json') && port.basename(folder) === OUTPUT_FOLDER)) {
    const found = await describeFolder(port, folder, await port.list(folder));
    const rank = found.find((one) => one.kind === 'rank');
    if (rank !== undefined) {
      return rankSources(port, rank.path, [rank], search);
    }
    if (isPart) {
      throw new UnreadableInput({ code: 'error.ascend-part', args: { file: name, folder } });
    }
  }
  const head = await port.read(path, 0, HEAD);
  const archived = await findAscendArchive(port, path, head, search, findAscendFolders, isAscendTrace);
  if (archived !== undefined) {
    return archived;
  }
  if (/\.csv$/i.test(name)) {
    const header = headerOf(head);
    if (!isKernelHeader(header)) {
      throw new UnreadableInput({ code: isWideHeader(header) ? 'error.ascend-csv-utf16' : 'error.ascend-csv-unknown', args: { file: name } });
    }
    return { sources: [await fileSource(port, path, 'kernels')] };
  }
  return /\.json$/i.test(name) && isAscendTrace(name, head) ? { sources: [await fileSource(port, path, 'trace')] } : { sources: [] };
}

/** Cells of the first line. */
function headerOf(head: Uint8Array): readonly string[] {
  let header: readonly string[] = [];
  const scanner = new CsvScanner({
    header: (cells) => {
      header = cells;
      return undefined;
    },
    row: () => undefined,
    damaged: () => undefined,
  });
  scanner.push(head);
  scanner.finish();
  return header;
}

/**
 * Whether a trace is one of torch_npu or msprof: a bare array whose events name an Ascend lane or flow, or carry their time
 * as text, which no other writer does.
 */
function isAscendTrace(name: string, head: Uint8Array): boolean {
  const text = new TextDecoder('utf-8').decode(head);
  if (!/^\ufeff?\s*[[{]/.test(text)) {
    return false;
  }
  const marked = /"(Ascend Hardware|torch_to_npu|async_npu|HostToDevice\w*|Overlap Analysis|AscendCL@\w+)"/.test(text) || /"Task Type"\s*:/.test(text);
  return marked || name === 'trace_view.json' || (/^\ufeff?\s*\[/.test(text) && /"ts"\s*:\s*"\d{15,}/.test(text));
}

async function fileSource(port: FilePort, path: string, what: 'kernels' | 'trace'): Promise<RankSource> {
  const folder = port.dirname(path);
  const name = port.basename(path);
  const atRank = port.basename(folder) === OUTPUT_FOLDER ? port.dirname(folder) : folder;
  const info = await readRankInfo(port, atRank, await port.list(atRank));
  const known = { ...info, rank: info.rank ?? rankFromName(name) };
  const files = [path, ...info.files];
  const bytes = (await port.stat(path))?.size ?? 0;
  return {
    id: name, label: name, format: /^op_summary/.test(name) ? 'ascend-op-summary' : 'ascend-text', path, rank: known.rank, group: '', bytes, files,
    read: (reading) => readAscendText(reading, { folder: path, output: folder, kernels: what === 'kernels' ? [path] : [], trace: what === 'trace' ? path : undefined, sideFiles: [], info: known }),
  };
}
