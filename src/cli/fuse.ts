import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fingerprintData } from '../engine/attribution/fingerprintData';
import { FUSIONS } from '../engine/fusions';
import { FUSE_BACKENDS, type FuseBackend } from '../engine/fusions/fusion';
import { applyEdits, mergedEdits, type FusePlan } from '../engine/fuse/plan';
import { planFusions } from '../engine/fuse/planFusions';
import { ModuleSet, type ModuleScope } from '../engine/python/program';
import { indexSources, scopeOf } from '../engine/python/sourceIndex';
import { nodeFilePort } from '../node/filePort';
import { pythonParser } from '../node/pythonParser';
import { text } from '../protocol/text';
import { parseCommand, type ParsedCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { CommandFailure, UsageError, type CommandContext } from './io';
import { chooseRanks, openProfile } from './openSession';
import { unifiedDiff } from './output/unifiedDiff';
import { writeTextFile } from './textFile';

const OPTIONS = {
  backend: { type: 'string' }, list: { type: 'boolean' }, json: { type: 'boolean' }, diff: { type: 'boolean' }, write: { type: 'boolean' },
  only: { type: 'string' }, line: { type: 'string' }, profile: { type: 'string' }, lang: { type: 'string' }, 'no-cache': { type: 'boolean' },
} as const;

/** An edit can make way for another (two forms that share a cast); more rounds than this would be a mistake of ours. */
const MOST_ROUNDS = 8;

interface Chosen {
  readonly backend: FuseBackend;
  readonly keep: (plan: FusePlan) => boolean;
}

/** `fuselens fuse FILE|DIR`: lists, shows or writes the replacement of eager forms. */
export async function fuseCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  const [target, ...more] = command.positionals;
  if (target === undefined || more.length > 0) {
    throw new UsageError(target === undefined ? 'cli.usage.fuse-no-path' : 'cli.usage.one-path', { option: more.join(' ') });
  }
  if (['list', 'diff', 'write'].filter((flag) => command.flag(flag)).length > 1 || (command.flag('json') && (command.flag('diff') || command.flag('write')))) {
    throw new UsageError('cli.usage.fuse-mode');
  }
  const root = path.resolve(target);
  const entry = await stat(root).catch(() => undefined);
  if (entry === undefined || (entry.isFile() && !root.endsWith('.py'))) {
    throw new CommandFailure('cli.failure.no-python', { file: target });
  }
  const chosen = await choices(command, root, entry.isFile(), context);
  const sources = await readSources(root, entry.isFile(), context);
  const plansOf = (scope: ModuleScope, program = sources.program): readonly FusePlan[] => planFusions(scope, program, chosen.backend, sources.parser).filter(chosen.keep);
  if (command.flag('diff') || command.flag('write')) {
    for (const scope of sources.scopes) {
      await change(scope, plansOf(scope), (edited) => plansOf(edited, new ModuleSet([...sources.all.filter(({ file }) => file !== edited.file), edited])), sources.reparse, command.flag('write'), context);
    }
    return ExitCode.Done;
  }
  const plans = sources.scopes.flatMap((scope) => plansOf(scope));
  if (command.flag('json')) {
    await context.io.out(`${JSON.stringify(plans.map((plan) => jsonOf(plan)), undefined, 2)}\n`);
  } else {
    await list(plans, target, context);
  }
  return ExitCode.Done;
}

async function choices(command: ParsedCommand, root: string, isFile: boolean, context: CommandContext): Promise<Chosen> {
  const only = command.value('only');
  if (only !== undefined && !FUSIONS.some(({ id }) => id === only)) {
    throw new UsageError('cli.usage.fuse-only', { value: only, known: FUSIONS.map(({ id }) => id).join(', ') });
  }
  const wanted = command.value('line');
  const line = wanted === undefined ? undefined : Number(wanted);
  if (line !== undefined && (!Number.isInteger(line) || line < 1 || !isFile)) {
    throw new UsageError('cli.usage.fuse-line', { value: wanted ?? '' });
  }
  const named = command.value('backend');
  const backend = FUSE_BACKENDS.find((known) => known === named);
  if (named !== undefined && backend === undefined) {
    throw new UsageError('cli.usage.fuse-backend', { value: named, known: FUSE_BACKENDS.join(', ') });
  }
  const profile = command.value('profile');
  const shown = profile === undefined ? undefined : await evidenceOf(profile, isFile ? path.dirname(root) : root, command.flag('no-cache'), context);
  return {
    backend: backend ?? FUSE_BACKENDS.find((known) => known === shown?.backend) ?? 'torch',
    keep: (plan) => (only === undefined || plan.fusion.id === only) && (line === undefined || (plan.startLine <= line && line <= plan.endLine)) && (shown === undefined || shown.covers(plan)),
  };
}

/** Which forms a profile shows, and on what device it was taken. */
async function evidenceOf(profile: string, sources: string, noCache: boolean, context: CommandContext): Promise<{ readonly backend: string; readonly covers: (plan: FusePlan) => boolean }> {
  const opened = await openProfile(context, profile, { cache: !noCache });
  const [rank] = chooseRanks(opened.summary, []);
  if (rank === undefined) {
    throw new CommandFailure('cli.failure.nothing-readable', { file: profile });
  }
  const loaded = await opened.load(rank);
  const { explanation, index } = await opened.session.explain(rank.id, { sources: [sources] }, { signal: context.io.signal });
  opened.progress.clear();
  const places = fingerprintData(loaded.data, explanation, index).fingerprints.flatMap(({ fusion, source }) => source.flatMap((one) => [one.file, ...one.equals].map((file) => ({ ...one, file, fusion }))));
  return {
    backend: opened.summary.backend ?? 'torch',
    covers: (plan) => places.some((place) => place.fusion === plan.fusion.id && path.resolve(place.file) === path.resolve(plan.file) && place.startLine <= plan.endLine && plan.startLine <= place.endLine),
  };
}

