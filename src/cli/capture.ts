import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { EngineSession } from '../engine/session';
import { engineEnvironment } from '../node/environment';
import { defaultCacheFolder } from '../node/settings';
import { text } from '../protocol/text';
import { runCapture, type CapturedPass } from '../run/captureRun';
import { parseSteps, stepsSetting } from '../run/captureSteps';
import { RunFailure } from '../run/failure';
import { Hosts } from '../run/hosts';
import type { CaptureSettings } from '../run/runSettings';
import { parseCommand, type ParsedCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { CommandFailure, UsageError, type CommandContext } from './io';
import { runTools } from './runTools';

const OPTIONS = {
  steps: { type: 'string' }, warmup: { type: 'string' }, stacks: { type: 'boolean' }, shapes: { type: 'boolean' }, memory: { type: 'boolean' }, level: { type: 'string' },
  ranks: { type: 'string' }, 'one-pass': { type: 'boolean' }, method: { type: 'string' }, out: { type: 'string' }, host: { type: 'string' }, workdir: { type: 'string' },
  setup: { type: 'string', multiple: true }, json: { type: 'boolean' }, lang: { type: 'string' },
} as const;

const METHODS = ['helper', 'xtuner', 'dynamic', 'nsys'] as const;
const CACHE_LIMIT = 2 * 1024 ** 3;

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
  const cacheFolder = defaultCacheFolder(context.io.environment);
  const hosts = new Hosts(runTools(context));
  try {
    const passes = await runCapture(hosts, {
      launcher: 'command', command: argv[0], args: argv.slice(1), capture: captureOf(command), ...(host === undefined ? {} : { host }),
      ...(command.value('workdir') === undefined ? {} : { workdir: command.value('workdir') }), setup: command.values('setup'),
    }, {
      workspace: process.cwd(), signal: context.io.signal, ...(out === undefined ? {} : { output: host === undefined ? path.resolve(out) : out }),
      session: () => new EngineSession(engineEnvironment(cacheFolder === undefined ? {} : { cacheFolder, cacheLimitBytes: CACHE_LIMIT })),
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

function wordsOf({ pass, run, state, inspection, output: folder }: CapturedPass, { translate }: CommandContext): string {
  const say = (code: string, args: Readonly<Record<string, string | number>> = {}): string => text(code, args, translate);
  const { provenance } = run.record;
  const lines = [say(provenance?.commit === undefined ? 'capture.done.no-commit' : provenance.diffHash === undefined ? 'capture.done.clean' : 'capture.done.changed', { id: run.id, commit: provenance?.commit?.slice(0, 12) ?? '', count: provenance?.changedFiles?.length ?? 0 })];
  if (state.exit !== 0) {
    lines.push(state.exit === undefined ? say('capture.done.command-lost', { id: run.id }) : say('capture.done.command-failed', { exit: state.exit }));
  }
  lines.push(...inspection.findings.map(({ code, args }) => say(code, args)));
  if (inspection.profile !== undefined) {
    lines.push(say(pass.name === 'only' ? 'capture.done.profile' : `capture.done.${pass.name}`, { folder: inspection.profile }));
    lines.push(...inspection.ranks.map(({ rank, label, steps, kernels, stacks }) => say('capture.done.rank', { rank: rank ?? label, steps: steps.length === 0 ? '–' : steps.join(', '), kernels, stacks: say(stacks ? 'capture.done.with-stacks' : 'capture.done.without-stacks') })));
    lines.push(say('capture.done.open', { folder: path.relative(process.cwd(), inspection.profile) || folder }));
  }
  return `${lines.join('\n')}\n`;
}

/** Sentences stay English in JSON; what is unknown is null. */
function jsonOf({ pass, run, state, inspection, output: folder }: CapturedPass): Readonly<Record<string, unknown>> {
  return {
    pass: pass.name, run: run.id, output: folder, profile: inspection.profile ?? null, exit: state.exit ?? null, commit: run.record.provenance?.commit ?? null, diffHash: run.record.provenance?.diffHash ?? null,
    ranks: inspection.ranks.map(({ rank, label, steps, kernels, stacks }) => ({ rank: rank ?? null, label, steps, kernels, stacks })),
    findings: inspection.findings.map(({ code, args, severity }) => ({ code, severity, message: text(code, args) })),
  };
}

/** 0 as asked, 1 recorded with something amiss, 2 nothing recorded. */
function exitOf(passes: readonly CapturedPass[]): ExitCode {
  if (passes.some(({ inspection }) => inspection.ranks.length === 0)) {
    return ExitCode.Unreadable;
  }
  const amiss = passes.some(({ state, inspection }) => state.exit !== 0 || inspection.findings.some(({ severity }) => severity === 'error'));
  return amiss ? ExitCode.Failed : ExitCode.Done;
}
