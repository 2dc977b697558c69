import type { OverviewData } from '../../src/protocol/overview';
import { keyFigures, type Figure } from '../../src/protocol/overviewTables';
import { h } from '../shared/dom';
import type { Words } from '../shared/words';

/** The article's percentile table: each row a figure with its definition. */
export function keyFiguresTable(data: OverviewData, words: Words): HTMLElement {
  return h('table', { class: 'plain-table figures-table', 'aria-label': words.t('view.figures') },
    h('tbody', {}, keyFigures(data).map((figure) => h('tr', {},
      h('th', { scope: 'row', class: 'text' }, h('span', { class: 'defined', tabindex: 0, 'data-tip': words.t(`figure.${figure.id}`) }, words.t(`figureName.${figure.id}`))),
      h('td', { class: 'number' }, figureValue(figure, words)),
      h('td', { class: 'text faint ellipsis', title: note(data, figure) }, note(data, figure))))));
}

function figureValue({ kind, value }: Figure, words: Words): string {
  if (typeof value === 'string') {
    return value;
  }
  switch (kind) {
    case 'us':
    case 'usSigned': return words.time(value);
    case 'share': return words.share(value);
    case 'change': return words.change(value);
    case 'count':
    case 'text': return words.count(value);
  }
}

/** Which kernel the longest one is. */
function note(data: OverviewData, { id }: Figure): string {
  return id === 'maxUs' ? (data.longest?.name ?? '') : '';
}
