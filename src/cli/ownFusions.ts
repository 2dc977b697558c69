import { stat } from 'node:fs/promises';
import path from 'node:path';
import { FUSIONS } from '../engine/fusions';
import type { Fusion } from '../engine/fusions/fusion';
import { readWorkspaceFusions } from '../engine/fusions/workspaceFusions';
import { nodeFilePort } from '../node/filePort';
import { pythonParser } from '../node/pythonParser';
import { text } from '../protocol/text';
import type { ParsedCommand } from './commandLine';
import { CommandFailure, type CommandContext } from './io';

/** Folders of `--fusions`: named on the command line, so trusted. */
export async function fusionFolders(command: ParsedCommand): Promise<readonly string[]> {
  const folders = command.values('fusions').map((folder) => path.resolve(folder));
  for (const file of folders) {
    await stat(file).catch(() => { throw new CommandFailure('error.not-found', { file }); });
  }
  return folders;
}

/** The fusions in these folders; files that are wrong are told and left out, as are folders without any: they were named, so something was expected. */
export async function ownFusions(folders: readonly string[], context: CommandContext): Promise<readonly Fusion[]> {
  if (folders.length === 0) {
    return [];
  }
  const { fusions, problems, empty } = await readWorkspaceFusions(nodeFilePort(), folders, await pythonParser(), FUSIONS.map(({ id }) => id));
  problems.forEach(({ code, args }) => context.io.err(`${text(code, args, context.translate)}\n`));
  empty.forEach((folder) => context.io.err(`${text('cli.fusions.none', { folder }, context.translate)}\n`));
  return fusions;
}
