import type { CompareFigure, CompareReport, CompareRow, DigestTableId } from '../../src/protocol/compare';
import type { Side } from '../../src/protocol/compareView';
import { rowName } from '../../src/protocol/compareWords';
import { LANE_PARTS } from '../../src/protocol/overviewTables';
import { h } from '../shared/dom';
import { familyColour } from '../shared/theme';
import type { Words } from '../shared/words';

const MOST_ROWS = 12;
const SIDES = ['base', 'candidate'] as const;
/** Narrower than this a part carries no text; its row in the table below does. */
const TEXT_SHARE = 0.14;

/** Kernel time before and after, two bars a row in one scale, largest differences first, as in the article's figures 5 to 13. */
export function changeBars(report: CompareReport, id: DigestTableId, scope: 'rank' | 'all', words: Words): HTMLElement {
  const valueOf = (row: CompareRow, side: Side): number => ((scope === 'all' ? row[side]?.allTotalUs : row[side]?.totalUs) ?? 0) * report.factors[side];
  const rows = report.tables[id].filter(({ key }) => key !== '…').slice(0, MOST_ROWS);
  const largest = Math.max(1e-9, ...rows.flatMap((row) => SIDES.map((side) => valueOf(row, side))));
  if (rows.length === 0) {
    return h('p', { class: 'note' }, words.t('compare.noRows'));
  }
  return h('table', { class: 'plain-table change-bars', 'aria-label': words.t('compare.bars') },
    h('tbody', {}, rows.map((row) => {
      const name = rowName(row, id, (english) => words.english(english));
      return h('tr', {},
        h('th', { scope: 'row', class: 'text bar-name', title: name }, name),
        h('td', { class: 'bars-cell' }, SIDES.map((side) => h('div', { class: 'bar-line' },
          row[side] === null ? undefined : h('div', { class: `side-bar side-${side}`, style: `width: ${((100 * valueOf(row, side)) / largest).toFixed(2)}%`, 'aria-hidden': 'true' }),
          h('span', { class: 'bar-value' }, h('span', { class: 'visually-hidden' }, words.t(`compare.${side}`)), ' ', row[side] === null ? '–' : words.time(valueOf(row, side)))))),
        h('td', { class: `number status-${row.status}` }, words.change(row.change)),
        h('td', { class: `text status-${row.status}` }, row.status === 'unjudged' ? '' : words.t(`compare.status.${row.status}`)));
    })));
}

/** The span of both sides, cut into what the device did, in one scale, as in the article's figures 15 and 19. */
export function decompositionPair(report: CompareReport, unit: 'step' | 'token', words: Words): HTMLElement {
  const lane = (id: string): CompareFigure | undefined => report.lanes.find((figure) => figure.id === id);
  const factor = (side: Side): number => (unit === 'token' ? report.factors[side] : 1);
  const partsOf = (side: Side): readonly { readonly id: string; readonly colour: string; readonly us: number }[] =>
    LANE_PARTS.map(({ id, colour }) => ({ id, colour, us: (lane(id)?.[side]?.median ?? 0) * factor(side) }));
  const sums = SIDES.map((side) => partsOf(side).reduce((sum, { us }) => sum + us, 0));
  const largest = Math.max(1e-9, ...sums);
  return h('div', { class: 'decomposition-pair' }, SIDES.map((side, i) => h('div', { class: 'pair-row' },
    h('span', { class: 'pair-name' }, h('span', { class: `side-mark side-${side}`, 'aria-hidden': 'true' }), words.t(`compare.${side}`)),
    h('div', { class: 'pair-track' }, h('div', { class: 'bar pair-bar', style: `width: ${((100 * sums[i]) / largest).toFixed(2)}%`, role: 'img', 'aria-label': `${words.t(`compare.${side}`)}: ${partsOf(side).map(({ id, us }) => `${words.t(`figureName.${id}`)} ${words.time(us)}`).join(', ')}` },
      partsOf(side).filter(({ us }) => us > 0).map(({ id, colour, us }) => h('div', { class: `piece piece-${id}`, style: `flex-grow: ${us / sums[i]}; background: ${familyColour(colour)}`, 'data-tip': `${words.t(`figureName.${id}`)}: ${words.time(us)} (${words.share(us / sums[i])})` },
        (us / largest) < TEXT_SHARE ? undefined : h('span', { class: 'piece-text' }, words.time(us)))))),
    h('span', { class: 'number' }, words.time(sums[i])))));
}
