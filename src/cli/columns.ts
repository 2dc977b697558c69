import { open, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { asReason, ProblemList, UnreadableInput } from '../engine/profile/problems';
import { RANK_FORMAT_VERSION, serializeRank } from '../engine/profile/serialize';
import { COLUMNS_INDEX, type StoredProfile, type StoredRankEntry } from '../engine/readers/storedColumns';
import { makeFolder } from '../node/makeFolder';
import { parseCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { CommandFailure, UsageError, type CommandContext } from './io';
import { chooseRanks, nothingReadable, openProfile } from './openSession';
import { cannotWrite } from './textFile';

const OPTIONS = { out: { type: 'string' }, rank: { type: 'string', multiple: true }, lang: { type: 'string' }, 'no-cache': { type: 'boolean' } } as const;

/** `fuselens columns PATH --out DIR`: what a profile was read into, so that it can be opened elsewhere without the profile. */
export async function columnsCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  const [profile, ...more] = command.positionals;
  const out = command.value('out');
  if (profile === undefined || more.length > 0) {
    throw new UsageError(profile === undefined ? 'cli.usage.no-path' : 'cli.usage.one-path', { option: more.join(' ') });
  }
  if (out === undefined) {
    throw new UsageError('cli.usage.columns-out');
  }
  const opened = await openProfile(context, profile, { cache: !command.flag('no-cache') });
  const { summary, session, progress } = opened;
  const ranks = chooseRanks(summary, command.values('rank'));
  const problems = new ProblemList();
  problems.addAll(summary.problems);
  const entries: StoredRankEntry[] = [];
  try {
    await makeFolder(path.resolve(out));
    // An index of an earlier time must not name files that are being written.
    await rm(path.join(out, COLUMNS_INDEX), { force: true });
    for (const rank of ranks) {
      try {
        const { source, data, problems: found } = await opened.load(rank);
        const file = `rank-${entries.length}.columns`;
        await writeParts(path.join(out, file), serializeRank({ data, problems: found }));
        entries.push({ file, id: rank.id, label: rank.label, format: source.format, rank: rank.rank ?? null, group: rank.group });
      } catch (error) {
        if (!(error instanceof UnreadableInput) || ranks.length === 1) {
          throw error;
        }
        problems.add('rank-unreadable', rank.label, { severity: 'error', args: asReason(error.detail) });
      }
      await session.call('release', { rank: rank.id });
    }
    const index: StoredProfile = { schema: 'fuselens-columns/1', version: RANK_FORMAT_VERSION, path: path.resolve(profile), host: hostname(), ranks: entries, problems: problems.toArray() };
    await writeFile(path.join(out, COLUMNS_INDEX), JSON.stringify(index));
  } catch (error) {
    throw error instanceof UnreadableInput || error instanceof CommandFailure ? error : cannotWrite(out, error);
  } finally {
    progress.clear();
  }
  if (entries.length === 0) {
    throw nothingReadable(problems.toArray(), profile, context);
  }
  return ExitCode.Done;
}

async function writeParts(file: string, parts: readonly Uint8Array[]): Promise<void> {
  const handle = await open(file, 'w');
  try {
    for (const part of parts) {
      await handle.writeFile(part);
    }
  } finally {
    await handle.close();
  }
}
