import type { AreaGroup, AreaStats } from '../../src/protocol/timeline';
import { fillElement, h } from '../shared/dom';
import { familyColour } from '../shared/theme';
import type { Words } from '../shared/words';
import { formatNs } from './format';
import { familyName } from './legend';
import type { TimelineModel } from './model';
import { laneName } from './laneLabels';
import { facts } from './panel';

/** Totals of the selected area; `relane` is called when a lane is ticked on or off. */
export function drawArea(body: HTMLElement, words: Words, model: TimelineModel, stats: AreaStats, relane: (lanes: readonly string[]) => void): void {
  const lanes = model.area?.lanes ?? [];
  const length = stats.endNs - stats.startNs;
  const time = (ns: number | null): string => formatNs(words, ns);
  const share = length > 0 ? ` (${words.share(stats.unionNs / length)})` : '';
  const figures = facts(words, [
    ['timeline.area.length', time(length)],
    ['timeline.area.events', words.number(stats.events)],
    ['timeline.area.union', `${time(stats.unionNs)}${share}`],
    ['timeline.area.sum', time(stats.sumNs)],
    ['timeline.area.min', time(stats.minNs)],
    ['timeline.area.mean', time(stats.meanNs)],
    ['timeline.area.median', time(stats.medianNs)],
    ['timeline.area.p95', time(stats.p95Ns)],
    ['timeline.area.max', time(stats.maxNs)],
  ]);
  const { pinned, others } = model.visibleLanes();
  const ticks = h('fieldset', { class: 'lane-ticks' }, h('legend', {}, words.t('timeline.area.lanes')), [...pinned, ...others].filter(({ side }) => side !== 'counter').map((lane) => {
    const box = h('input', { type: 'checkbox', checked: lanes.includes(lane.id), onchange: () => relane(lanes.includes(lane.id) ? lanes.filter((id) => id !== lane.id) : [...lanes, lane.id]) });
    return h('label', {}, box, laneName(words, lane));
  }));
  fillElement(body, h('p', { class: 'muted note' }, words.t('timeline.area.note')), h('div', { class: 'detail-columns' }, figures, ticks,
    groupTable(words, words.t('timeline.area.families'), stats.families, stats.sumNs, (name) => [h('span', { class: 'swatch', style: `background:${familyColour(name)}` }), familyName(words, name)]),
    groupTable(words, words.t('timeline.area.names'), stats.names, stats.sumNs, (name) => [words.maybe(`timeline.family.${name}`, name)], stats.omittedNames)));
}

function groupTable(words: Words, caption: string, groups: readonly AreaGroup[], sumNs: number, name: (id: string) => (Node | string)[], omitted = 0): HTMLElement {
  return h('div', { class: 'detail-block' }, h('table', { class: 'plain' }, h('caption', {}, caption),
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, words.t('column.name')), h('th', { scope: 'col', class: 'number' }, words.t('column.count')), h('th', { scope: 'col', class: 'number' }, words.t('timeline.area.sum')), h('th', { scope: 'col', class: 'number' }, words.t('column.shareOfTotal')))),
    h('tbody', {}, groups.map((group) => h('tr', {}, h('td', {}, name(group.name)), h('td', { class: 'number' }, words.number(group.events)), h('td', { class: 'number' }, formatNs(words, group.sumNs)), h('td', { class: 'number' }, sumNs > 0 ? words.share(group.sumNs / sumNs) : '–'))))),
  omitted > 0 ? h('p', { class: 'muted' }, words.t('timeline.area.omitted', { count: words.number(omitted) })) : undefined);
}
