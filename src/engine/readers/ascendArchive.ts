/** Ascend profiles inside a zip or tar, and single files of one under gzip. */
import type { FilePort } from '../port';
import type { DetailSource, RankData } from '../profile/columns';
import { containerOf, damagedHeaders, headOf, isGzip, isTar, isZip, openBytes, type ContainerKind } from './archive';
import { archivePort, type ArchivePort } from './archivePort';
import type { AscendFinding, AscendSearch } from './ascendFolders';
import type { RankSource } from './reader';

/** Finds the ranks below a path of the given port; passed in, since it in turn looks into archives. */
type FindRanks = (port: FilePort, path: string, search: AscendSearch) => Promise<AscendFinding>;

/**
 * Ranks in an archive; undefined when the file is none, no sources when it holds nothing of Ascend. `isTrace` tells an
 * Ascend trace by name and head.
 */
export async function findAscendArchive(port: FilePort, path: string, head: Uint8Array, search: AscendSearch, find: FindRanks, isTrace: (name: string, head: Uint8Array) => boolean): Promise<AscendFinding | undefined> {
  if (!isGzip(head) && !isZip(head) && !isTar(head)) {
    return undefined;
  }
  const container = await containerOf(port, path, head);
  if (container === 'gzip' && !(await isSingleFile(port, path, isTrace))) {
    return { sources: [] };
  }
  const inside = await archivePort(port, path, container);
  const root = container === 'gzip' ? `/${(await inside.list('/'))[0].name}` : '/';
  const found = await find(inside, root, search);
  const damaged = await damagedHeaders(port, path, container);
  if (damaged > 0 && found.sources.length > 0) {
    search.problems.add('archive-damaged', port.basename(path), { count: damaged });
  }
  // A rank at the very top of the archive has no folder to be called after.
  const name = port.basename(path);
  return { ...found, sources: found.sources.map((source) => outside(source.id === '' ? { ...source, id: name, label: name } : source, path, container, inside)) };
}

async function isSingleFile(port: FilePort, path: string, isTrace: (name: string, head: Uint8Array) => boolean): Promise<boolean> {
  const name = port.basename(path).replace(/\.gz$/i, '');
  const head = await headOf(openBytes(port, path, undefined, 'gzip'), 64 * 1024);
  return /(kernel_details|op_summary).*\.csv$/i.test(name) || (/\.json$/i.test(name) && isTrace(name, head));
}

/** The rank as the outer world sees it: its file is the archive, its reader looks inside. */
function outside(source: RankSource, archive: string, container: ContainerKind, inside: ArchivePort): RankSource {
  const { read } = source;
  return {
    ...source, path: archive, files: [archive],
    ...(read === undefined ? {} : { read: async (context) => relocated(await read({ ...context, port: inside }), archive, container, inside) }),
  };
}

function relocated(data: RankData, archive: string, container: ContainerKind, inside: ArchivePort): RankData {
  const move = (source: DetailSource): DetailSource =>
    source.kind === 'file' ? { ...source, path: archive, ...(container === 'gzip' ? {} : { member: inside.memberName(source.path) }) } : source;
  return { ...data, detailSource: move(data.detailSource), deviceDetailSource: move(data.deviceDetailSource) };
}
