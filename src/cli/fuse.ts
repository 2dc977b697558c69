import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import { fingerprintData } from '../engine/attribution/fingerprintData';
import { FUSIONS } from '../engine/fusions';
import { FUSE_BACKENDS, type FuseBackend, type Fusion } from '../engine/fusions/fusion';
import { fuseAll } from '../engine/fuse/fuseAll';
import { promisesOf, versionOf } from '../engine/fuse/fuseDesk';
import { NOTHING_KNOWN, packageFolders, readInstalled, sitePackagesOf, type Installed } from '../engine/fuse/installed';
import { installedModuleName, patchModule } from '../engine/fuse/patchModule';
import type { FusePlan } from '../engine/fuse/plan';
import { planFusions } from '../engine/fuse/planFusions';
import { switchesFor, type FrameworkSwitch, type SwitchCache } from '../engine/fuse/switches';
import { ModuleSet, type ModuleScope } from '../engine/python/program';
import { indexSources, scopeOf } from '../engine/python/sourceIndex';
import { nodeFilePort } from '../node/filePort';
import { makeFolder } from '../node/makeFolder';
import { pythonParser } from '../node/pythonParser';
import { fuseReason, WAIVABLE_REASONS } from '../protocol/fuseReason';
import { text } from '../protocol/text';
import { parseCommand, type ParsedCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { CommandFailure, UsageError, type CommandContext } from './io';
import { chooseRanks, nothingReadable, openProfile } from './openSession';
import { lineEdits } from './output/lineEdits';
import { unifiedDiff } from './output/unifiedDiff';
import { fusionFolders, ownFusions } from './ownFusions';
import { readPythonFile } from './pythonFile';
import { cannotWrite, writeTextFile } from './textFile';

const OPTIONS = {
  backend: { type: 'string' }, list: { type: 'boolean' }, json: { type: 'boolean' }, diff: { type: 'boolean' }, write: { type: 'boolean' },
  patch: { type: 'string' }, fusions: { type: 'string', multiple: true }, python: { type: 'string' }, allow: { type: 'string', multiple: true }, only: { type: 'string' }, line: { type: 'string' }, profile: { type: 'string' }, lang: { type: 'string' }, 'no-cache': { type: 'boolean' },
} as const;

interface Chosen {
  readonly backend: FuseBackend;
  readonly filters: readonly Filter[];
}

/** An option that leaves forms out. */
interface Filter {
  readonly keep: (plan: FusePlan) => boolean;
  /** What to say where it leaves none of `count` forms in `file`. */
  readonly none: { readonly code: string; readonly args: Readonly<Record<string, string | number>> };
}

/** `fuselens fuse FILE|DIR`: lists, shows or writes the replacement of eager forms. */
export async function fuseCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  const [target, ...more] = command.positionals;
  if (target === undefined || more.length > 0) {
    throw new UsageError(target === undefined ? 'cli.usage.fuse-no-path' : 'cli.usage.one-path', { option: more.join(' ') });
  }
  const modes = ['list', 'diff', 'write'].filter((flag) => command.flag(flag)).length + (command.value('patch') === undefined ? 0 : 1);
  if (modes > 1 || (command.flag('json') && (command.flag('diff') || command.flag('write') || command.value('patch') !== undefined))) {
    throw new UsageError('cli.usage.fuse-mode');
  }
  const root = path.resolve(target);
  const entry = await stat(root).catch(() => undefined);
  if (entry === undefined || (entry.isFile() && !root.endsWith('.py'))) {
    throw new CommandFailure('cli.failure.no-python', { file: target });
  }
  const sources = await readSources(root, entry.isFile(), context);
  const own = await ownFusions(await fusionFolders(command), context);
  const chosen = await choices(command, root, entry.isFile(), own, context);
  const allow = allowedReasons(command);
  const installed = await installedFor(command.value('python'), root, context);
  const cache: SwitchCache = new Map();
  const plansOf = async (scope: ModuleScope): Promise<Planned> => {
    const switches = await switchesFor(nodeFilePort(), scope.file, chosen.backend, installed, sources.all, cache, context.io.signal);
    const found = (edited: ModuleScope, inWorkspace?: boolean): readonly FusePlan[] => {
      const program = edited === scope ? sources.program : new ModuleSet([...sources.all.filter(({ file }) => file !== edited.file), edited]);
      return planFusions(edited, program, chosen.backend, sources.parser, { installed, switches, fusions: own, allow, ...(inWorkspace === undefined ? {} : { inWorkspace }) });
    };
    const replan = (edited: ModuleScope, inWorkspace?: boolean): readonly FusePlan[] => found(edited, inWorkspace).filter((plan) => chosen.filters.every(({ keep }) => keep(plan)));
    return { scope, found, replan, reparse: (changed) => sources.reparse(scope, changed) };
  };
  const patch = command.value('patch');
  if (command.flag('diff') || command.flag('write') || patch !== undefined) {
    let left = false;
    for (const scope of sources.scopes) {
      const planned = await plansOf(scope);
      try {
        await (patch === undefined ? change(planned, command.flag('write'), context) : writePatch(planned, patch, installed, context));
      } catch (error) {
        // One file of another encoding must not hold back the files behind it.
        if (!(error instanceof CommandFailure) || error.code !== 'cli.failure.not-as-read') {
          throw error;
        }
        left = true;
        context.io.err(`fuselens: ${text(error.code, error.args, context.translate)}\n`);
      }
    }
    return left ? ExitCode.Unreadable : ExitCode.Done;
  }
  const found: FusePlan[] = [];
  for (const scope of sources.scopes) {
    found.push(...(await asEditable(scope, (await plansOf(scope)).found(scope))));
  }
  let plans: readonly FusePlan[] = found;
  let none: Filter['none'] = { code: 'cli.fuse.none', args: {} };
  for (const filter of chosen.filters) {
    const kept = plans.filter(filter.keep);
    if (kept.length === 0 && plans.length > 0) {
      none = { code: filter.none.code, args: { ...filter.none.args, count: plans.length } };
    }
    plans = kept;
  }
  if (command.flag('json')) {
    await context.io.out(`${JSON.stringify(plans.map((plan) => jsonOf(plan)), undefined, 2)}\n`);
  } else {
    await list(plans, { ...none, args: { ...none.args, file: target } }, context);
  }
  return ExitCode.Done;
}

