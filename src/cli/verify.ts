import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { FUSE_BACKENDS, type FuseBackend } from '../engine/fusions/fusion';
import { ModuleSet, type ModuleScope } from '../engine/python/program';
import { indexSources, scopeOf } from '../engine/python/sourceIndex';
import { shapesAt } from '../engine/verify/chainShapes';
import { verifySubject } from '../engine/verify/verifySubject';
import { nodeFilePort } from '../node/filePort';
import { pythonParser } from '../node/pythonParser';
import { fuseReason } from '../protocol/fuseReason';
import { text } from '../protocol/text';
import type { ProfileShapes, VerifyReport, VerifySubject } from '../protocol/verify';
import { RunFailure } from '../run/failure';
import { openShell } from '../run/shell';
import { importedTexts } from '../run/verify/importedTexts';
import { modulePlace } from '../run/verify/modulePlace';
import { hostPython, localPython } from '../run/verify/pythonRunner';
import { runVerify } from '../run/verify/runVerify';
import { parseCommand, type ParsedCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { allowedReasons } from './fuse';
import { CommandFailure, UsageError, type CommandContext } from './io';
import { chooseRanks, nothingReadable, openProfile } from './openSession';
import { readPythonFile } from './pythonFile';
import { writeVerifyText } from './output/verifyText';
import { fusionFolders, ownFusions } from './ownFusions';
import { runTools } from './runTools';

const OPTIONS = {
  backend: { type: 'string' }, python: { type: 'string' }, profile: { type: 'string' }, original: { type: 'string' }, host: { type: 'string' }, setup: { type: 'string', multiple: true },
  timeout: { type: 'string' }, 'no-reference': { type: 'boolean' }, fusions: { type: 'string', multiple: true }, allow: { type: 'string', multiple: true }, json: { type: 'boolean' }, editor: { type: 'string' }, lang: { type: 'string' }, 'no-cache': { type: 'boolean' },
} as const;

/** Seconds a verification may take unless asked otherwise: importing a large library is most of it. */
const TIME_LIMIT = 300;
const DEFAULT_PYTHON = process.platform === 'win32' ? 'python' : 'python3';

/** What an editor knows that the disk does not; the file of `--editor`. */
interface EditorState {
  /** Unsaved documents by path. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Text before the fuse that is verified. */
  readonly original?: string;
  /** Shapes of the chain in the active profile. */
  readonly profile?: ProfileShapes;
}

/** `fuselens verify FILE:LINE`: original and fused function side by side; nothing of the user's is written. */
export async function verifyCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  const { file, line } = placeOf(command);
  const { io } = context;
  const timeoutMs = secondsOf(command.value('timeout')) * 1000;
  const named = backendOf(command);
  const allow = allowedReasons(command);
  const entry = await stat(file).catch(() => undefined);
  if (entry?.isFile() !== true) {
    throw new CommandFailure('cli.failure.no-python', { file });
  }
  const state = await editorState(command);
  const sources = await readModules(file, state, command.value('host') !== undefined, context);
  const profile = command.value('profile');
  const shown = profile === undefined ? undefined : await profileOf(profile, context, command.flag('no-cache'));
  const backend = named ?? FUSE_BACKENDS.find((known) => known === shown?.backend) ?? 'torch';
  const fusions = await ownFusions(await fusionFolders(command), context);
  const choice = verifySubject(sources.original, sources.program, sources.parser, { backend, line, fusions, allow, ...(sources.fused === undefined ? {} : { fused: sources.fused }) });
  if (!('subject' in choice)) {
    throw new CommandFailure(`verify.failure.${choice.code}`, { file, line, backend, reason: choice.reason === undefined ? '' : fuseReason(choice.reason, choice.place, context.translate), lines: choice.lines?.join(', ') ?? '' });
  }
  const { subject } = choice;
  const shapes = state.profile ?? (await shown?.shapes(subject));
  const report = await run(subject, shapes, sources, command, timeoutMs, context);
  if (command.flag('json')) {
    await io.out(`${JSON.stringify(report, undefined, 2)}\n`);
  } else {
    await writeVerifyText(report, context);
  }
  return report.verdict === 'verified' ? ExitCode.Done : report.verdict === 'differs' ? ExitCode.Failed : ExitCode.Unreadable;
}

function placeOf(command: ParsedCommand): { readonly file: string; readonly line: number } {
  const [target, ...more] = command.positionals;
  const found = /^(.+):(\d+)$/.exec(target ?? '');
  if (found === null || more.length > 0 || Number(found[2]) < 1) {
    throw new UsageError(target === undefined || found === null ? 'cli.usage.verify-place' : 'cli.usage.one-path', { option: more.join(' ') });
  }
  return { file: path.resolve(found[1]), line: Number(found[2]) };
}

