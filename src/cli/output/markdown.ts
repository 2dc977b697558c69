import { text, type Translate } from '../../protocol/text';
import type { CompareDocument } from './compareDocument';
import type { ReportDocument } from './document';
import type { Section } from './sections';
import { oneLine } from './table';

/** The report as GitHub-flavoured Markdown, with the definition of every figure at the end. */
export function markdownReport(document: ReportDocument, translate: Translate): string {
  const say = (code: string): string => text(code, undefined, translate);
  const parts: string[] = [`# ${escape(document.title)}\n\n${escape(document.summary)}\n`];
  parts.push(...document.overview.map((each) => section(each, 2)));
  for (const page of document.pages) {
    parts.push(`## ${escape(page.heading)}\n`, ...page.sections.map((each) => section(each, 3)), ...(page.leftOut === '' ? [] : [`${escape(page.leftOut)}\n`]));
    if (page.assumptions.length > 0) {
      parts.push(`### ${say('report.assumptions')}\n\n${bullets(page.assumptions)}`);
    }
  }
  parts.push(`## ${say('report.problems')}\n\n${document.problems.length === 0
    ? `${say('report.noProblems')}\n`
    : bullets(document.problems.map(({ message, effect }) => effect === '' ? message : `${message} ${effect}`))}`);
  const definitions = definitionsOf(document);
  if (definitions.length > 0) {
    parts.push(`## ${say('report.definitions')}\n\n${definitions.map(([name, about]) => `- **${escape(name)}**: ${escape(about)}\n`).join('')}`);
  }
  parts.push(...document.notes.map((note) => `${escape(note)}\n`));
  return parts.join('\n');
}

/** A comparison: verdict first, then the tables. */
export function compareMarkdown({ title, verdict, notes, sections }: CompareDocument): string {
  const [headline, ...rest] = verdict;
  return [`# ${escape(title)}\n\n**${escape(headline)}**\n`, ...(rest.length + notes.length === 0 ? [] : [bullets([...rest, ...notes])]), ...sections.map((each) => section(each, 2))].join('\n');
}

/** Figure → definition, each once, in the order of first use. */
export function definitionsOf(document: ReportDocument): readonly (readonly [string, string])[] {
  const found = new Map<string, string>();
  for (const { sections } of document.pages) {
    for (const { rows } of sections) {
      for (const { cells, about } of rows) {
        if (about !== undefined) {
          found.set((cells[0] ?? '').replace(/^· /, ''), about);
        }
      }
    }
  }
  return [...found];
}

function section({ title, columns, rows, notes }: Section, level: number): string {
  const line = (cells: readonly string[]): string => `| ${columns.map((_column, i) => escape(cells[i] ?? '')).join(' | ')} |\n`;
  const rule = `| ${columns.map(({ align }) => align === 'right' ? '--:' : ':--').join(' | ')} |\n`;
  return `${'#'.repeat(level)} ${escape(title)}\n\n${line(columns.map(({ title: name }) => name))}${rule}${rows.map(({ cells }) => line(cells)).join('')}${notes.map((note) => `\n${escape(note)}\n`).join('')}`;
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${escape(line)}\n`).join('');
}

/** Kernel names hold `|`, `<`, `*` and `_`; a table must survive them, and no name may become a link or markup. */
function escape(cell: string): string {
  return oneLine(cell).replace(/[\\`*_[\]<>|#]/g, (character) => character === '<' ? '&lt;' : character === '>' ? '&gt;' : `\\${character}`);
}
