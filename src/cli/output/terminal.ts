import { text, type Translate } from '../../protocol/text';
import type { CompareDocument } from './compareDocument';
import type { ReportDocument } from './document';
import type { Section } from './sections';
import { bar, oneLine, renderTable, wrapped } from './table';

const BAR = 20;

/** The report as a person reads it in a terminal of `columns` characters. */
export function terminalReport(document: ReportDocument, translate: Translate, columns?: number): string {
  const screen = Math.max(72, Math.min(columns ?? 140, 160));
  const inTerminal = columns === undefined ? undefined : screen;
  const say = (code: string): string => text(code, undefined, translate);
  const parts: string[] = [`${oneLine(document.title)}\n${oneLine(document.summary)}\n`];
  parts.push(...document.overview.map((each) => section(each, screen)));
  for (const page of document.pages) {
    if (document.overview.length > 0 || document.pages.length > 1) {
      parts.push(`── ${oneLine(page.heading)} ${'─'.repeat(Math.max(0, screen - page.heading.length - 4))}\n`);
    }
    parts.push(...page.sections.map((each) => section(each, screen)));
    parts.push(paragraph(page.leftOut, screen), list(say('report.assumptions'), page.assumptions, inTerminal));
  }
  parts.push(document.problems.length === 0
    ? `${say('report.noProblems')}\n`
    : list(say('report.problems'), document.problems.map(({ message, effect }) => effect === '' ? message : `${message} ${effect}`), inTerminal));
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

const paragraph = (text: string, screen: number): string => (text === '' ? '' : wrapped(text, screen).map((line) => `${line}\n`).join(''));

/** What goes into a pipe is searched line by line, so there a sentence stays whole. */
function list(title: string, lines: readonly string[], screen: number | undefined): string {
  const item = (line: string): string => (screen === undefined ? [oneLine(line)] : wrapped(line, screen - 4)).map((part, i) => `${i === 0 ? '  · ' : '    '}${part}\n`).join('');
  return lines.length === 0 ? '' : `${title}\n${lines.map(item).join('')}`;
}