function backendOf(command: ParsedCommand): FuseBackend | undefined {
  const named = command.value('backend');
  const backend = FUSE_BACKENDS.find((known) => known === named);
  if (named !== undefined && backend === undefined) {
    throw new UsageError('cli.usage.fuse-backend', { value: named, known: FUSE_BACKENDS.join(', ') });
  }
  return backend;
}

function secondsOf(given: string | undefined): number {
  const seconds = given === undefined ? TIME_LIMIT : Number(given);
  if (!Number.isFinite(seconds) || seconds <= 0 || seconds > 86_400) {
    throw new UsageError('cli.usage.verify-timeout', { value: given ?? '' });
  }
  return seconds;
}

async function editorState(command: ParsedCommand): Promise<EditorState> {
  const file = command.value('editor');
  const original = command.value('original');
  const read = async (name: string): Promise<string> => readFile(name, 'utf8').catch(() => { throw new CommandFailure('cli.failure.no-python', { file: name }); });
  const state = file === undefined ? {} : JSON.parse(await read(file)) as EditorState;
  return original === undefined ? state : { ...state, original: await readPythonFile(original) };
}

interface Modules {
  readonly parser: Awaited<ReturnType<typeof pythonParser>>;
  readonly original: ModuleScope;
  readonly fused: ModuleScope | undefined;
  readonly program: ModuleSet;
  readonly texts: ReadonlyMap<string, string>;
}

/** The file with its neighbours, unsaved text before the disk's; for a host, all of its package, since it has to be sent. */
async function readModules(file: string, state: EditorState, forHost: boolean, context: CommandContext): Promise<Modules> {
  const parser = await pythonParser();
  const texts = new Map(Object.entries(state.texts ?? {}).map(([name, content]) => [path.resolve(name), content]));
  const now = texts.get(file) ?? (await readPythonFile(file));
  const folder = forHost ? modulePlace(file).root : path.dirname(file);
  const index = await indexSources(nodeFilePort(), [folder], parser, { overlay: texts, signal: context.io.signal });
  const original = scopeOf(file, folder, state.original ?? now, parser);
  const all = [...index.scopes.filter((scope) => path.resolve(scope.file) !== file), original];
  return { parser, original, fused: state.original === undefined ? undefined : scopeOf(file, folder, now, parser), program: new ModuleSet(all), texts };
}

/** Device of a profile, and the shapes of a chain in it. */
async function profileOf(profile: string, context: CommandContext, noCache: boolean): Promise<{ readonly backend: string; readonly shapes: (subject: VerifySubject) => Promise<ProfileShapes | undefined> }> {
  const opened = await openProfile(context, profile, { cache: !noCache });
  const [rank] = chooseRanks(opened.summary, []);
  if (rank === undefined) {
    throw nothingReadable(opened.summary.problems, profile, context);
  }
  return {
    backend: opened.summary.backend ?? 'torch',
    shapes: async (subject) => {
      await opened.load(rank);
      const { work, explanation } = await opened.session.explain(rank.id, { sources: [path.dirname(subject.file)] }, { signal: context.io.signal });
      opened.progress.clear();
      return shapesAt(work, explanation, subject);
    },
  };
}

async function run(subject: VerifySubject, shapes: ProfileShapes | undefined, sources: Modules, command: ParsedCommand, timeoutMs: number, context: CommandContext): Promise<VerifyReport> {
  const { io, translate } = context;
  const host = command.value('host');
  const shell = host === undefined ? undefined : openShell(host, runTools(context));
  const python = command.value('python') ?? (host === undefined ? DEFAULT_PYTHON : 'python3');
  const runner = shell === undefined ? localPython(python, io.environment) : hostPython(shell, python, command.values('setup'));
  const texts = host === undefined ? sources.texts : importedTexts(sources.original, sources.program);
  try {
    const [report] = await runVerify([{ subject, texts, ...(shapes === undefined ? {} : { profile: shapes }) }], runner, { signal: io.signal, timeoutMs, reference: !command.flag('no-reference') });
    return report;
  } catch (error) {
    if (error instanceof RunFailure) {
      io.err(`${error.explanation.raw}\n`);
      throw new CommandFailure('verify.failure.host', { host: host ?? '', reason: text(error.explanation.code, error.explanation.args, translate) });
    }
    throw error;
  } finally {
    await shell?.dispose();
  }
}
