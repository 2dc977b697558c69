/** From folders to ranks: which export is read, what is missing, which run or step a rank belongs to. */
import type { FilePort } from '../port';
import type { ProblemList } from '../profile/problems';
import { readAscendDb } from './ascendDb';
import type { AscendFolder } from './ascendFolder';
import type { AscendFinding, AscendSearch } from './ascendFolders';
import { readRankInfo, rankFromName, type RankInfo } from './ascendInfo';
import { hasSums, readAscendSummary } from './ascendSummary';
import { readAscendText, type AscendTextFolder } from './ascendText';
import { readClusterAsRank } from './cluster';
import type { FormatId, RankSource } from './reader';

/** Result files that decide what can be shown; their absence is told for a rank that has no kernels at all. */
const NEEDED = ['kernel_details.csv', 'trace_view.json', 'ascend_pytorch_profiler.db'];

export async function rankSources(port: FilePort, root: string, folders: readonly AscendFolder[], search: AscendSearch): Promise<AscendFinding> {
  const sources: RankSource[] = [];
  let alternative: 'text' | 'db' | undefined;
  for (const folder of folders) {
    const context: SourceContext = { port, root, folder, problems: search.problems, info: await readRankInfo(port, folder.path, folder.entries), prefer: search.prefer ?? 'text' };
    const found = await sourceOf(context);
    sources.push(found.source);
    alternative ??= found.alternative;
    for (const name of context.info.damaged) {
      search.problems.add('ascend-metadata-damaged', port.join(folder.path, name), { args: { file: relative(root, port.join(folder.path, name)) } });
    }
  }
  if (alternative !== undefined) {
    search.problems.add('ascend-two-exports', root, { severity: 'info', args: { used: alternative === 'db' ? 'text' : 'database' } });
  }
  const ranks = sources.filter((source) => source.format !== 'ascend-cluster');
  const cluster = sources.find((source) => source.format === 'ascend-cluster')?.path;
  return {
    // A cluster analysis beside its ranks is no rank of its own.
    sources: await withSizes(port, inOrder(withRecordings(port, ranks.length > 0 ? ranks : sources))),
    ...(cluster === undefined ? {} : { cluster }), ...(alternative === undefined ? {} : { alternative }),
  };
}

const names = new Intl.Collator('en', { numeric: true });

/** By group (`step-5` before `step-10`), then by rank, unknown ranks last, then by name. */
function inOrder(sources: readonly RankSource[]): readonly RankSource[] {
  return [...sources].sort((a, b) => names.compare(a.group, b.group) || (a.rank ?? Number.MAX_VALUE) - (b.rank ?? Number.MAX_VALUE) || names.compare(a.id, b.id));
}

async function withSizes(port: FilePort, sources: readonly RankSource[]): Promise<readonly RankSource[]> {
  const sized: RankSource[] = [];
  for (const source of sources) {
    let bytes = 0;
    for (const file of source.files) {
      bytes += (await port.stat(file))?.size ?? 0;
    }
    sized.push({ ...source, bytes });
  }
  return sized;
}

interface SourceContext {
  readonly port: FilePort;
  readonly root: string;
  readonly folder: AscendFolder;
  readonly problems: ProblemList;
  readonly info: RankInfo;
  readonly prefer: 'text' | 'db';
}

interface FoundSource {
  readonly source: RankSource;
  readonly alternative?: 'text' | 'db';
}

async function sourceOf(context: SourceContext): Promise<FoundSource> {
  const { folder, info } = context;
  switch (folder.kind) {
    case 'cluster':
      return { source: { ...base(context, 'ascend-cluster'), rank: undefined, files: filesIn(context), read: (reading) => readClusterAsRank(reading, folder.path) } };
    case 'raw':
      reportRaw(context);
      return { source: base(context, 'ascend-raw') };
    case 'rank': {
      const hasText = folder.kernels.length > 0 || folder.trace !== undefined;
      if (!hasText && folder.database === undefined) {
        const files = filesIn(context);
        const sums = await hasSums(context.port, files);
        reportIncomplete(context, sums);
        return { source: sums ? summarySource(context, files) : base(context, 'ascend-text') };
      }
      if (info.stoppedEarly) {
        context.problems.add('ascend-stopped-early', folder.path, { args: { folder: nameOf(context) } });
      }
      const useDatabase = folder.database !== undefined && (context.prefer === 'db' || !hasText);
      const source = useDatabase ? databaseSource(context, folder.database ?? '') : textSource(context);
      return hasText && folder.database !== undefined ? { source, alternative: useDatabase ? 'text' : 'db' } : { source };
    }
  }
}

function textSource(context: SourceContext): RankSource {
  const { folder, info } = context;
  const input: AscendTextFolder = { folder: folder.path, output: folder.output, kernels: folder.kernels, trace: folder.trace, sideFiles: filesIn(context), info };
  const files = [...new Set([...folder.kernels, ...(folder.trace === undefined ? [] : [folder.trace]), ...input.sideFiles, ...info.files])];
  const format = folder.tool === 'msprof' ? 'ascend-op-summary' : 'ascend-text';
  return { ...base(context, format), files, read: (reading) => readAscendText(reading, input) };
}

