import path from 'node:path';
import { UnreadableInput } from '../engine/profile/problems';
import type { RankDigest } from '../protocol/compare';
import { render } from '../protocol/text';
import type { CommandContext } from './io';
import { chooseRanks, nothingReadable, openProfile } from './openSession';

export interface SideOptions {
  readonly cache: boolean;
  readonly prefer?: 'text' | 'db';
  readonly ranks: readonly string[];
  readonly sources: readonly string[];
}

export interface ReadSide {
  readonly name: string;
  readonly paths: readonly string[];
  readonly runs: readonly (readonly RankDigest[])[];
  /** Ranks that were listed and could not be read, with the reason. */
  readonly unreadable: readonly { readonly rank: string; readonly reason: string }[];
}

/** Reads the runs of one side rank by rank; only digests stay in memory. Fails where a run has nothing to read. */
export async function readSide(context: CommandContext, paths: readonly string[], options: SideOptions): Promise<ReadSide> {
  const runs: (readonly RankDigest[])[] = [];
  const unreadable: { rank: string; reason: string }[] = [];
  const names: string[] = [];
  for (const each of paths) {
    const { session, summary, progress } = await openProfile(context, each, { cache: options.cache, ...(options.prefer === undefined ? {} : { prefer: options.prefer }) });
    names.push(summary.name);
    const digests: RankDigest[] = [];
    let last: UnreadableInput | undefined;
    for (const rank of chooseRanks(summary, options.ranks)) {
      // Lines are wanted once: aligning every rank with the source would take long and tell the same.
      const sources = options.sources.length > 0 && digests.length === 0 ? { sources: options.sources.map((folder) => path.resolve(folder)) } : {};
      try {
        digests.push(await session.call('compareDigest', { rank: rank.id, ...sources }, { signal: context.io.signal, progress: progress.report }));
      } catch (error) {
        if (!(error instanceof UnreadableInput)) {
          throw error;
        }
        last = error;
        unreadable.push({ rank: rank.label, reason: render(error.detail, context.translate) });
      } finally {
        progress.clear();
      }
    }
    if (digests.length === 0) {
      throw last ?? nothingReadable(summary.problems, each, context);
    }
    runs.push(digests);
  }
  return { name: sideName(names, paths), paths, runs, unreadable };
}

/** `baseline`; with several runs the first and how many more. */
function sideName(names: readonly string[], paths: readonly string[]): string {
  const [first = path.basename(paths[0] ?? '')] = names;
  return names.length > 1 ? `${first} +${names.length - 1}` : first;
}
