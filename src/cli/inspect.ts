import { EngineSession } from '../engine/session';
import { engineEnvironment } from '../node/environment';
import { defaultCacheFolder } from '../node/settings';
import { text } from '../protocol/text';
import { findCapture } from '../run/captureManifest';
import { inspectCapture } from '../run/inspectCapture';
import { parseCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { CommandFailure, UsageError, type CommandContext } from './io';

const OPTIONS = { json: { type: 'boolean' }, lang: { type: 'string' } } as const;
const CACHE_LIMIT = 2 * 1024 ** 3;

/** `fuselens inspect FOLDER`: what became of a capture, from the folder it left. Exit 0 as asked, 1 with something amiss, 2 nothing recorded. */
export async function inspectCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  const [folder] = command.positionals;
  if (folder === undefined || command.positionals.length > 1) {
    throw new UsageError('cli.usage.inspect', {});
  }
  const found = await findCapture(folder);
  if (found === undefined) {
    throw new CommandFailure('error.inspect-no-capture', { file: folder });
  }
  const cacheFolder = defaultCacheFolder(context.io.environment);
  const session = new EngineSession(engineEnvironment(cacheFolder === undefined ? {} : { cacheFolder, cacheLimitBytes: CACHE_LIMIT }));
  const { profile, ranks, findings } = await inspectCapture({ output: found.output, capture: found.manifest.capture, session, signal: context.io.signal });
  const said = findings.map(({ code, args: given, severity }) => ({ code, severity, message: text(code, given, context.translate) }));
  await context.io.out(command.flag('json')
    ? `${JSON.stringify({ profile: profile ?? null, pass: found.manifest.pass, ranks: ranks.map(({ rank, label, steps, kernels, stacks }) => ({ rank: rank ?? null, label, steps, kernels, stacks })), findings: said }, undefined, 2)}\n`
    : `${[...said.map(({ message }) => message), ...(profile === undefined ? [] : [profile])].join('\n')}\n`);
  return profile === undefined ? ExitCode.Unreadable : findings.some(({ severity }) => severity === 'error') ? ExitCode.Failed : ExitCode.Done;
}
