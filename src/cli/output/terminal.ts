import { text, type Translate } from '../../protocol/text';
import type { CompareDocument } from './compareDocument';
import type { ReportDocument } from './document';
import type { Section } from './sections';
import { bar, oneLine, renderTable, wrapped } from './table';

const BAR = 20;

/** The report as a person reads it in a terminal of `columns` characters. */
export function terminalReport(document: ReportDocument, translate: Translate, columns = 140): string {
  const screen = Math.max(72, Math.min(columns, 160));
  const say = (code: string): string => text(code, undefined, translate);
  const parts: string[] = [`${oneLine(document.title)}\n${oneLine(document.summary)}\n`];
  if (document.overview !== undefined) {
    parts.push(section(document.overview, screen));
  }
  for (const page of document.pages) {
    if (document.overview !== undefined || document.pages.length > 1) {
      parts.push(`── ${oneLine(page.heading)} ${'─'.repeat(Math.max(0, screen - page.heading.length - 4))}\n`);
    }
    parts.push(...page.sections.map((each) => section(each, screen)));
    parts.push(list(say('report.assumptions'), page.assumptions));
  }
  parts.push(document.problems.length === 0
    ? `${say('report.noProblems')}\n`
    : list(say('report.problems'), document.problems.map(({ message, effect }) => effect === '' ? message : `${message} ${effect}`)));
  parts.push(...document.notes.map((note) => `${note}\n`));
  return parts.filter((part) => part !== '').join('\n');
}

/** A comparison: verdict first, then the tables. */
export function compareTerminal({ title, verdict, notes, sections }: CompareDocument, columns = 140): string {
  const screen = Math.max(72, Math.min(columns, 200));
  return [`${oneLine(title)}\n`, verdict.map((sentence) => `${oneLine(sentence)}\n`).join(''), ...notes.map((note) => `${oneLine(note)}\n`), ...sections.map((each) => section(each, screen))].join('\n');
}

function section({ title, columns, rows, notes }: Section, screen: number): string {
  const bars = rows.some(({ share }) => share !== undefined);
  const table = renderTable(
    bars ? [...columns, { title: '', align: 'left', optional: true }] : columns,
    rows.map(({ cells, share }) => bars ? [...cells, share === undefined ? '' : bar(share, BAR)] : cells),
    screen,
  );
  return `${oneLine(title)}\n${table}${notes.flatMap((note) => wrapped(note, screen - 2)).map((line) => `  ${line}\n`).join('')}`;
}

function list(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  · ${oneLine(line)}\n`).join('')}`;
}
