/**
 * Columns of a profile that was analysed elsewhere: a folder with `fuselens-columns.json` and one file a rank, as the column cache
 * keeps them (`profile/serialize.ts`). So a large trace can stay on the machine that wrote it. Only the same version of FuseLens
 * reads them; what needs the trace itself (the arguments of one event) is not in them.
 */
import type { FilePort } from '../port';
import { UnreadableInput, type Problem, type ProblemList } from '../profile/problems';
import { deserializeRank, RANK_FORMAT_VERSION } from '../profile/serialize';
import type { FormatId, RankSource } from './reader';

export const COLUMNS_INDEX = 'fuselens-columns.json';

export interface StoredRankEntry {
  /** Beside the index. */
  readonly file: string;
  readonly id: string;
  readonly label: string;
  readonly format: FormatId;
  readonly rank: number | null;
  readonly group: string;
}

export interface StoredProfile {
  readonly schema: 'fuselens-columns/1';
  /** Version of the layout; see `RANK_FORMAT_VERSION`. */
  readonly version: number;
  /** Where the profile itself lies, on which machine. */
  readonly path: string;
  readonly host: string;
  readonly ranks: readonly StoredRankEntry[];
  readonly problems: readonly Problem[];
}

const LARGEST_INDEX = 64 * 1024 * 1024;

/** Ranks of a folder of columns; undefined when it is none. Throws `UnreadableInput` for one of another version. */
export async function findStoredColumns(port: FilePort, root: string, problems: ProblemList): Promise<readonly RankSource[] | undefined> {
  const index = port.join(root, COLUMNS_INDEX);
  const stat = await port.stat(index);
  if (stat?.kind !== 'file' || stat.size > LARGEST_INDEX) {
    return undefined;
  }
  const stored = parseIndex(new TextDecoder().decode(await port.read(index, 0, stat.size)));
  if (stored === undefined || stored.version !== RANK_FORMAT_VERSION) {
    throw new UnreadableInput({ code: 'error.columns-version', args: { file: root } });
  }
  problems.addAll(stored.problems);
  problems.add('columns-only', root, { severity: 'info', args: { path: stored.path, host: stored.host } });
  return Promise.all(stored.ranks.map(async (entry): Promise<RankSource> => {
    const file = port.join(root, entry.file);
    const bytes = (await port.stat(file))?.size ?? 0;
    return {
      id: entry.id, label: entry.label, format: entry.format, path: file, rank: entry.rank ?? undefined, group: entry.group, bytes, files: [file],
      read: async (context) => {
        const buffer = new Uint8Array(bytes);
        // Columns are used in place, and must not look into a buffer that the port uses again.
        buffer.set((await context.port.read(file, 0, bytes)).subarray(0, bytes));
        const rank = deserializeRank(buffer);
        if (rank === undefined) {
          throw new UnreadableInput({ code: 'error.columns-damaged', args: { file } });
        }
        context.problems.addAll(rank.problems);
        return { ...rank.data, detailSource: { kind: 'none' }, deviceDetailSource: { kind: 'none' } };
      },
    };
  }));
}

function parseIndex(text: string): StoredProfile | undefined {
  try {
    const value = JSON.parse(text) as Partial<StoredProfile> | null;
    const ranks: readonly Partial<StoredRankEntry>[] | undefined = value?.ranks;
    const isWhole = value?.schema === 'fuselens-columns/1' && Array.isArray(ranks) && Array.isArray(value.problems)
      && ranks.every((rank: Partial<StoredRankEntry>) => typeof rank.file === 'string' && !/[\\/]|^\.\.?$/.test(rank.file) && typeof rank.id === 'string' && typeof rank.label === 'string' && typeof rank.group === 'string');
    return isWhole ? value as StoredProfile : undefined;
  } catch {
    return undefined;
  }
}
