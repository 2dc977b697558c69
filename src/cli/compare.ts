import { stat } from 'node:fs/promises';
import path from 'node:path';
import { compareDigests } from '../engine/compare/compareDigests';
import type { CompareOptions, CompareReport } from '../protocol/compare';
import { verdictSentences } from '../protocol/compareWords';
import { english, text } from '../protocol/text';
import { parseCommand, type ParsedCommand } from './commandLine';
import { readSide, type ReadSide, type SideOptions } from './compareSides';
import { ExitCode } from './exitCode';
import { CommandFailure, UsageError, type CommandContext } from './io';
import { compareDocument, compareFormats, formatChange } from './output/compareDocument';
import { compareMarkdown } from './output/markdown';
import { compareTerminal } from './output/terminal';

const OPTIONS = {
  base: { type: 'string', multiple: true }, candidate: { type: 'string', multiple: true }, rank: { type: 'string', multiple: true }, source: { type: 'string', multiple: true },
  tokens: { type: 'string' }, 'tokens-base': { type: 'string' }, 'tokens-candidate': { type: 'string' }, 'ranks-per-card': { type: 'string' },
  json: { type: 'boolean' }, md: { type: 'boolean' }, 'fail-over': { type: 'string' }, prefer: { type: 'string' }, 'no-cache': { type: 'boolean' }, lang: { type: 'string' },
} as const;

/** `fuselens compare BASE CANDIDATE`: what is different, and whether it may be called faster or slower. */
export async function compareCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  const { base, candidate } = sidesOf(command);
  if (command.flag('json') && command.flag('md')) {
    throw new UsageError('cli.usage.one-format');
  }
  const limit = percentOf(command.value('fail-over'));
  const options = compareOptions(command);
  const sideOptions = await sideOptionsOf(command);
  const [baseSide, candidateSide] = [await readSide(context, base, sideOptions), await readSide(context, candidate, sideOptions)];
  const report = withUnreadable(compareDigests(baseSide, candidateSide, options), [baseSide, candidateSide]);
  await context.io.out(written(report, command, context));
  return limit === undefined ? ExitCode.Done : decide(report, limit, context);
}

function sidesOf(command: ParsedCommand): { readonly base: readonly string[]; readonly candidate: readonly string[] } {
  const { positionals } = command;
  const [base, candidate] = [command.values('base'), command.values('candidate')];
  if (positionals.length === 2) {
    return { base: [positionals[0], ...base], candidate: [positionals[1], ...candidate] };
  }
  if (positionals.length > 0 || base.length === 0 || candidate.length === 0) {
    throw new UsageError('cli.usage.compare-paths');
  }
  return { base, candidate };
}

async function sideOptionsOf(command: ParsedCommand): Promise<SideOptions> {
  const sources = command.values('source');
  for (const source of sources) {
    await stat(source).catch(() => { throw new CommandFailure('error.not-found', { file: path.resolve(source) }); });
  }
  const prefer = command.value('prefer');
  if (prefer !== undefined && prefer !== 'text' && prefer !== 'db') {
    throw new UsageError('cli.usage.prefer', { value: prefer });
  }
  return { cache: !command.flag('no-cache'), ranks: command.values('rank'), sources, ...(prefer === undefined ? {} : { prefer }) };
}

function compareOptions(command: ParsedCommand): CompareOptions {
  const number = (name: string): number | undefined => {
    const value = command.value(name);
    if (value !== undefined && !/^0*[1-9]\d{0,14}$/.test(value)) {
      throw new UsageError('cli.usage.number', { option: `--${name}`, value });
    }
    return value === undefined ? undefined : Number(value);
  };
  const both = number('tokens');
  const [tokensBase, tokensCandidate, ranksPerCard] = [number('tokens-base') ?? both, number('tokens-candidate') ?? both, number('ranks-per-card')];
  return { ...(tokensBase === undefined ? {} : { tokensBase }), ...(tokensCandidate === undefined ? {} : { tokensCandidate }), ...(ranksPerCard === undefined ? {} : { ranksPerCard }) };
}

function percentOf(value: string | undefined): number | undefined {
  if (value !== undefined && !/^\d+(\.\d+)?$/.test(value)) {
    throw new UsageError('cli.usage.percent', { value });
  }
  return value === undefined ? undefined : Number(value);
}

function withUnreadable(report: CompareReport, sides: readonly ReadSide[]): CompareReport {
  const notes = sides.flatMap(({ name, unreadable }) => unreadable.map(({ rank, reason }) => ({ code: 'compare.note.unreadable', args: { rank, side: name, reason } })));
  return { ...report, notes: [...report.notes, ...notes] };
}

function written(report: CompareReport, command: ParsedCommand, { translate, io }: CommandContext): string {
  if (command.flag('json')) {
    return `${JSON.stringify(withSentences(report), undefined, 2)}\n`;
  }
  const document = compareDocument(report, translate);
  return command.flag('md') ? compareMarkdown(document) : compareTerminal(document, io.columns);
}

/** The JSON is read by programs and by people who debug them: every code has its English sentence beside it. */
function withSentences(report: CompareReport): object {
  const sentence = ({ code, args }: { readonly code: string; readonly args?: Readonly<Record<string, string | number>> }): object => ({ code, ...(args === undefined ? {} : { args }), message: text(code, args) });
  return {
    ...report, checks: report.checks.map((check) => ({ ...check, message: text(check.code, check.args) })), notes: report.notes.map(sentence),
    verdict: { ...report.verdict, reasons: report.verdict.reasons.map(sentence), message: verdictSentences(report, compareFormats, english)[0] },
  };
}

/** Over the limit, under it, or nothing that could be said about it. */
function decide({ verdict }: CompareReport, limit: number, { io, translate }: CommandContext): ExitCode {
  switch (verdict.kind) {
    case 'notComparable':
    case 'unjudged':
      io.err(`fuselens: ${text('cli.compare.undecided', { reason: verdict.reasons.map(({ code, args }) => text(code, args, translate)).join(' ') }, translate)}\n`);
      return ExitCode.NotComparable;
    case 'slower':
      if ((verdict.change ?? 0) * 100 > limit) {
        io.err(`fuselens: ${text('cli.compare.failed', { change: formatChange(verdict.change), limit }, translate)}\n`);
        return ExitCode.Failed;
      }
      return ExitCode.Done;
    case 'faster':
    case 'same':
      return ExitCode.Done;
  }
}
