/**
 * What lies at a path, found by content: one file, one rank's folder, or a tree of runs, steps and ranks. Detection lists
 * ranks; it reads only heads of files and small metadata, so that a folder of many ranks shows at once.
 */
import type { FilePort } from './port';
import type { Backend } from './profile/columns';
import type { OpenOptions } from '../protocol/engine';
import { visibleText } from '../protocol/visibleText';
import { asReason, Cancelled, ProblemList, UnreadableInput, type Problem } from './profile/problems';
import { findAscendFolders, MAX_DEPTH } from './readers/ascendFolders';
import { findKinetoFile } from './readers/kinetoDetect';
import { findSqliteFile } from './readers/sqliteDetect';
import { findStoredColumns } from './readers/storedColumns';
import type { FormatId, RankSource } from './readers/reader';

export interface DetectedProfile {
  readonly path: string;
  readonly format: FormatId | 'mixed';
  readonly backend: Backend | undefined;
  readonly sources: readonly RankSource[];
  readonly problems: readonly Problem[];
  /** The export not used where text and DB exports of one run lie side by side. */
  readonly alternative: 'text' | 'db' | undefined;
}

/** What a finder of one format says about a path: ranks it claims, and whether files lie there that it alone understands. */
export interface Finding {
  readonly sources: readonly RankSource[];
  readonly alternative?: 'text' | 'db';
}

export interface DetectOptions extends OpenOptions {
  readonly signal?: AbortSignal;
}

/** More files than this in one tree is not a profile folder but somebody's home. */
const MAX_FILES = 20_000;

const SQLITE_NAME = /\.(db|sqlite|sqlite3|nsys-rep)$/i;
const ANY_NAME = /\.(json|json\.gz|gz|zip|tar|tgz|tar\.gz|db|sqlite|sqlite3|nsys-rep)$/i;
/** Recordings of others, which are told with what opens them. */
const FOREIGN_NAME = /\.(pftrace|perfetto-trace|pb|pickle|pkl|html?)$/i;
/** What a capture of ours says of itself, beside what it recorded. */
const OWN_NAME = /^fuselens-/;
/** More files beside Ascend ranks than this are not looked into. */
const MAX_BESIDE = 1000;

export async function detectProfile(port: FilePort, path: string, options: DetectOptions = {}): Promise<DetectedProfile> {
  const stat = await port.stat(path);
  if (stat === undefined) {
    throw new UnreadableInput({ code: 'error.not-found', args: { file: path } });
  }
  const problems = new ProblemList();
  const telling = tellingPort(port, problems);
  const found = stat.kind === 'file' ? await detectFile(telling, path, path, problems, options) : await detectFolder(telling, path, problems, options);
  if (found.sources.length === 0 && !problems.toArray().some((problem) => problem.severity === 'error')) {
    const refused = problems.toArray().find(({ kind }) => kind === 'folder-unreadable');
    if (refused?.args !== undefined) {
      throw new UnreadableInput({ code: 'error.folder-unreadable', args: refused.args });
    }
    const passedOver = problems.toArray().filter(({ kind }) => kind === 'file-passed-over');
    if (stat.kind === 'folder' && passedOver.length > 0) {
      const more = passedOver.length - 1;
      throw new UnreadableInput({ code: more === 0 ? 'error.no-profile-in-folder-because' : 'error.no-profile-in-folder-and-more', args: { ...passedOver[0].args, folder: path, more } });
    }
    throw new UnreadableInput({ code: stat.kind === 'file' ? 'error.not-a-profile' : 'error.no-profile-in-folder', args: { file: path } });
  }
  const sources = uniqueRanks(found.sources, problems).map((source) => ({ ...source, label: visibleText(source.label), group: visibleText(source.group) }));
  return { path, format: formatOf(sources), backend: backendOf(sources), sources, problems: problems.toArray(), alternative: found.alternative };
}

/** Folders that may not be listed are told once each, whoever asks for them: ranks may lie in there. */
function tellingPort(port: FilePort, problems: ProblemList): FilePort {
  const told = new Set<string>();
  return {
    ...port,
    list: (folder, onRefused) => port.list(folder, (reason) => {
      if (!told.has(folder)) {
        told.add(folder);
        problems.add('folder-unreadable', folder, { args: { folder, reason } });
      }
      onRefused?.(reason);
    }),
  };
}

async function detectFile(port: FilePort, root: string, path: string, problems: ProblemList, options: DetectOptions): Promise<Finding> {
  const head = await port.read(path, 0, 64 * 1024);
  if (isSqlite(head) || /\.nsys-rep$/i.test(path)) {
    return findSqliteFile({ port, root, path, problems });
  }
  const ascend = await findAscendFolders(port, path, { problems, ...options });
  if (ascend.sources.length > 0) {
    return ascend;
  }
  return findKinetoFile({ port, root, path, head, problems, signal: options.signal });
}

