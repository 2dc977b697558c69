import type { FetchKind } from './fetch';
import type { HostFile } from './hostFiles';

/** Checkpoints and the like: never part of a profile, however large. */
const NEVER = /\.(?:safetensors|pth|ckpt|bin|onnx|npz|parquet|arrow|lock|so|whl)$|(?<!\.trace)\.pt$/i;
/** What only the profiler's own parser reads. */
const RAW = /(?:^|\/)(?:PROF_[^/]*\/(?!mindstudio_profiler_output\/)|FRAMEWORK\/|ASCEND_PROFILER_OUTPUT\/\.[^/]*)/;
const TABLE = /(?:^|\/)(?:kernel_details[^/]*|op_summary[^/]*)\.csv$/i;
const TRACE = /(?:^|\/)(?:trace_view|msprof[^/]*)\.json$/i;
const DATABASE = /(?:^|\/)(?:ascend_pytorch_profiler[^/]*|ascend_mindspore_profiler[^/]*|analysis|msprof[^/]*)\.db$/i;
const PROFILE = /\.(?:csv|json|json\.gz|db|sqlite|txt|pickle|html|nsys-rep)$/i;
const NSYS = /\.nsys-rep$/i;

/**
 * Which files below a profiler's folder are fetched. `analysis` leaves the large ones where the tables beside them say the same:
 * raw data, `trace_view.json` beside `kernel_details.csv`, a database beside tables, `.nsys-rep` beside its export. A Kineto trace is
 * all there is, and comes.
 */
export function selectProfileFiles(files: readonly HostFile[], what: FetchKind): { readonly wanted: readonly HostFile[]; readonly leftThere: readonly HostFile[] } {
  if (what === 'columns') {
    return { wanted: files, leftThere: [] };
  }
  const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);
  const withTables = new Set(files.filter(({ path }) => TABLE.test(path)).map(({ path }) => folderOf(path)));
  const exported = new Set(files.filter(({ path }) => /\.sqlite$/i.test(path)).map(({ path }) => path.replace(/\.sqlite$/i, '')));
  const wanted: HostFile[] = [];
  const leftThere: HostFile[] = [];
  for (const file of files) {
    const { path } = file;
    if (NEVER.test(path) || /(?:^|\/)\.[^/]*\.(?:tmp|part)$/.test(path)) {
      continue;
    }
    const isRaw = RAW.test(path);
    if (!isRaw && !PROFILE.test(path)) {
      continue;
    }
    const left = isRaw || ((TRACE.test(path) || DATABASE.test(path)) && withTables.has(folderOf(path))) || (NSYS.test(path) && exported.has(path.replace(NSYS, '')));
    (what === 'analysis' && left ? leftThere : wanted).push(file);
  }
  return { wanted, leftThere };
}
