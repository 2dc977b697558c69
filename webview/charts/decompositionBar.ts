import { decomposition, OTHER_LANES } from '../../src/protocol/overviewTables';
import type { LaneFigures } from '../../src/protocol/report';
import { h } from '../shared/dom';
import { familyColour } from '../shared/theme';
import type { Words } from '../shared/words';

/** Narrower than this a part carries no text; its row in the table below does. */
const TEXT_SHARE = 0.07;

/** One bar as long as the span, cut into what the device did, with the same numbers as a table beneath. */
export function decompositionBar(lanes: LaneFigures, words: Words): HTMLElement {
  const parts = decomposition(lanes);
  const span = parts.reduce((sum, { valueUs }) => sum + (valueUs ?? 0), 0);
  const share = (valueUs: number | null): number | null => (valueUs === null || span <= 0 ? null : valueUs / span);
  const pieces = parts.filter(({ valueUs }) => valueUs !== null && valueUs > 0).map(({ id, colour, valueUs }) => {
    const part = share(valueUs) ?? 0;
    return h('div', { class: `piece piece-${id}`, style: `flex-grow: ${part}; background: ${familyColour(colour)}`, 'data-tip': `${words.t(`figureName.${id}`)}: ${words.time(valueUs)} (${words.share(part)})` },
      part < TEXT_SHARE ? undefined : h('span', { class: 'piece-text' }, `${words.time(valueUs)}`));
  });
  const row = (id: string, valueUs: number | null, colour?: string): HTMLElement => h('tr', {},
    h('th', { scope: 'row', class: 'text' },
      colour === undefined ? undefined : h('span', { class: `swatch piece-${id}`, style: `background: ${familyColour(colour)}`, 'aria-hidden': 'true' }),
      h('span', { class: 'defined', tabindex: 0, 'data-tip': words.t(`figure.${id}`) }, words.t(`figureName.${id}`))),
    h('td', { class: 'number' }, words.time(valueUs)), h('td', { class: 'number' }, words.share(share(valueUs))));
  const head = (): HTMLElement => h('thead', {}, h('tr', {}, h('th', { scope: 'col', class: 'text' }, words.t('column.lane')), h('th', { scope: 'col', class: 'number' }, words.t('column.time')), h('th', { scope: 'col', class: 'number' }, words.t('column.shareOfSpan'))));
  return h('div', { class: 'decomposition' },
    h('div', { class: 'bar', 'aria-hidden': 'true' }, pieces),
    h('div', { class: 'bar-tables' },
      h('table', { class: 'plain-table', 'aria-label': words.t('view.decomposition') }, head(), h('tbody', {}, parts.map(({ id, colour, valueUs }) => row(id, valueUs, colour)))),
      h('table', { class: 'plain-table' }, head(), h('tbody', {}, OTHER_LANES.map((id) => row(id, lanes[id]))))));
}
