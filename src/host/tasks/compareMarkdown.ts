import * as vscode from 'vscode';
import type { CompareReport, Spread } from '../../protocol/compare';
import { rowName, verdictSentences } from '../../protocol/compareWords';
import { time } from '../editor/words';
import { escapeMarkdown } from '../escapeMarkdown';
import { translate } from '../sentences';

/** Rows of a table that say enough. */
const MOST_ROWS = 12;

/** The medians of several runs a side, as a page: verdict, step times, and where the difference lies. */
export function compareMarkdown(report: CompareReport): string {
  const { base, candidate, verdict } = report;
  const change = (share: number | null): string => (share === null ? '–' : `${share > 0 ? '+' : ''}${(100 * share).toFixed(1)} %`);
  const spread = (value: Spread | null): string => (value === null ? '–' : `${time(value.median)} (${time(value.low)} – ${time(value.high)})`);
  const head = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |\n|${cells.map((_, i) => (i === 0 ? '---' : '--:')).join('|')}|`;
  const samples = vscode.l10n.t('{0} runs of {1} with {2} steps in all, {3} runs of {4} with {5}; medians, and in brackets where the middle half or all of them lie.', base.runs, escapeMarkdown(base.name), base.samples, candidate.runs, escapeMarkdown(candidate.name), candidate.samples);
  const rows = (report.tables.families).filter(({ differenceUs }) => differenceUs !== 0).slice(0, MOST_ROWS).map((row) => `| ${escapeMarkdown(rowName(row, 'families', translate))} | ${row.base === null ? '–' : time(row.base.totalUs)} | ${row.candidate === null ? '–' : time(row.candidate.totalUs)} | ${change(row.change)} |`);
  return [
    `# ${escapeMarkdown(base.name)} → ${escapeMarkdown(candidate.name)}`, '',
    ...verdictSentences(report, { time: (us) => (us === null ? '–' : time(us)), change, number: (value, digits) => value.toFixed(digits) }, translate), '',
    samples, '',
    head('', escapeMarkdown(base.name), escapeMarkdown(candidate.name)),
    `| ${vscode.l10n.t('Step')} | ${spread(verdict.baseStepUs)} | ${spread(verdict.candidateStepUs)} |`, '',
    head(vscode.l10n.t('Family, one rank, one step'), escapeMarkdown(base.name), escapeMarkdown(candidate.name), vscode.l10n.t('Change')),
    ...rows, '',
  ].join('\n');
}