/** A file with the way to plan it again after an edit. */
interface Planned {
  readonly scope: ModuleScope;
  /** All plans, those that the options leave out as well. */
  readonly found: (scope: ModuleScope, inWorkspace?: boolean) => readonly FusePlan[];
  readonly replan: (scope: ModuleScope, inWorkspace?: boolean) => readonly FusePlan[];
  readonly reparse: (changed: string) => ModuleScope;
}

/** `--allow`: reasons that shall not hold an edit back. */
export function allowedReasons(command: ParsedCommand): readonly string[] {
  return command.values('allow').map((value) => {
    if (!WAIVABLE_REASONS.some((known) => known === value)) {
      throw new UsageError('cli.usage.fuse-allow', { value, known: WAIVABLE_REASONS.join(', ') });
    }
    return value;
  });
}

/** What is installed: beside the file where it is in a package, else for the interpreter named. Python is never run. */
async function installedFor(interpreter: string | undefined, root: string, context: CommandContext): Promise<Installed> {
  const port = nodeFilePort();
  const beside = sitePackagesOf(`${root}${path.sep}`);
  if (interpreter === undefined) {
    return beside === undefined ? NOTHING_KNOWN : readInstalled(port, [beside]);
  }
  const folders = await packageFolders(port, path.resolve(interpreter));
  if (folders.length === 0) {
    context.io.err(`${text('cli.fuse.no-packages', { file: interpreter }, context.translate)}\n`);
  }
  return readInstalled(port, beside === undefined ? folders : [beside, ...folders.filter((folder) => folder !== beside)]);
}

