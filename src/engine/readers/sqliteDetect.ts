import type { FilePort } from '../port';
import { UnreadableInput, type ProblemList } from '../profile/problems';
import { readAscendDb } from './ascendDb';
import { readNsys } from './nsys';
import type { RankSource } from './reader';

/** What a SQLite file is, by its tables. */
export type SqliteKind = 'ascend-db' | 'msprof-db' | 'ascend-analysis' | 'ascend-cluster' | 'nsys-sqlite' | 'unknown';

/** Looks at a database's tables. Throws `UnreadableInput` when it cannot be opened. */
export async function sniffSqlite(port: FilePort, path: string): Promise<SqliteKind> {
  if (port.openSqlite === undefined) {
    throw new UnreadableInput({ code: 'error.sqlite-unsupported', args: { file: path } });
  }
  const database = await port.openSqlite(path);
  try {
    const has = (table: string): boolean => database.columns(table).length > 0;
    if (has('StringIds') && (has('CUPTI_ACTIVITY_KIND_KERNEL') || has('CUPTI_ACTIVITY_KIND_RUNTIME') || has('NVTX_EVENTS') || has('TARGET_INFO_SYSTEM_ENV'))) {
      return 'nsys-sqlite';
    }
    if (has('PYTORCH_API') || has('STEP_TIME')) {
      return 'ascend-db';
    }
    if (has('STRING_IDS') && (has('TASK') || has('CANN_API') || has('MSTX_EVENTS'))) {
      return 'msprof-db';
    }
    if (has('ClusterStepTraceTime') || has('ClusterCommAnalyzerTime') || has('ClusterCommunicationTime') || has('ClusterBaseInfo')) {
      return 'ascend-cluster';
    }
    return has('StepTraceTime') || has('CommAnalyzerTime') ? 'ascend-analysis' : 'unknown';
  } finally {
    database.close();
  }
}

export interface SqliteFileInput {
  readonly port: FilePort;
  /** What the user opened; ids are relative to it. */
  readonly root: string;
  readonly path: string;
  readonly problems: ProblemList;
}

/**
 * The rank in a SQLite file. A file that is a database but no profile throws `UnreadableInput` with what it is; an
 * Nsight report that was not exported throws it with the command that does.
 */
export async function findSqliteFile({ port, root, path }: SqliteFileInput): Promise<{ readonly sources: readonly RankSource[] }> {
  const file = port.basename(path);
  if (/\.nsys-rep$/i.test(path)) {
    throw new UnreadableInput({ code: 'error.nsys-not-exported', args: { file, command: exportCommand(path) } });
  }
  const kind = await sniffSqlite(port, path);
  const id = path.startsWith(root) && path !== root ? path.slice(root.length).replace(/^[\\/]+/, '').replaceAll('\\', '/') : file;
  const bytes = (await port.stat(path))?.size ?? 0;
  const rank = rankOfName(file);
  const common = { id, label: rank === undefined ? file : `Rank ${rank}`, path, rank, group: '', bytes };
  switch (kind) {
    case 'ascend-db':
    case 'msprof-db': {
      const beside = port.join(port.dirname(path), 'analysis.db');
      const files = (await port.stat(beside)) === undefined ? [path] : [path, beside];
      return { sources: [{ ...common, format: kind, files, read: (context) => readAscendDb(context, { path, rank }) }] };
    }
    case 'nsys-sqlite':
      return { sources: [{ ...common, format: kind, files: [path], read: (context) => readNsys(context, { path, rank }) }] };
    case 'ascend-analysis':
    case 'ascend-cluster':
      throw new UnreadableInput({ code: 'error.sqlite-only-summaries', args: { file } });
    case 'unknown':
      throw new UnreadableInput({ code: 'error.sqlite-not-a-profile', args: { file } });
  }
}

/** `ascend_pytorch_profiler_3.db` → 3, `report_rank12.sqlite` → 12; a bare number elsewhere proves nothing. */
export function rankOfName(file: string): number | undefined {
  const found = /^ascend_pytorch_profiler_(\d+)\.db$/.exec(file) ?? /rank[_-]?(\d+)/i.exec(file);
  return found === null ? undefined : Number(found[1]);
}

/** What the user runs to make a report readable, with the path quoted for a POSIX shell and for cmd alike. */
const exportCommand = (path: string): string => `nsys export --type sqlite "${path}"`;
