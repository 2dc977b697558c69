import { DIGEST_TABLES, type CompareFigure, type CompareReport, type CompareRow, type DigestTableId, type Spread } from '../../protocol/compare';
import { rowName, verdictSentences, type CompareFormats } from '../../protocol/compareWords';
import { text, type Translate } from '../../protocol/text';
import { displayWidth } from './displayWidth';
import { readableName } from './kernelName';
import { formatCount, formatShare, formatTime, UNKNOWN } from './numbers';
import type { Section, SectionColumn, SectionRow } from './sections';

/** A comparison as sentences and titled tables; the terminal and Markdown draw these. */
export interface CompareDocument {
  readonly title: string;
  readonly verdict: readonly string[];
  readonly notes: readonly string[];
  readonly sections: readonly Section[];
}

const SHOWN: Readonly<Record<DigestTableId, number>> = { families: 20, phases: 10, chains: 20, operators: 20, kernels: 25, lines: 20 };

const left = (title: string): SectionColumn => ({ title, align: 'left' });
const name = (title: string): SectionColumn => ({ title, align: 'left', heads: true });
const sentence = (title: string): SectionColumn => ({ title, align: 'left', wraps: true });
const right = (title: string): SectionColumn => ({ title, align: 'right' });

/** `−12.3 %`, with a true minus; the sign is always written. */
export const formatChange = (share: number | null): string => {
  if (share === null || !Number.isFinite(share)) {
    return UNKNOWN;
  }
  const size = formatShare(Math.abs(share));
  return `${size === formatShare(0) ? '' : share > 0 ? '+' : '−'}${size}`;
};

const signed = (us: number | null): string => us === null ? UNKNOWN : `${us > 0 ? '+' : us < 0 ? '−' : ''}${formatTime(Math.abs(us))}`;

export const compareFormats: CompareFormats = { time: formatTime, change: formatChange, number: (value, digits) => value.toFixed(digits) };

export function compareDocument(report: CompareReport, translate: Translate): CompareDocument {
  const say = (code: string, args?: Readonly<Record<string, string | number>>): string => text(code, args, translate);
  return {
    title: say('compare.title', { base: report.base.name, candidate: report.candidate.name }), verdict: verdictSentences(report, compareFormats, translate),
    notes: report.notes.map(({ code, args }) => say(code, args)),
    sections: [checks(report, say), figures('figures', report, say), figures('lanes', report, say), ...DIGEST_TABLES.map((id) => rows(id, report, translate, say))].filter((section) => section.rows.length > 0),
  };
}

type Say = (code: string, args?: Readonly<Record<string, string | number>>) => string;

function checks(report: CompareReport, say: Say): Section {
  return {
    id: 'checks', title: say('compare.checks'), notes: [], columns: [left(say('compare.check')), left(say('compare.result')), sentence('')],
    rows: report.checks.map(({ id, outcome, code, args }) => ({ cells: [say(`compare.checkName.${id}`), say(`compare.outcome.${outcome}`), say(code, args)] })),
  };
}

function figures(id: 'figures' | 'lanes', report: CompareReport, say: Say): Section {
  return {
    id, title: say(`compare.${id}`), notes: [say(id === 'figures' ? 'compare.figures.about' : 'compare.lanes.about')],
    columns: [left(say('compare.figure')), right(say('compare.base')), right(say('compare.candidate')), right(say('compare.change')), ...(report.per === 'token' ? [right(say('compare.changePerToken'))] : [])],
    rows: report[id].map((figure): SectionRow => ({
      cells: [say(`figureName.${figure.id}`), formatSpread(figure, figure.base), formatSpread(figure, figure.candidate), formatChange(figure.change), ...(report.per === 'token' ? [formatChange(figure.unitChange)] : [])],
      about: say(`figure.${figure.id}`),
    })),
  };
}

function formatSpread({ kind }: CompareFigure, spread: Spread | null): string {
  if (spread === null) {
    return UNKNOWN;
  }
  switch (kind) {
    case 'us': return formatTime(spread.median);
    case 'share': return formatShare(spread.median);
    case 'count': return formatCount(spread.median);
    case 'rate': return formatCount(spread.median);
    case 'bytes': return `${(spread.median / 1e9).toFixed(2)} GB`;
  }
}

/** One rank and, where there are several, all of them: the columns say which. */
function rows(id: DigestTableId, report: CompareReport, translate: Translate, say: Say): Section {
  const all = report.tables[id].filter(({ key }) => key !== '…');
  const several = report.ranks.length > 1;
  const shown = all.slice(0, SHOWN[id]);
  const more = all.length - shown.length;
  const counts = beforeAndAfter(shown.map(({ base, candidate }) => [formatCount(base?.count), formatCount(candidate?.count)]));
  const times = beforeAndAfter(shown.map(({ base, candidate }) => [formatTime(base?.totalUs), formatTime(candidate?.totalUs)]));
  return {
    id, title: `${say(`compare.table.${id}`)} · ${scopeText(report, say)} · ${say(`compare.differences.${report.per}`)}`, notes: [...(more > 0 ? [say('report.moreLikeIt', { count: more })] : []), ...(id === 'lines' ? [say('compare.lines.about')] : [])],
    columns: [
      name(say('compare.thing')), right(say('compare.count')), right(say('compare.total')), right(say('compare.difference')), ...(several ? [right(say('compare.scope.allRanks', { ranks: report.ranks.length }))] : []),
      right(say('compare.change')), sentence(say('compare.status')),
    ],
    rows: shown.map((row, i): SectionRow => ({
      cells: [nameOf(row, id, translate), counts[i], times[i], signed(row.differenceUs), ...(several ? [signed(row.allDifferenceUs)] : []), formatChange(row.change), statusText(row, say)],
    })),
  };
}

/** Operators by the framework's names; kernels, and operators known by their kernel alone, without what all their names share. */
function nameOf(row: CompareRow, id: DigestTableId, translate: Translate): string {
  const own = rowName(row, id, translate);
  return id === 'kernels' || (id === 'operators' && own === row.label) ? readableName(own) : own;
}

/** `before → after`, each as wide as the widest of its side, so that they stand beneath one another. */
function beforeAndAfter(pairs: readonly (readonly [string, string])[]): readonly string[] {
  const [base, candidate] = [0, 1].map((side) => Math.max(0, ...pairs.map((pair) => displayWidth(pair[side]))));
  const padded = (text: string, width: number): string => ' '.repeat(width - displayWidth(text)) + text;
  return pairs.map(([before, after]) => `${padded(before, base)} → ${padded(after, candidate)}`);
}

const scopeText = ({ base }: CompareReport, say: Say): string => (base.samples > 1 ? say('compare.scope.rank', { samples: base.samples }) : say('compare.scope.single'));

const statusText = ({ status, by }: CompareRow, say: Say): string => (by === null || status === 'unjudged' || status === 'same' ? say(`compare.status.${status}`) : `${say(`compare.status.${status}`)} (${say(`compare.by.${by}`)})`);
