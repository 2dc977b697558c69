import { fillElement, h } from '../shared/dom';
import type { Words } from '../shared/words';
import { formatCounterExact, formatScale } from './counterFormat';
import { formatExactNs, formatNs } from './format';
import type { Hit } from './hit';
import { familyName } from './legend';
import { laneName } from './laneLabels';
import type { TimelineModel } from './model';

/** The small box beside the pointer: what lies under it, at once and without asking anyone. */
export class HoverTip {
  private readonly element = h('div', { class: 'tooltip hover-tip', 'aria-hidden': 'true' });

  constructor(private readonly model: TimelineModel, private readonly words: Words) {
    this.element.hidden = true;
    document.body.append(this.element);
  }

  hide(): void {
    this.element.hidden = true;
  }

  remove(): void {
    this.element.remove();
  }

  show(hit: Hit | undefined, x: number, y: number): void {
    if (hit === undefined || (hit.event === undefined && hit.bin === undefined && hit.counter === undefined)) {
      this.hide();
      return;
    }
    const { words, model } = this;
    const { lane } = hit.row.box;
    if (hit.event !== undefined) {
      const { event } = hit;
      const name = lane.side === 'gap' ? words.t(`timeline.lane.${lane.kind}`) : event.name ?? '…';
      fillElement(this.element, h('div', { class: 'hover-name' }, name), h('div', {}, formatNs(words, event.durationNs), ' · ', familyName(words, model.layout.families[event.family].id)),
        h('div', { class: 'muted' }, words.t('timeline.hoverStart', { time: formatNs(words, event.startNs - model.layout.originNs) })));
    } else if (hit.counter !== undefined) {
      const { value, startNs, low, high, count } = hit.counter;
      const time = formatExactNs(words, startNs - model.layout.originNs);
      fillElement(this.element, h('div', { class: 'hover-name' }, laneName(words, lane)), h('div', {}, Number.isNaN(value) ? words.t('timeline.valueUnknown') : formatCounterExact(words, value, lane.unit ?? '')),
        h('div', { class: 'muted' }, words.t('timeline.hoverSince', { time })), count > 1 && !Number.isNaN(low) ? h('div', { class: 'muted' }, words.t('timeline.hoverValues', { count: words.number(count), range: formatScale(words, low, high, lane.unit ?? '') })) : undefined);
    } else if (hit.bin !== undefined) {
      const { bin } = hit;
      fillElement(this.element, h('div', {}, words.t('timeline.hoverBin', { count: words.number(bin.count), time: formatNs(words, bin.ns), share: words.share(bin.busy) })),
        h('div', { class: 'muted' }, words.t('timeline.hoverMostly', { family: familyName(words, model.layout.families[bin.family].id) })));
    }
    this.element.hidden = false;
    const box = this.element.getBoundingClientRect();
    this.element.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - box.width - 4))}px`;
    this.element.style.top = `${y + 18 + box.height > window.innerHeight ? Math.max(4, y - box.height - 8) : y + 18}px`;
  }
}
