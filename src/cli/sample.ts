import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { writeSample } from '../engine/sample/writeSample';
import { makeFolder } from '../node/makeFolder';
import { text } from '../protocol/text';
import { parseCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { CommandFailure, UsageError, type CommandContext } from './io';
import { cannotWrite, TextFile } from './textFile';

const OPTIONS = { ranks: { type: 'string' }, lang: { type: 'string' } } as const;
const RANKS = 16;

/** `fuselens sample DIR [--ranks N]`: the synthetic sample, into a new or empty folder. */
export async function sampleCommand(args: readonly string[], { io, translate }: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  const [target, ...more] = command.positionals;
  if (target === undefined || more.length > 0) {
    throw new UsageError(target === undefined ? 'cli.usage.no-folder' : 'cli.usage.one-path', { option: more.join(' ') });
  }
  const ranks = ranksOf(command.value('ranks'));
  const folder = path.resolve(target);
  const found = await readdir(folder).catch(() => []);
  if (found.length > 0) {
    throw new CommandFailure('cli.failure.not-empty', { folder });
  }
  await writeSample({
    mkdir: async (name) => { await makeFolder(name).catch((error: unknown) => { throw cannotWrite(name, error); }); },
    write: async (name, chunks) => {
      const file = await TextFile.create(name);
      try {
        await file.write(chunks);
      } finally {
        await file.close();
      }
    },
    join: (...parts) => path.join(...parts),
  }, {
    folder, ranks,
    onProgress: (done, total, what) => {
      if (io.errIsTerminal) {
        io.err(`\r\x1b[K${text('cli.sample.progress', { done, total, what }, translate)}`);
      }
    },
    isCancelled: () => io.signal.aborted,
  });
  if (io.errIsTerminal) {
    io.err('\r\x1b[K');
  }
  if (io.signal.aborted) {
    return ExitCode.Interrupted;
  }
  io.err(`${text('cli.sample.done', { folder }, translate)}\n`);
  return ExitCode.Done;
}

function ranksOf(option: string | undefined): number {
  if (option === undefined) {
    return RANKS;
  }
  const ranks = /^\d{1,2}$/.test(option) ? Number(option) : 0;
  if (ranks < 1 || ranks > RANKS) {
    throw new UsageError('cli.usage.ranks', { value: option });
  }
  return ranks;
}
