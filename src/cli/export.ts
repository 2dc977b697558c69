import type { LoadedRank } from '../engine/session';
import { parseCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { UsageError, type CommandContext } from './io';
import { chooseRanks, nothingReadable, openProfile } from './openSession';
import { PERFETTO_TAIL, perfettoHead, perfettoRank } from './output/perfetto';
import { isLoss } from '../protocol/losses';
import { renderProblem, text } from '../protocol/text';
import { keepProfile, TextFile } from './textFile';

const OPTIONS = { perfetto: { type: 'string' }, rank: { type: 'string', multiple: true }, lang: { type: 'string' }, prefer: { type: 'string' }, 'no-cache': { type: 'boolean' } } as const;

/** `fuselens export PATH --perfetto OUT`: a plain trace of the chosen ranks (all by default). */
export async function exportCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  const [profile, ...more] = command.positionals;
  const target = command.value('perfetto');
  if (profile === undefined || more.length > 0) {
    throw new UsageError(profile === undefined ? 'cli.usage.no-path' : 'cli.usage.one-path', { option: more.join(' ') });
  }
  if (target === undefined) {
    throw new UsageError('cli.usage.no-perfetto');
  }
  const opened = await openProfile(context, profile, { cache: !command.flag('no-cache') });
  await keepProfile([target], opened.session.files());
  const ranks = chooseRanks(opened.summary, command.values('rank'));
  let out: TextFile | undefined;
  let baseNs: bigint | undefined;
  let written = 0;
  try {
    for (const [index, rank] of ranks.entries()) {
      const loaded: LoadedRank = await opened.load(rank);
      opened.progress.clear();
      // The file is made once there is something to put in it; the first rank's zero is the file's.
      out ??= await TextFile.create(target);
      if (baseNs === undefined) {
        baseNs = loaded.data.baseNs;
        await out.write([perfettoHead(baseNs)]);
      }
      await out.write(perfettoRank({ data: loaded.data, label: loaded.source.label, index }, baseNs));
      loaded.problems.filter(isLoss).forEach((problem) => {
        const { message, effect } = renderProblem(problem, context.translate);
        context.io.err(`${message} ${effect}\n`);
      });
      written += loaded.data.deviceEvents.count + loaded.data.hostEvents.count;
      if (ranks.length > 1) {
        await opened.session.call('release', { rank: rank.id });
      }
    }
    await out?.write([PERFETTO_TAIL]);
  } finally {
    await out?.close();
  }
  if (out === undefined) {
    throw nothingReadable(opened.summary.problems, profile, context);
  }
  context.io.err(`${text('cli.export.done', { count: written, file: target }, context.translate)}\n`);
  return ExitCode.Done;
}
