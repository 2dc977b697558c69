import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { analyzeReport, clockProblems, labelInProfile, type ReportPart } from '../engine/analysis/analyzeReport';
import { overview } from '../engine/analysis/overview';
import { isHostWork, workOf } from '../engine/links/hostWork';
import { asReason, ProblemList, UnreadableInput } from '../engine/profile/problems';
import type { ExplainRequest } from '../engine/explainer';
import type { LoadedRank } from '../engine/session';
import type { Problem, RankSummary } from '../protocol/engine';
import type { AnalyzeReport } from '../protocol/report';
import { renderProblem, text, type Translate } from '../protocol/text';
import { parseCommand, type ParsedCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { CommandFailure, UsageError, type CommandContext } from './io';
import { chooseRanks, findStep, nothingReadable, openProfile, type OpenProfile } from './openSession';
import { reportDocument } from './output/document';
import { htmlReport } from './output/html';
import { kernelsCsv, kernelsCsvHeader } from './output/kernelsCsv';
import { markdownReport } from './output/markdown';
import { sarifReport } from './output/sarif';
import type { RankPage } from './output/sections';
import { terminalReport } from './output/terminal';
import { fusionFolders, ownFusions } from './ownFusions';
import { keepProfile, TextFile, writeTextFile } from './textFile';
import { VERSION } from './version';

const OPTIONS = {
  rank: { type: 'string', multiple: true }, step: { type: 'string' }, source: { type: 'string', multiple: true }, stacks: { type: 'string' }, map: { type: 'string', multiple: true }, fusions: { type: 'string', multiple: true },
  'all-ranks': { type: 'boolean' }, json: { type: 'boolean' }, md: { type: 'boolean' }, html: { type: 'string' }, sarif: { type: 'string' }, kernels: { type: 'string' },
  lang: { type: 'string' }, 'fail-on': { type: 'string' }, prefer: { type: 'string' }, 'no-cache': { type: 'boolean' },
} as const;

const SEVERITIES = ['info', 'warning', 'error'] as const;
type Severity = (typeof SEVERITIES)[number];

/** Ranks whose details are printed when none was asked for; more would scroll away. */
const PAGES_UNASKED = 1;

export async function analyzeCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  const [profile, ...more] = command.positionals;
  if (profile === undefined || more.length > 0) {
    throw new UsageError(profile === undefined ? 'cli.usage.no-path' : 'cli.usage.one-path', { option: more.join(' ') });
  }
  if (command.flag('json') && command.flag('md')) {
    throw new UsageError('cli.usage.one-format');
  }
  const failOn = severityOf(command.value('fail-on'));
  // Wrong usage is said before anything is read.
  const pathMap = pathMapOf(command.values('map'));
  for (const source of command.values('source')) {
    await stat(source).catch(() => { throw new CommandFailure('error.not-found', { file: path.resolve(source) }); });
  }
  const stacks = command.value('stacks');
  if (stacks !== undefined) {
    await stat(stacks).catch(() => { throw new CommandFailure('error.not-found', { file: path.resolve(stacks) }); });
  }
  const fusions = await fusionFolders(command);
  await ownFusions(fusions, context);
  const opened = await openProfile(context, profile, { cache: !command.flag('no-cache'), ...preferOf(command.value('prefer')) });
  await keepProfile([command.value('html'), command.value('sarif'), command.value('kernels')], opened.session.files());
  const analysis = await readRanks(opened, chooseRanks(opened.summary, command.values('rank')), { pathMap, fusionFolders: fusions }, command, context);
  opened.progress.clear();
  await writeReports(opened, analysis, command, context);
  return failOn !== undefined && analysis.problems.some(({ severity }) => SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(failOn)) ? ExitCode.Failed : ExitCode.Done;
}

/** `FROM=TO`: prefixes of paths in the run, and where they lie here. */
function pathMapOf(values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(values.map((value) => {
    const [, from, to] = /^([^=]+)=(.+)$/s.exec(value) ?? [];
    if (from === undefined) {
      throw new UsageError('cli.usage.map', { value });
    }
    return [from, path.resolve(to)];
  }));
}

interface Analysis {
  readonly report: AnalyzeReport;
  readonly problems: readonly Problem[];
  readonly pages: readonly RankPage[];
  readonly stepName: string | undefined;
}

