/** What lies in a rank's folder: which files its figures come from, which were passed over and why, and which are missing. */
import type { RankFile } from '../../protocol/engine';
import type { FilePort } from '../port';
import { OUTPUT_FOLDER } from './ascendFolder';
import type { RankSource } from './reader';

type Role = 'kernels' | 'trace' | 'steps' | 'communication' | 'memory' | 'table' | 'settings' | 'database';

/** First match tells; what matches none is of no use to us. */
const ROLES: readonly (readonly [RegExp, Role])[] = [
  [/^(kernel_details|op_summary).*\.csv$/, 'kernels'], [/^(trace_view.*|msprof_.*)\.json$/, 'trace'], [/^(cluster_)?step_trace_time.*\.csv$/, 'steps'],
  [/^(cluster_)?communication(_matrix|_group)?\.json$/, 'communication'], [/^(memory_record|npu_module_mem).*\.csv$/, 'memory'], [/^profiler_(info(_\d+)?|metadata)\.json$/, 'settings'],
  [/^(op_statistic|api_statistic|operator_memory|operator_details|l2_cache|data_preprocess|aicpu|static_op_mem|soc_pmu|communication_statistic|nic|roce|pcie|hccs)(_\d+)*\.csv$/, 'table'],
  [/\.db$/, 'database'],
];
/** Of a text export: told as missing, because something is unknown without them. */
const EXPECTED = ['kernel_details.csv', 'trace_view.json', 'step_trace_time.csv', 'communication.json', 'communication_matrix.json', 'memory_record.csv', 'operator_memory.csv', 'op_statistic.csv', 'api_statistic.csv', 'operator_details.csv'];
/** Two folders deep at most: the rank's own and its output. */
const RAW_FOLDER = /^(PROF_|FRAMEWORK$|logs$|device_\d|host$)/;

const roleOf = (name: string): Role | undefined => ROLES.find(([pattern]) => pattern.test(name))?.[1];

export async function rankFiles(port: FilePort, source: RankSource): Promise<readonly RankFile[]> {
  const used = new Set(source.files);
  const rows: RankFile[] = [];
  const stat = await port.stat(source.path);
  if (stat?.kind !== 'folder' || !source.format.startsWith('ascend') && source.format !== 'msprof-db') {
    for (const path of new Set([source.path, ...source.files])) {
      rows.push({ name: port.basename(path), bytes: (await port.stat(path))?.size ?? null, state: 'read', about: `file.${roleOf(port.basename(path)) ?? 'trace'}` });
    }
    return rows;
  }
  const isDatabase = source.format === 'ascend-db' || source.format === 'msprof-db';
  const folders = [source.path];
  for (const folder of folders) {
    const prefix = folder === source.path ? '' : `${port.basename(folder)}/`;
    for (const entry of await port.list(folder)) {
      const path = port.join(folder, entry.name);
      if (entry.kind === 'folder') {
        if (prefix === '' && (entry.name === OUTPUT_FOLDER || entry.name === 'mindstudio_profiler_output')) {
          folders.push(path);
        } else {
          rows.push({ name: `${prefix}${entry.name}/`, bytes: null, state: 'unused', about: RAW_FOLDER.test(entry.name) ? 'file.unused.raw' : 'file.unused.unknown' });
        }
        continue;
      }
      const role = roleOf(entry.name);
      const isRead = used.has(path) && role !== undefined;
      const about = isRead ? `file.${role}` : role === undefined ? 'file.unused.unknown' : role === 'database' || isDatabase ? 'file.unused.other-export' : 'file.unused.unread';
      rows.push({ name: `${prefix}${entry.name}`, bytes: (await port.stat(path))?.size ?? null, state: isRead ? 'read' : 'unused', about });
    }
  }
  if (source.format === 'ascend-text') {
    const present = new Set(rows.map(({ name }) => name.split('/').at(-1)));
    rows.push(...EXPECTED.filter((name) => !present.has(name)).map((name): RankFile => ({ name, bytes: null, state: 'missing', about: `file.missing.${roleOf(name) ?? 'table'}` })));
  }
  const order: Readonly<Record<RankFile['state'], number>> = { read: 0, unused: 1, missing: 2 };
  return rows.sort((a, b) => order[a.state] - order[b.state]);
}
