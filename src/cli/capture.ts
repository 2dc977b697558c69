import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { text } from '../protocol/text';
import { runCapture } from '../run/captureRun';
import { parseSteps, stepsSetting } from '../run/captureSteps';
import { RunFailure } from '../run/failure';
import { Hosts } from '../run/hosts';
import type { CaptureSettings } from '../run/runSettings';
import { parseCommand, type ParsedCommand } from './commandLine';
import { exitOf, inspectionSession, jsonOf, wordsOf } from './captureWords';
import type { ExitCode } from './exitCode';
import { CommandFailure, UsageError, type CommandContext } from './io';
import { runTools } from './runTools';

const OPTIONS = {
  steps: { type: 'string' }, warmup: { type: 'string' }, stacks: { type: 'boolean' }, shapes: { type: 'boolean' }, memory: { type: 'boolean' }, level: { type: 'string' },
  ranks: { type: 'string' }, 'one-pass': { type: 'boolean' }, method: { type: 'string' }, out: { type: 'string' }, host: { type: 'string' }, workdir: { type: 'string' },
  setup: { type: 'string', multiple: true }, json: { type: 'boolean' }, lang: { type: 'string' },
} as const;

const METHODS = ['helper', 'xtuner', 'dynamic', 'nsys'] as const;

/** `fuselens capture [options] -- COMMAND…`: runs a training command once or twice with its profiler on, and says what it left. */
export async function captureCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const at = args.indexOf('--');
  const command = parseCommand(at < 0 ? args : args.slice(0, at), OPTIONS);
  const argv = at < 0 ? [] : args.slice(at + 1);
  if (command.positionals.length > 0 || argv.length === 0) {
    throw new UsageError('cli.usage.capture-command', { option: command.positionals.join(' ') });
  }
  const host = command.value('host');
  const out = command.value('out');
  if (host !== undefined && out !== undefined && !path.posix.isAbsolute(out)) {
    throw new UsageError('cli.usage.capture-out', { value: out });
  }
  const hosts = new Hosts(runTools(context));
  try {
    const passes = await runCapture(hosts, {
      launcher: 'command', command: argv[0], args: argv.slice(1), capture: captureOf(command), ...(host === undefined ? {} : { host }),
      ...(command.value('workdir') === undefined ? {} : { workdir: command.value('workdir') }), setup: command.values('setup'),
    }, {
      workspace: process.cwd(), signal: context.io.signal, ...(out === undefined ? {} : { output: host === undefined ? path.resolve(out) : out }),
      session: inspectionSession(context),
      onNote: (note) => { context.io.err(`${text(note.code, note.args, context.translate)}\n`); },
      onStart: (run, pass) => { context.io.err(`${text('capture.running', { id: run.id, pass: text(`capture.pass.${pass.name}`, undefined, context.translate), command: argv.join(' ') }, context.translate)}\n`); },
      onOutput: output(context),
    });
    await context.io.out(command.flag('json') ? `${JSON.stringify(passes.map((pass) => jsonOf(pass)), undefined, 2)}\n` : passes.map((pass) => wordsOf(pass, context)).join('\n'));
    return exitOf(passes);
  } catch (error) {
    if (error instanceof RunFailure) {
      throw new CommandFailure(error.explanation.code, error.explanation.args);
    }
    throw error;
  } finally {
    await hosts.dispose();
  }
}

/** The command's own output goes on as it comes, characters whole. */
function output({ io }: CommandContext): (chunk: { readonly host: string | undefined; readonly bytes: Uint8Array }) => void {
  const decoders = new Map<string | undefined, StringDecoder>();
  return ({ host, bytes }) => {
    const decoder = decoders.get(host) ?? new StringDecoder('utf8');
    decoders.set(host, decoder);
    io.err(decoder.write(Buffer.from(bytes)));
  };
}

function captureOf(command: ParsedCommand): CaptureSettings {
  const method = METHODS.find((known) => known === (command.value('method') ?? 'helper'));
  if (method === undefined) {
    throw new UsageError('cli.usage.capture-method', { value: command.value('method') ?? '', known: METHODS.join(', ') });
  }
  const windows = parseSteps(command.value('steps') ?? '5');
  if (windows === undefined) {
    throw new UsageError('cli.usage.capture-steps', { value: command.value('steps') ?? '' });
  }
  const level = whole(command, 'level');
  if (level !== undefined && level !== 0 && level !== 1 && level !== 2) {
    throw new UsageError('cli.usage.capture-level', { value: level });
  }
  const ranks = command.value('ranks')?.split(',').map((rank) => rank.trim());
  if (ranks?.some((rank) => !/^\d{1,6}$/.test(rank)) === true) {
    throw new UsageError('cli.usage.capture-ranks', { value: command.value('ranks') ?? '' });
  }
  const warmup = whole(command, 'warmup');
  return {
    steps: stepsSetting(windows), method, ...(warmup === undefined ? {} : { warmup }), stacks: command.flag('stacks'), shapes: command.flag('shapes'), memory: command.flag('memory'),
    ...(level === undefined ? {} : { level }), ...(ranks === undefined ? {} : { ranks: ranks.map(Number) }), ...(command.flag('one-pass') ? { twoPass: false } : {}),
  };
}

function whole(command: ParsedCommand, option: string): number | undefined {
  const value = command.value(option);
  if (value !== undefined && !/^\d{1,6}$/.test(value)) {
    throw new UsageError('cli.usage.option-value', { option: `--${option}` });
  }
  return value === undefined ? undefined : Number(value);
}
