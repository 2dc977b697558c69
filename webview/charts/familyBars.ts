import type { RankReport } from '../../src/protocol/report';
import { h } from '../shared/dom';
import { familyColour } from '../shared/theme';
import type { Words } from '../shared/words';

/**
 * Families twice over: how many kernels, and how much kernel time. Where a family has many calls and little time, or the
 * reverse, the two bars of its row show it.
 */
export function familyBars(families: RankReport['families'], words: Words): HTMLElement {
  const rows = [...families].filter(({ count }) => count > 0).sort((a, b) => b.totalUs - a.totalUs);
  const countSum = rows.reduce((sum, { count }) => sum + count, 0);
  const timeSum = rows.reduce((sum, { totalUs }) => sum + totalUs, 0);
  const largestCount = Math.max(1, ...rows.map(({ count }) => count));
  const largestTime = Math.max(1, ...rows.map(({ totalUs }) => totalUs));
  const bar = (family: string, part: number): HTMLElement => h('td', { class: 'bar-cell', 'aria-hidden': 'true' },
    h('div', { class: 'bar-track' }, h('div', { class: 'bar-fill', style: `width: ${(100 * part).toFixed(2)}%; background: ${familyColour(family)}` })));
  return h('table', { class: 'plain-table family-table', 'aria-label': words.t('view.families') },
    h('thead', {}, h('tr', {},
      h('th', { scope: 'col', class: 'text' }, words.t('column.family')),
      h('th', { scope: 'col', class: 'number', colspan: 3 }, words.t('column.count')),
      h('th', { scope: 'col', class: 'number', colspan: 3 }, words.t('column.total')),
      h('th', { scope: 'col', class: 'number mean' }, words.t('column.mean')))),
    h('tbody', {}, rows.map(({ family, count, totalUs }) => h('tr', {},
      h('th', { scope: 'row', class: 'text' },
        h('span', { class: 'swatch', style: `background: ${familyColour(family)}`, 'aria-hidden': 'true' }),
        h('span', { class: 'defined', tabindex: 0, 'data-tip': words.maybe(`family.about.${family}`, family) }, words.maybe(`family.${family}`, family))),
      bar(family, count / largestCount), h('td', { class: 'number' }, words.count(count)), h('td', { class: 'number faint' }, words.share(countSum > 0 ? count / countSum : null)),
      bar(family, totalUs / largestTime), h('td', { class: 'number' }, words.time(totalUs)), h('td', { class: 'number faint' }, words.share(timeSum > 0 ? totalUs / timeSum : null)),
      h('td', { class: 'number mean' }, words.time(count > 0 ? totalUs / count : null))))));
}