/** A rank of which only the profiler's own sums are left. */
function summarySource(context: SourceContext, sideFiles: readonly string[]): RankSource {
  const { folder, info } = context;
  const input: AscendTextFolder = { folder: folder.path, output: folder.output, kernels: [], trace: undefined, sideFiles, info };
  return { ...base(context, 'ascend-text'), files: [...sideFiles, ...info.files], withoutKernels: true, read: (reading) => readAscendSummary(reading, input) };
}

function databaseSource(context: SourceContext, path: string): RankSource {
  const { port, folder, info } = context;
  const analysis = folder.outputEntries.some((entry) => entry.name === 'analysis.db') ? [port.join(folder.output, 'analysis.db')] : [];
  const rank = info.rank;
  return { ...base(context, folder.tool === 'msprof' ? 'msprof-db' : 'ascend-db'), files: [path, ...analysis, ...info.files], read: (reading) => readAscendDb(reading, { path, rank }) };
}

function base({ port, root, folder, info }: SourceContext, format: FormatId): RankSource {
  const id = relative(root, folder.path);
  const parent = id.includes('/') ? id.slice(0, id.lastIndexOf('/')) : '';
  return { id: id === '' ? port.basename(folder.path) : id, label: port.basename(folder.path), format, path: folder.path, rank: info.rank ?? rankOfMsprof(port, folder), group: parent, bytes: 0, files: info.files };
}

/** msprof folders of one job stand in folders of their ranks, if anything says the rank at all. */
function rankOfMsprof(port: FilePort, folder: AscendFolder): number | undefined {
  return folder.tool === 'msprof' ? rankFromName(port.basename(port.dirname(folder.path))) : undefined;
}

/** `path` below `root` with forward slashes, so that ids are the same on every system; '' for the root itself. */
export function relative(root: string, path: string): string {
  const plain = (text: string): string => text.replaceAll('\\', '/').replace(/\/+$/, '');
  return plain(path).startsWith(`${plain(root)}/`) ? plain(path).slice(plain(root).length + 1) : plain(path) === plain(root) ? '' : plain(path).split('/').at(-1) ?? '';
}

/** Everything in the output folder that a text reader may take, apart from kernels and trace. */
function filesIn({ port, folder }: SourceContext): readonly string[] {
  return folder.outputEntries.filter((entry) => entry.kind === 'file' && /\.(csv|json)$/.test(entry.name)).map((entry) => port.join(folder.output, entry.name))
    .filter((path) => path !== folder.trace && !folder.kernels.includes(path));
}

/** A rank's folder as the reader of a sentence knows it: from the opened folder on. */
const nameOf = ({ port, root, folder }: SourceContext): string => relative(root, folder.path) || port.basename(folder.path);

function reportRaw(context: SourceContext): void {
  const { folder, problems } = context;
  // A Python string literal and a JSON one are written alike.
  const quoted = JSON.stringify(folder.path);
  const commands = {
    torch_npu: `from torch_npu.profiler.profiler import analyse; analyse(${quoted})`,
    mindspore: `from mindspore.profiler.profiler import analyse; analyse(${quoted})`,
    msprof: `msprof --export=on --output=${quoted}`,
  };
  problems.add(folder.tool === 'msprof' ? 'ascend-not-exported' : 'ascend-not-analysed', folder.path, { severity: 'error', args: { folder: nameOf(context), command: commands[folder.tool] } });
}

function reportIncomplete(context: SourceContext, sums: boolean): void {
  const { folder, problems, info } = context;
  const present = folder.outputEntries.filter((entry) => entry.kind === 'file').map((entry) => entry.name);
  problems.add(sums ? 'ascend-rank-without-kernels' : 'ascend-rank-incomplete', folder.path, {
    args: { folder: nameOf(context), rank: info.rank ?? '?', missing: NEEDED.join(', '), present: present.length === 0 ? '-' : present.join(', ') },
  });
}

/**
 * A schedule that repeats leaves several folders of one rank side by side, told apart by the time in their names. They
 * become one group a recording, so that two recordings of a rank are never taken for two ranks.
 */
function withRecordings(port: FilePort, sources: readonly RankSource[]): readonly RankSource[] {
  const time = (source: RankSource): string => /_(\d{14,17})_ascend_(pt|ms)$/.exec(port.basename(source.path))?.[1] ?? '';
  const seen = new Map<string, RankSource[]>();
  for (const source of sources) {
    if (source.rank !== undefined && time(source) !== '') {
      const key = `${source.group}\0${source.rank}`;
      seen.set(key, [...(seen.get(key) ?? []), source]);
    }
  }
  const recording = new Map<RankSource, number>();
  for (const same of seen.values()) {
    [...same].sort((a, b) => time(a).localeCompare(time(b))).forEach((source, i) => recording.set(source, same.length > 1 ? i + 1 : 0));
  }
  const repeats = [...recording.values()].some((number) => number > 1);
  return sources.map((source) => {
    const number = recording.get(source) ?? 0;
    return repeats && number > 0 ? { ...source, group: source.group === '' ? `#${number}` : `${source.group} #${number}` } : source;
  });
}
