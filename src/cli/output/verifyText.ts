import path from 'node:path';
import { figureText } from '../../protocol/figureText';
import { text } from '../../protocol/text';
import type { Differences, VerifyReport } from '../../protocol/verify';
import { verifySentences, verifySubject } from '../../protocol/verifySentences';
import type { CommandContext } from '../io';
import { renderTable } from './table';

const DEFAULT_COLUMNS = 120;

/** The report in words: what was run, on what, how far the two lie apart, what was promised. */
export async function writeVerifyText(report: VerifyReport, { io, translate }: CommandContext): Promise<void> {
  const say = (code: string, args?: Readonly<Record<string, string | number>>): string => text(code, args, translate);
  const head = say('cli.verify.head', { file: path.relative(process.cwd(), report.file), line: report.startLine, fusion: verifySubject(report, translate), verdict: say(`verify.verdict.${report.verdict}`) });
  const both = (differences: Differences | null): string => (differences === null ? '–' : `${figureText(differences.maxAbs)} / ${figureText(differences.maxRel)}`);
  const several = new Set(report.rows.map(({ variant }) => variant)).size > 1;
  const table = report.rows.length === 0 ? '' : `\n${renderTable(
    [{ title: say('cli.verify.dtype') }, { title: say('cli.verify.layout') }, ...(several ? [{ title: say('cli.verify.branch') }] : []), { title: say('cli.verify.output'), align: 'right' }, { title: say('cli.verify.gradient'), align: 'right' }, { title: '' }],
    report.rows.map((row) => [row.dtype, say(`verify.layout.${row.layout}`), ...(several ? [say(`verify.variant.${row.variant}`)] : []), both(row.output), both(row.gradient), say(row.within ? 'verify.within' : 'verify.outside')]),
    io.columns ?? DEFAULT_COLUMNS,
  )}`;
  await io.out(`${head}\n${verifySentences(report, translate).map((sentence) => `    ${sentence}\n`).join('')}${table}`);
}