async function choices(command: ParsedCommand, root: string, isFile: boolean, own: readonly Fusion[], context: CommandContext): Promise<Chosen> {
  const only = command.value('only');
  const catalogue = [...own, ...FUSIONS];
  if (only !== undefined && !catalogue.some(({ id }) => id === only)) {
    throw new UsageError('cli.usage.fuse-only', { value: only, known: catalogue.map(({ id }) => id).join(', ') });
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
  const shown = profile === undefined ? undefined : await evidenceOf(profile, isFile ? path.dirname(root) : root, command, context);
  return {
    backend: backend ?? FUSE_BACKENDS.find((known) => known === shown?.backend) ?? 'torch',
    filters: [
      ...(only === undefined ? [] : [{ keep: (plan: FusePlan) => plan.fusion.id === only, none: { code: 'cli.fuse.none-of-it', args: { fusion: only } } }]),
      ...(line === undefined ? [] : [{ keep: (plan: FusePlan) => plan.startLine <= line && line <= plan.endLine, none: { code: 'cli.fuse.none-at-line', args: { line } } }]),
      ...(shown === undefined ? [] : [{ keep: shown.covers, none: { code: 'cli.fuse.none-shown', args: { profile: profile ?? '' } } }]),
    ],
  };
}

/** Which forms a profile shows, and on what device it was taken. */
async function evidenceOf(profile: string, sources: string, command: ParsedCommand, context: CommandContext): Promise<{ readonly backend: string; readonly covers: (plan: FusePlan) => boolean }> {
  const opened = await openProfile(context, profile, { cache: !command.flag('no-cache') });
  const [rank] = chooseRanks(opened.summary, []);
  if (rank === undefined) {
    throw nothingReadable(opened.summary.problems, profile, context);
  }
  await opened.load(rank);
  const { work, explanation, index } = await opened.session.explain(rank.id, { sources: [sources], fusionFolders: await fusionFolders(command) }, { signal: context.io.signal });
  opened.progress.clear();
  const places = fingerprintData(work, explanation, index).fingerprints.flatMap(({ fusion, source }) => source.flatMap((one) => [one.file, ...one.equals].map((file) => ({ ...one, file, fusion }))));
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
  const text = isFile ? await readPythonFile(root) : undefined;
  const index = await indexSources(nodeFilePort(), [folder], parser, { signal: context.io.signal });
  const asked = isFile ? index.scopes.filter(({ file }) => path.resolve(file) === root) : index.scopes.filter(({ file }) => file.endsWith('.py'));
  const missing = text !== undefined && asked.length === 0 ? [scopeOf(root, folder, text, parser)] : [];
  const all = [...index.scopes, ...missing];
  return { parser, program: missing.length === 0 ? index.program : new ModuleSet(all), scopes: [...asked, ...missing], all, reparse: (scope, changed) => scopeOf(scope.file, folder, changed, parser) };
}

async function change({ scope, replan, reparse }: Planned, write: boolean, context: CommandContext): Promise<void> {
  const { scope: edited, used } = fuseAll(scope, replan(scope), reparse, replan);
  if (used.length === 0) {
    return;
  }
  const { bom } = await asRead(scope);
  if (write) {
    await writeTextFile(scope.file, bom + edited.text);
    context.io.err(`${text('cli.fuse.wrote', { count: used.length, file: scope.file }, context.translate)}\n`);
    [...new Set(used.flatMap(({ cautions }) => cautions))].forEach((caution) => context.io.err(`${text(`fuse.caution.${caution}`, undefined, context.translate)}\n`));
  } else {
    await context.io.out(unifiedDiff(path.relative(process.cwd(), scope.file), bom + scope.text, lineEdits(bom + scope.text, bom + edited.text)));
  }
}

/** Plans of a file whose bytes an edit would not keep are refused where they are listed, not only when they are made. */
async function asEditable(scope: ModuleScope, plans: readonly FusePlan[]): Promise<readonly FusePlan[]> {
  if (!plans.some(({ edits, patch }) => edits.length + patch.length > 0) || isUtf8(await readFile(scope.file))) {
    return plans;
  }
  return plans.map((plan) => plan.status !== 'fixable' ? { ...plan, patch: [] }
    : { ...plan, status: 'refused', reason: 'not-utf8', reasonPlace: undefined, remedy: undefined, promise: undefined, requires: undefined, replacement: undefined, cautions: [], edits: [], patch: [] });
}

/** The file's bytes, still those that were planned for. */
async function asRead(scope: ModuleScope): Promise<{ readonly bytes: Buffer; readonly bom: string }> {
  const bytes = await readFile(scope.file);
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? '\ufeff' : '';
  if (!bytes.equals(Buffer.from(bom + scope.text, 'utf8'))) {
    throw new CommandFailure('cli.failure.not-as-read', { file: scope.file });
  }
  return { bytes, bom };
}

/** Writes a patch module for an installed file into the user's folder; the package stays as it is. */
async function writePatch({ scope, replan, reparse }: Planned, folder: string, installed: Installed, context: CommandContext): Promise<void> {
  const moduleName = installedModuleName(scope.file);
  if (moduleName === undefined || sitePackagesOf(`${path.resolve(folder)}${path.sep}`) !== undefined) {
    throw new CommandFailure(moduleName === undefined ? 'cli.failure.patch-not-installed' : 'cli.failure.patch-into-package', { file: moduleName === undefined ? scope.file : folder });
  }
  const asOwn = (edited: ModuleScope): readonly FusePlan[] => replan(edited, true);
  const { scope: edited, used } = fuseAll(scope, asOwn(scope), reparse, asOwn);
  const { bytes } = await asRead(scope);
  const made = used.length === 0 ? undefined : patchModule({ original: scope, edited, moduleName, installed: versionOf(moduleName, installed), digest: createHash('sha256').update(bytes).digest('hex'), promises: promisesOf(used) });
  if (made === undefined) {
    context.io.err(`${text('cli.fuse.no-patch', { file: scope.file }, context.translate)}\n`);
    return;
  }
  await makeFolder(path.resolve(folder)).catch((error: unknown) => { throw cannotWrite(folder, error); });
  const file = path.join(folder, `${made.name}.py`);
  await writeTextFile(file, made.text);
  context.io.err(`${text('cli.fuse.patched', { file, count: made.replaced.length, module: made.name }, context.translate)}\n`);
  if (made.left.length > 0) {
    context.io.err(`${text('cli.fuse.patch-left', { names: made.left.join(', ') }, context.translate)}\n`);
  }
}

/** Sentences stay English in JSON; what is unknown is null. */
function jsonOf(plan: FusePlan): Readonly<Record<string, unknown>> {
  const sentence = (area: string, code: string | undefined): string | null => (code === undefined ? null : text(`fuse.${area}.${code}`));
  return {
    fusion: plan.fusion.id, file: plan.file, startLine: plan.startLine, endLine: plan.endLine, function: plan.functionName, roles: plan.roles, status: plan.status,
    reasonCode: plan.reason ?? null, reason: plan.reason === undefined ? null : fuseReason(plan.reason, plan.reasonPlace), reasonPlace: plan.reasonPlace ?? null, remedy: plan.status === 'fixable' ? plan.replacement ?? null : sentence('remedy', plan.remedy),
    promise: sentence('promise', plan.promise), requires: plan.requires ?? null, requirementMet: plan.requirementMet ?? null, backend: plan.backend,
    cautions: plan.cautions.map((caution) => text(`fuse.caution.${caution}`)), switches: plan.switches.map(({ distribution, version, setting }) => ({ package: distribution, version: version ?? null, setting })), patch: plan.patch.length > 0,
  };
}

async function list(plans: readonly FusePlan[], none: Filter['none'], context: CommandContext): Promise<void> {
  const { io, translate } = context;
  if (plans.length === 0) {
    await io.out(`${text(none.code, none.args, translate)}\n`);
    return;
  }
  const blocks = plans.map((plan) => {
    const head = text('cli.fuse.entry', { file: path.relative(process.cwd(), plan.file), line: plan.startLine, fusion: text(`fusion.${plan.fusion.id}`, undefined, translate), status: text(`fuse.status.${plan.status}`, undefined, translate) }, translate);
    const details = [
      ...plan.switches.map((one) => switchText(one, translate)), plan.replacement, plan.reason === undefined ? undefined : fuseReason(plan.reason, plan.reasonPlace, translate),
      ...[['remedy', plan.remedy], ['promise', plan.promise], ...plan.cautions.map((caution) => ['caution', caution])].map(([area, code]) => (code === undefined ? undefined : text(`fuse.${area ?? ''}.${code}`, undefined, translate))),
      plan.requires === undefined ? undefined : text(plan.requirementMet === undefined ? 'fuse.requires' : plan.requirementMet ? 'fuse.requires.met' : 'fuse.requires.old', { requires: plan.requires }, translate),
      plan.fusion.note,
      plan.patch.length === 0 ? undefined : text('cli.fuse.patchable', undefined, translate),
    ];
    return `${head}\n${details.filter((line): line is string => line !== undefined && line !== '').map((line) => `    ${line}\n`).join('')}`;
  });
  const count = (status: FusePlan['status']): number => plans.filter((plan) => plan.status === status).length;
  await io.out(`${blocks.join('')}\n${text('cli.fuse.summary', { fixable: count('fixable'), advice: count('advice'), refused: count('refused') }, translate)}\n`);
}

function switchText({ distribution, version, setting, note }: FrameworkSwitch, translate: CommandContext['translate']): string {
  const told = text(version === undefined ? 'fuse.switch' : 'fuse.switch.version', { package: distribution, version: version ?? '', setting }, translate);
  return note === undefined ? told : `${told}. ${text(`fuse.switch.note.${note}`, undefined, translate)}`;
}