interface Sources {
  readonly parser: Awaited<ReturnType<typeof pythonParser>>;
  readonly program: ModuleSet;
  /** The files asked for. */
  readonly scopes: readonly ModuleScope[];
  readonly all: readonly ModuleScope[];
  readonly reparse: (scope: ModuleScope, changed: string) => ModuleScope;
}

/** The files asked for, with their neighbours: helpers of a form may stand there. */
async function readSources(root: string, isFile: boolean, context: CommandContext): Promise<Sources> {
  const parser = await pythonParser();
  const folder = isFile ? path.dirname(root) : root;
  const index = await indexSources(nodeFilePort(), [folder], parser, { signal: context.io.signal });
  const asked = isFile ? index.scopes.filter(({ file }) => path.resolve(file) === root) : index.scopes.filter(({ file }) => file.endsWith('.py'));
  const missing = isFile && asked.length === 0 ? [scopeOf(root, folder, await readFile(root, 'utf8'), parser)] : [];
  const all = [...index.scopes, ...missing];
  return { parser, program: missing.length === 0 ? index.program : new ModuleSet(all), scopes: [...asked, ...missing], all, reparse: (scope, changed) => scopeOf(scope.file, folder, changed, parser) };
}

async function change(scope: ModuleScope, first: readonly FusePlan[], replan: (scope: ModuleScope) => readonly FusePlan[], reparse: Sources['reparse'], write: boolean, context: CommandContext): Promise<void> {
  let edited = scope;
  let count = 0;
  for (let round = 0, plans = first; round < MOST_ROUNDS; round++) {
    const { edits, used } = mergedEdits(plans.filter(({ status }) => status === 'fixable'));
    if (edits.length === 0) {
      break;
    }
    count += used.length;
    edited = reparse(scope, applyEdits(edited.text, edits));
    plans = replan(edited);
  }
  if (count === 0) {
    return;
  }
  const bytes = await readFile(scope.file);
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? '\ufeff' : '';
  if (bytes.toString('utf8') !== bom + scope.text || !bytes.equals(Buffer.from(bom + scope.text, 'utf8'))) {
    throw new CommandFailure('cli.failure.not-as-read', { file: scope.file });
  }
  if (write) {
    await writeTextFile(scope.file, bom + edited.text);
    context.io.err(`${text('cli.fuse.wrote', { count, file: scope.file }, context.translate)}\n`);
  } else {
    await context.io.out(unifiedDiff(path.relative(process.cwd(), scope.file), scope.text, [difference(scope.text, edited.text)]));
  }
}

/** Two texts as one edit: what lies between their common ends. */
function difference(before: string, after: string): { readonly start: number; readonly end: number; readonly text: string } {
  let start = 0;
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) {
    start++;
  }
  let tail = 0;
  while (tail < Math.min(before.length, after.length) - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) {
    tail++;
  }
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

/** Sentences stay English in JSON; what is unknown is null. */
function jsonOf(plan: FusePlan): Readonly<Record<string, unknown>> {
  const sentence = (area: string, code: string | undefined): string | null => (code === undefined ? null : text(`fuse.${area}.${code}`));
  return {
    fusion: plan.fusion.id, file: plan.file, startLine: plan.startLine, endLine: plan.endLine, function: plan.functionName, roles: plan.roles, status: plan.status,
    reasonCode: plan.reason ?? null, reason: sentence('reason', plan.reason), remedy: plan.status === 'fixable' ? plan.replacement ?? null : sentence('remedy', plan.remedy),
    promise: sentence('promise', plan.promise), requires: plan.requires ?? null, backend: plan.backend,
  };
}

async function list(plans: readonly FusePlan[], target: string, context: CommandContext): Promise<void> {
  const { io, translate } = context;
  if (plans.length === 0) {
    await io.out(`${text('cli.fuse.none', { file: target }, translate)}\n`);
    return;
  }
  const blocks = plans.map((plan) => {
    const head = text('cli.fuse.entry', { file: path.relative(process.cwd(), plan.file), line: plan.startLine, fusion: text(`fusion.${plan.fusion.id}`, undefined, translate), status: text(`fuse.status.${plan.status}`, undefined, translate) }, translate);
    const details = [plan.replacement, ...[['reason', plan.reason], ['remedy', plan.remedy], ['promise', plan.promise]].map(([area, code]) => (code === undefined ? undefined : text(`fuse.${area ?? ''}.${code}`, undefined, translate)))];
    return `${head}\n${details.filter((line) => line !== undefined).map((line) => `    ${line}\n`).join('')}`;
  });
  const count = (status: FusePlan['status']): number => plans.filter((plan) => plan.status === status).length;
  await io.out(`${blocks.join('')}\n${text('cli.fuse.summary', { fixable: count('fixable'), advice: count('advice'), refused: count('refused') }, translate)}\n`);
}