/** Reads the ranks one after the other and keeps their figures only: 64 ranks never sit in memory together. */
async function readRanks(opened: OpenProfile, ranks: readonly RankSummary[], located: Pick<ExplainRequest, 'pathMap' | 'fusionFolders'>, command: ParsedCommand, context: CommandContext): Promise<Analysis> {
  const { summary, session } = opened;
  const problems = new ProblemList();
  problems.addAll(summary.problems);
  const parts: ReportPart[] = [];
  const pages: RankPage[] = [];
  const wantedStep = command.value('step');
  const knownSteps = new Set<string>();
  const pageLimit = command.values('rank').length > 0 ? Infinity : PAGES_UNASKED;
  const kernelsFile = command.value('kernels');
  const kernels = kernelsFile === undefined ? undefined : await TextFile.create(kernelsFile);
  let operatorsTold = false;
  try {
    await kernels?.write([kernelsCsvHeader()]);
    for (const rank of ranks) {
      const loaded = await loadOrNote(opened, rank, ranks.length, problems, context.translate);
      if (loaded === undefined) {
        continue;
      }
      problems.addAll(loaded.problems);
      const step = wantedStep === undefined ? undefined : findStep(loaded, wantedStep);
      loaded.data.steps.forEach(({ number, name }) => knownSteps.add(String(number ?? name)));
      if (wantedStep !== undefined && step === undefined) {
        continue;
      }
      const stacks = command.value('stacks');
      const request = { ...(stacks === undefined ? {} : { stacks: path.resolve(stacks) }), sources: command.values('source').map((folder) => path.resolve(folder)), ...located, ...(step === undefined ? {} : { step }) };
      const { part, told, explanation } = await session.reportPart(rank.id, request, { signal: context.io.signal });
      parts.push(part);
      if (pages.length < pageLimit) {
        const page = overview(loaded.data, { label: labelInProfile(summary, rank), ...(step === undefined ? {} : { step }) });
        pages.push({ report: page.report, overview: page, files: await session.call('rankFiles', { rank: rank.id }), ...(told === undefined ? {} : { explained: told }) });
      }
      if (kernelsFile !== undefined && !operatorsTold && isHostWork(loaded.data)) {
        operatorsTold = true;
        context.io.err(`${text('cli.operators', { file: kernelsFile }, context.translate)}\n`);
      }
      await kernels?.write(kernelsCsv(workOf(loaded.data), loaded.data.rank ?? rank.rank, step, explanation));
      if (ranks.length > 1) {
        await session.call('release', { rank: rank.id });
      }
    }
  } finally {
    await kernels?.close();
  }
  if (parts.length === 0) {
    throw nothingToShow(problems.toArray(), wantedStep, [...knownSteps], summary.path, context);
  }
  return { report: analyzeReport({ summary, parts, problems: problems.toArray() }), problems: [...problems.toArray(), ...clockProblems(parts)], pages, stepName: wantedStep };
}

/** One rank that cannot be read must not hide the others; alone it is the failure. */
async function loadOrNote(opened: OpenProfile, rank: RankSummary, ranks: number, problems: ProblemList, translate: Translate): Promise<LoadedRank | undefined> {
  // What is wrong with a rank that was found but cannot be read was said when it was found.
  const known = rank.readable ? undefined : opened.summary.problems.find(({ where }) => where.split(/[\\/]/).includes(rank.label));
  if (known !== undefined && ranks === 1) {
    throw new CommandFailure('cli.failure.sentence', { sentence: renderProblem(known, translate).message });
  }
  try {
    return await opened.load(rank);
  } catch (error) {
    if (!(error instanceof UnreadableInput) || ranks === 1) {
      throw error;
    }
    problems.add('rank-unreadable', rank.label, { severity: 'error', args: asReason(error.detail) });
    return undefined;
  } finally {
    opened.progress.clear();
  }
}

function nothingToShow(problems: readonly Problem[], step: string | undefined, known: readonly string[], file: string, context: CommandContext): Error {
  if (step !== undefined && known.length > 0) {
    return new UsageError('cli.usage.no-such-step', { step, known: known.slice(0, 20).join(', ') });
  }
  return nothingReadable(problems, file, context);
}

async function writeReports({ summary }: OpenProfile, { report, problems, pages, stepName }: Analysis, command: ParsedCommand, context: CommandContext): Promise<void> {
  const { io, translate, language } = context;
  const sarif = command.value('sarif');
  if (sarif !== undefined) {
    await writeTextFile(sarif, sarifReport({ version: VERSION, problems, uriOf: (where) => uriOf(summary.path, where) }, translate));
  }
  const html = command.value('html');
  // A file has room for every rank.
  const allRanks = command.flag('all-ranks') || html !== undefined;
  const document = reportDocument({ summary, report, problems, pages, stepName, allRanks }, translate, html === undefined ? 15 : 40);
  if (html !== undefined) {
    await writeTextFile(html, htmlReport(document, translate, language));
  }
  if (command.flag('json')) {
    await io.out(`${JSON.stringify(report, undefined, 2)}\n`);
  } else if (command.flag('md')) {
    await io.out(markdownReport(document, translate));
  } else if (html === undefined && sarif === undefined) {
    await io.out(terminalReport(document, translate, io.columns));
  }
}

/** `trace.json byte 12` → the file's URI. */
function uriOf(root: string, where: string): string | undefined {
  const file = where.replace(/ (line|byte|row) .*$/, '');
  if (file === '') {
    return undefined;
  }
  const resolved = path.isAbsolute(file) ? file : path.extname(root) === '' ? path.join(root, file) : path.join(path.dirname(root), path.basename(file));
  return pathToFileURL(resolved).href;
}

function severityOf(option: string | undefined): Severity | undefined {
  if (option === undefined) {
    return undefined;
  }
  const severity = SEVERITIES.find((known) => known === option);
  if (severity === undefined) {
    throw new UsageError('cli.usage.fail-on', { value: option, known: SEVERITIES.join(', ') });
  }
  return severity;
}

function preferOf(option: string | undefined): { readonly prefer?: 'text' | 'db' } {
  if (option === undefined) {
    return {};
  }
  if (option !== 'text' && option !== 'db') {
    throw new UsageError('cli.usage.prefer', { value: option });
  }
  return { prefer: option };
}
