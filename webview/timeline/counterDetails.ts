import type { EventDetail } from '../../src/protocol/timeline';
import { fillElement, h, icon } from '../shared/dom';
import type { Words } from '../shared/words';
import { formatCounterExact } from './counterFormat';
import { formatExactNs } from './format';
import { facts } from './panel';

/** The value of a counter in words; a gap is said, never a zero. */
export function counterText(words: Words, { value = NaN, unit = '' }: EventDetail): string {
  return Number.isNaN(value) ? words.t('timeline.valueUnknown') : formatCounterExact(words, value, unit);
}

/** What is known about the selected value of a counter. */
export function drawCounterDetails(body: HTMLElement, words: Words, originNs: number, name: string, detail: EventDetail, copy: (text: string) => void): void {
  const rows = [
    ['timeline.detail.value', counterText(words, detail)],
    ['timeline.detail.start', formatExactNs(words, detail.startNs - originNs)],
    ['timeline.detail.holds', Number.isNaN(detail.durationNs) ? words.t('timeline.lastValue') : formatExactNs(words, detail.durationNs)],
  ] as const;
  const text = (): string => [name, ...rows.map(([code, value]) => `${words.t(code)}\t${value}`)].join('\n');
  fillElement(body, h('div', { class: 'detail-title' }, h('strong', { class: 'detail-name' }, name),
    h('button', { class: 'icon-button', 'aria-label': words.t('timeline.copyDetails'), 'data-tip': words.t('timeline.copyDetails'), onclick: () => copy(text()) }, icon('copy'))),
  h('div', { class: 'detail-columns' }, facts(words, rows)));
}
