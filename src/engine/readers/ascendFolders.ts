/**
 * Finds the ranks of Ascend profiles below a path, by content: torch_npu and MindSpore exports under any folder name, text
 * and database side by side, msprof folders, collections that were never analysed, cluster analyses. Only folders are
 * listed and small metadata read, so that 64 ranks of 5 GB show at once.
 */
import type { FilePort, FolderEntry } from '../port';
import { Cancelled, type ProblemList } from '../profile/problems';
import { describeFolder, type AscendFolder } from './ascendFolder';
import { findAscendFile } from './ascendFile';
import { rankSources, relative } from './ascendSources';
import type { RankSource } from './reader';

export interface AscendSearch {
  readonly problems: ProblemList;
  /** Which export to read where a folder holds both; text when nothing is said. */
  readonly prefer?: 'text' | 'db' | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface AscendFinding {
  readonly sources: readonly RankSource[];
  /** The export that lies there too and is not used. */
  readonly alternative?: 'text' | 'db';
  /** A `cluster_analysis_output` folder met on the way; `cluster.ts` reads it. */
  readonly cluster?: string;
  /** Files and folders that were recognised and not opened; each is told as a problem. */
  readonly leftOut?: readonly string[];
}

/** A trainer's own layout, `work/outputs/training/<time>/profiling_time/step-5/<rank>`, and one more folder round it. */
export const MAX_DEPTH = 8;
/** More folders than this is no profile; listing on would take minutes on a network drive. */
const MAX_FOLDERS = 20_000;

/** Files of ranks that were copied together under names of their own; taken only where no whole rank is found. */
const LOOSE_FILE = /(kernel_details|op_summary).*\.csv$|trace_view.*\.json$/i;

/** Folders that never hold a rank. */
const NEVER = /^(\.|node_modules$|FRAMEWORK$|logs$|__pycache__$|site-packages$)/;

export async function findAscendFolders(port: FilePort, path: string, search: AscendSearch): Promise<AscendFinding> {
  const stat = await port.stat(path);
  if (stat === undefined) {
    return { sources: [] };
  }
  if (stat.kind === 'file') {
    return findAscendFile(port, path, search);
  }
  const { folders, files } = await walk(port, path, search);
  // A cluster analysis below is no rank: where nothing else lies there it is shown, else it stands back.
  const isAside = folders.some(({ kind }) => kind === 'cluster') && folders.every((folder) => folder.kind === 'cluster' && folder.path !== path);
  const found = isAside ? { sources: [] } : await rankSources(port, path, folders, search);
  if (found.sources.length > 0) {
    return { ...found, leftOut: tellLeftOut(found, folders, files, search.problems) };
  }
  const sources: RankSource[] = [];
  for (const file of files) {
    for (const source of (await findAscendFile(port, file, search)).sources) {
      const id = relative(path, file);
      sources.push({ ...source, id, group: id.includes('/') ? id.slice(0, id.lastIndexOf('/')) : '' });
    }
  }
  return isAside && sources.length === 0 ? rankSources(port, path, folders, search) : { ...found, sources };
}

/** Beside whole ranks a cluster analysis is no rank, and a loose table belongs to nobody: both are named, so that nobody takes them for read. */
function tellLeftOut({ sources }: AscendFinding, folders: readonly AscendFolder[], files: readonly string[], problems: ProblemList): readonly string[] {
  const clusters = sources.some(({ format }) => format === 'ascend-cluster') ? [] : folders.filter(({ kind }) => kind === 'cluster').map(({ path }) => path);
  clusters.forEach((folder) => problems.add('ascend-cluster-aside', folder, { severity: 'info' }));
  files.forEach((file) => problems.add('ascend-file-aside', file, { severity: 'info' }));
  return [...clusters, ...files];
}

/** Breadth first; a folder that is a rank is not entered. */
async function walk(port: FilePort, root: string, { signal, problems }: AscendSearch): Promise<{ readonly folders: readonly AscendFolder[]; readonly files: readonly string[] }> {
  const found: AscendFolder[] = [];
  const files: string[] = [];
  let level = [root];
  let visited = 0;
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const folder of level) {
      if (signal?.aborted === true) {
        throw new Cancelled();
      }
      if (++visited > MAX_FOLDERS) {
        problems.add('ascend-too-many-folders', root, { args: { folder: root, limit: MAX_FOLDERS } });
        return { folders: found, files };
      }
      const entries = await port.list(folder);
      const ranks = await describeFolder(port, folder, entries);
      found.push(...ranks);
      if (ranks.length === 0) {
        next.push(...subfolders(port, folder, entries));
        files.push(...entries.filter((entry) => entry.kind === 'file' && LOOSE_FILE.test(entry.name)).map((entry) => port.join(folder, entry.name)));
      }
    }
    level = next;
  }
  level.forEach((folder) => problems.add('folder-too-deep', folder, { severity: 'info', args: { depth: MAX_DEPTH }, mergeKey: root }));
  return { folders: found, files };
}

function subfolders(port: FilePort, folder: string, entries: readonly FolderEntry[]): readonly string[] {
  return entries.filter((entry) => entry.kind === 'folder' && !NEVER.test(entry.name)).map((entry) => port.join(folder, entry.name));
}
