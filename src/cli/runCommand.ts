import { EngineError } from '../node/engineError';
import { english, text, type Translate } from '../protocol/text';
import { RunFailure } from '../run/failure';
import { ExitCode } from './exitCode';
import { CommandFailure, UsageError, type CliIo, type CommandContext, type Language } from './io';
import { languageOf, translator } from './language';
import { failureOf } from './failure';
import { VERSION } from './version';

type Command = (args: readonly string[], context: CommandContext) => Promise<ExitCode>;

/** Loaded when asked for: help and usage mistakes answer at once. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  analyze: async () => (await import('./analyze')).analyzeCommand,
  attach: async () => (await import('./attach')).attachCommand,
  capture: async () => (await import('./capture')).captureCommand,
  columns: async () => (await import('./columns')).columnsCommand,
  compare: async () => (await import('./compare')).compareCommand,
  export: async () => (await import('./export')).exportCommand,
  fetch: async () => (await import('./fetch')).fetchCommand,
  fuse: async () => (await import('./fuse')).fuseCommand,
  inspect: async () => (await import('./inspect')).inspectCommand,
  push: async () => (await import('./push')).pushCommand,
  run: async () => (await import('./run')).runTrainingCommand,
  runs: async () => (await import('./runs')).runsCommand,
  sample: async () => (await import('./sample')).sampleCommand,
  stop: async () => (await import('./stop')).stopCommand,
  verify: async () => (await import('./verify')).verifyCommand,
};

const isCommand = (name: string): boolean => Object.hasOwn(COMMANDS, name);

/** Runs `fuselens ARGUMENTS…` and returns its exit code; only mistakes of our own are thrown. */
export async function runCommand(args: readonly string[], io: CliIo): Promise<ExitCode> {
  const [name = '', ...rest] = args;
  let language: Language = 'en';
  try {
    language = languageOf(optionValue(ownArguments(args), '--lang'));
    const context: CommandContext = { io, language, translate: translator(language) };
    return await dispatch(name, rest, context);
  } catch (error) {
    return report(error, name, io, language);
  }
}

/** For what is said outside a command; a language that is none is the command's to complain of. */
export function translateFor(args: readonly string[]): Translate {
  try {
    return translator(languageOf(optionValue(ownArguments(args), '--lang')));
  } catch {
    return english;
  }
}

async function dispatch(name: string, rest: readonly string[], context: CommandContext): Promise<ExitCode> {
  const { io, translate } = context;
  if (name === '--version' || name === '-V') {
    await io.out(`${VERSION}\n`);
    return ExitCode.Done;
  }
  if (name === '--help' || name === '-h' || name === 'help' || name === '') {
    const topic = name === 'help' && rest[0] !== undefined && isCommand(rest[0]) ? `cli.help.${rest[0]}` : 'cli.help';
    await io.out(`${text(topic, undefined, translate)}\n`);
    return name === '' ? ExitCode.Usage : ExitCode.Done;
  }
  if (!isCommand(name)) {
    throw new UsageError('cli.usage.unknown-command', { command: name });
  }
  if (ownArguments(rest).includes('--help') || ownArguments(rest).includes('-h')) {
    await io.out(`${text(`cli.help.${name}`, undefined, translate)}\n`);
    return ExitCode.Done;
  }
  return (await COMMANDS[name]())(rest, context);
}

/** One sentence on stderr. */
function report(error: unknown, command: string, io: CliIo, language: Language): ExitCode {
  const translate = language === 'en' ? english : translator(language);
  const say = (code: string, args: Readonly<Record<string, string | number>>): void => io.err(`fuselens: ${text(code, args, translate)}\n`);
  if (error instanceof UsageError) {
    say(error.code, error.args);
    io.err(`${text('cli.usage.help', { command: isCommand(command) ? ` ${command}` : '' }, translate)}\n`);
    return ExitCode.Usage;
  }
  const failure = failureOf(error) ?? (error instanceof EngineError ? new CommandFailure(error.code, error.args ?? {}) : undefined);
  if (failure === undefined) {
    throw error;
  }
  if (failure.code === 'error.cancelled') {
    return ExitCode.Interrupted;
  }
  say(failure.code, failure.args);
  if (error instanceof RunFailure && error.explanation.raw !== '') {
    io.err(`${error.explanation.raw.split('\n').map((line) => `  ${line}`).join('\n')}\n`);
  }
  return ExitCode.Unreadable;
}

/** What follows `--` is another program's. */
function ownArguments(args: readonly string[]): readonly string[] {
  const at = args.indexOf('--');
  return at < 0 ? args : args.slice(0, at);
}

/** Needed before the options are parsed, so that mistakes in them are told in the right language. */
function optionValue(args: readonly string[], option: string): string | undefined {
  const joined = args.find((argument) => argument.startsWith(`${option}=`));
  if (joined !== undefined) {
    return joined.slice(option.length + 1);
  }
  const at = args.indexOf(option);
  return at >= 0 ? args[at + 1] : undefined;
}