async function detectFolder(port: FilePort, root: string, problems: ProblemList, options: DetectOptions): Promise<Finding> {
  const stored = await findStoredColumns(port, root, problems);
  if (stored !== undefined) {
    return { sources: stored };
  }
  const ascend = await findAscendFolders(port, root, { problems, ...options });
  const claimed = new Set([...ascend.sources.flatMap((source) => [source.path, ...source.files]), ...(ascend.leftOut ?? [])]);
  const sources = [...ascend.sources];
  const files = await filesBelow(port, root, problems, { passOver: claimed, limit: sources.length === 0 ? MAX_FILES : MAX_BESIDE, signal: options.signal });
  if (files.length > MAX_FILES) {
    throw new UnreadableInput({ code: 'error.too-many-files', args: { file: root, limit: MAX_FILES } });
  }
  for (const file of files) {
    sources.push(...(await tryFile(port, root, file, problems)));
  }
  return { sources, ...(ascend.alternative === undefined ? {} : { alternative: ascend.alternative }) };
}

/** In a folder a file that is not ours is passed over with a note, where alone it would be refused. */
async function tryFile(port: FilePort, root: string, path: string, problems: ProblemList): Promise<readonly RankSource[]> {
  try {
    const head = await port.read(path, 0, 64 * 1024);
    if (isSqlite(head) || SQLITE_NAME.test(path)) {
      return (await findSqliteFile({ port, root, path, problems })).sources;
    }
    const { sources } = await findKinetoFile({ port, root, path, head, problems });
    if (sources.length === 0) {
      problems.add('ascend-file-aside', path, { severity: 'info' });
    }
    return sources;
  } catch (error) {
    if (!(error instanceof UnreadableInput)) {
      throw error;
    }
    problems.add('file-passed-over', path, { severity: 'info', args: asReason(error.detail) });
    return [];
  }
}

interface FileSearch {
  /** Files and folders that are spoken for. */
  readonly passOver: ReadonlySet<string>;
  /** No more files than this; below `MAX_FILES` it is told how many there are beyond it. */
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

/** Files whose names may be those of recordings. One more than `MAX_FILES` where there are too many. */
async function filesBelow(port: FilePort, root: string, problems: ProblemList, { passOver, limit, signal }: FileSearch): Promise<readonly string[]> {
  const files: string[] = [];
  let level = passOver.has(root) ? [] : [root];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const folder of level) {
      if (signal?.aborted === true) {
        throw new Cancelled();
      }
      for (const entry of await port.list(folder)) {
        const path = port.join(folder, entry.name);
        if (passOver.has(path)) {
          continue;
        }
        if (entry.kind === 'folder') {
          if (!entry.name.startsWith('.') && entry.name !== 'node_modules') {
            next.push(path);
          }
        } else if ((ANY_NAME.test(entry.name) || FOREIGN_NAME.test(entry.name)) && !OWN_NAME.test(entry.name)) {
          if (files.length < limit) {
            files.push(path);
          } else if (limit === MAX_FILES) {
            return [...files, path];
          } else {
            problems.add('files-not-looked-at', root, { severity: 'info', args: { limit } });
          }
        }
      }
    }
    level = next;
  }
  level.forEach((folder) => problems.add('folder-too-deep', folder, { severity: 'info', args: { depth: MAX_DEPTH }, mergeKey: root }));
  return files;
}

function isSqlite(head: Uint8Array): boolean {
  const magic = 'SQLite format 3\0';
  return head.length >= magic.length && [...magic].every((character, i) => head[i] === character.charCodeAt(0));
}

/** Two sources that claim one rank of one group are both kept, as unknown ranks under their own names: never merged, never both rank 0. */
function uniqueRanks(sources: readonly RankSource[], problems: ProblemList): readonly RankSource[] {
  const seen = new Map<string, number>();
  const count = (key: string): number => seen.get(key) ?? 0;
  const keysOf = ({ group, rank, label }: RankSource): readonly string[] => [...(rank === undefined ? [] : [`rank ${group}\0${rank}`]), `label ${group}\0${label}`];
  sources.flatMap(keysOf).forEach((key) => seen.set(key, count(key) + 1));
  return sources.map((source) => {
    const { group, rank, label, path } = source;
    if (rank === undefined || count(`rank ${group}\0${rank}`) <= 1) {
      return source;
    }
    problems.add('rank-repeated', path, { severity: 'info', args: { rank, label }, mergeKey: `${group}\0${rank}` });
    return count(`label ${group}\0${label}`) === 1 || label.includes(port(path)) ? source : { ...source, label: `${label} (${port(path)})` };
  });
}

const port = (path: string): string => path.split(/[\\/]/).filter((part) => part !== '').slice(-1)[0] ?? path;

function formatOf(sources: readonly RankSource[]): FormatId | 'mixed' {
  const formats = new Set(sources.map((source) => source.format));
  return formats.size === 1 ? [...formats][0] : 'mixed';
}

function backendOf(sources: readonly RankSource[]): Backend | undefined {
  return sources.length > 0 && sources.every((source) => source.format !== 'kineto' && source.format !== 'nsys-sqlite') ? 'ascend' : undefined;
}
