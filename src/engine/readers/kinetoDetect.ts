/** Finds Kineto traces in a file: one in a plain or gzip file, any number in a zip or tar. */
import type { FilePort } from '../port';
import { Cancelled, UnreadableInput, type ProblemList } from '../profile/problems';
import { containerOf, damagedHeaders, headOf, listMembers, openBytes, type ArchiveMember, type ContainerKind } from './archive';
import { readKinetoTrace } from './kineto';
import type { RankSource } from './reader';
import { classifyForeign, probeTrace, traceLabel, traceRank, type TraceProbe } from './traceDetect';

export interface KinetoFileQuery {
  readonly port: FilePort;
  /** What the user opened; ids and groups are relative to it. */
  readonly root: string;
  readonly path: string;
  /** First bytes of the file. */
  readonly head: Uint8Array;
  readonly problems: ProblemList;
  readonly signal?: AbortSignal;
}

export interface KinetoFinding {
  readonly sources: readonly RankSource[];
}

/** More members than this are not looked into. */
const MOST_MEMBERS = 4096;

/**
 * The traces of one file. Throws `UnreadableInput` with one sentence when the file is something else; an Ascend
 * `trace_view.json` gives no sources (its own reader finds it).
 */
export async function findKinetoFile(query: KinetoFileQuery): Promise<KinetoFinding> {
  const { port, path, head } = query;
  const container = await containerOf(port, path, head);
  const members = await listMembers(port, path, container);
  if (members === undefined) {
    const foreign = container === 'plain' ? classifyForeign(head) : undefined;
    if (foreign !== undefined) {
      throw refusal(query, foreign);
    }
    return { sources: await probeOne(query, container) };
  }
  const sources: RankSource[] = [];
  for (const member of members.filter(({ name, size }) => size > 0 && isTraceName(name)).slice(0, MOST_MEMBERS)) {
    if (query.signal?.aborted === true) {
      throw new Cancelled();
    }
    const probe = await probeTrace(openBytes(port, path, member.name, container));
    if (probe.kind === 'kineto') {
      sources.push(await sourceOf(query, container, probe.distributedRank, member));
    } else if (probe.kind === undefined) {
      const name = `${port.basename(path)} › ${member.name}`;
      query.problems.add('file-passed-over', name, { severity: 'info', args: { file: name, reason: codeOf(probe), keys: probe.keys.slice(0, 6).join(', '), count: probe.names } });
    }
  }
  const damaged = await damagedHeaders(port, path, container);
  if (sources.length === 0) {
    throw refusal(query, damaged > 0 ? 'error.tar-damaged' : 'error.archive-without-traces', { count: members.length });
  }
  if (damaged > 0) {
    query.problems.add('archive-damaged', port.basename(path), { count: damaged });
  }
  return { sources };
}

async function probeOne(query: KinetoFileQuery, container: ContainerKind): Promise<readonly RankSource[]> {
  const { port, path } = query;
  let cut = false;
  const probe = await probeTrace(openBytes(port, path, undefined, container, { onCut: () => { cut = true; } }));
  if (probe.kind === 'ascend-trace') {
    return [];
  }
  if (probe.kind === 'kineto') {
    return [await sourceOf(query, container, probe.distributedRank, undefined)];
  }
  const inner = container === 'gzip' ? classifyForeign(await headOf(openBytes(port, path, undefined, container), 4096)) : undefined;
  throw refusal(query, cut && inner === 'error.trace-empty-file' ? 'error.gzip-damaged' : inner ?? codeOf(probe), { keys: probe.keys.slice(0, 6).join(', '), count: probe.names });
}

function codeOf(probe: TraceProbe): string {
  if (probe.empty) {
    return 'error.trace-blank';
  }
  if (probe.form === 'none') {
    return 'error.trace-not-json';
  }
  if (probe.names > 0) {
    return 'error.trace-only-metadata';
  }
  if (probe.eventsFound) {
    return 'error.trace-no-events';
  }
  if (probe.keys.includes('traceEvents')) {
    return 'error.trace-events-null';
  }
  if (probe.keys.includes('nodes') && probe.keys.includes('schema')) {
    return 'error.foreign-execution-trace';
  }
  return probe.keys.length === 0 ? 'error.trace-empty-object' : 'error.trace-no-event-list';
}

function refusal({ port, path }: KinetoFileQuery, code: string, args: Readonly<Record<string, string | number>> = {}): UnreadableInput {
  return new UnreadableInput({ code, args: { file: port.basename(path), count: 0, keys: '', ...args } });
}

/** `tar -c .` writes `./` before every name. */
const plainName = (name: string): string => name.replace(/^(?:\.\/)+/, '');

const isTraceName = (name: string): boolean => /\.json(?:\.gz)?$/i.test(name) && !/(?:^|\/)(?:\.|__MACOSX\/)/.test(plainName(name));

async function sourceOf(query: KinetoFileQuery, container: ContainerKind, distributedRank: number | undefined, member: ArchiveMember | undefined): Promise<RankSource> {
  const { port, root, path } = query;
  const size = (await port.stat(path))?.size ?? 0;
  const relative = member === undefined ? relativeTo(root, path, port) : plainName(member.name);
  const parts = relative.split('/');
  const name = parts[parts.length - 1];
  const rank = traceRank(member?.name ?? path, distributedRank);
  const folders = parts.slice(0, -1);
  // `rank_0/trace.json`: the folder is the rank, not a group of its own.
  const inRankFolder = folders.length > 0 && traceRank(`${folders[folders.length - 1]}/x`, undefined) !== undefined;
  return {
    id: member === undefined ? relative : `${relativeTo(root, path, port)}!${member.name}`,
    label: inRankFolder ? folders[folders.length - 1] : traceLabel(name),
    format: 'kineto', path, rank,
    group: (inRankFolder ? folders.slice(0, -1) : folders).join('/'),
    bytes: member?.size ?? size,
    files: [path],
    read: context => readKinetoTrace(context, path, { container, ...(member === undefined ? {} : { member: member.name }) }),
  };
}

function relativeTo(root: string, path: string, port: FilePort): string {
  if (path === root || !path.startsWith(root)) {
    return port.basename(path);
  }
  return path.slice(root.length).replaceAll('\\', '/').replace(/^\/+/, '');
}
