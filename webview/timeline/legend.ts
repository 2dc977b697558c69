import { fillElement, h } from '../shared/dom';
import { familyColour } from '../shared/theme';
import type { Words } from '../shared/words';
import { formatNs } from './format';
import type { TimelineModel } from './model';

/** What a colour stands for. */
export function familyName(words: Words, id: string): string {
  return words.maybe(`family.${id}`, words.maybe(`timeline.family.${id}`, id));
}

/** Families by kernel time; a click hides one, Alt-click leaves only that one. */
export class Legend {
  constructor(readonly element: HTMLElement, private readonly model: TimelineModel, private readonly words: Words, private readonly filtered: () => void) {
    element.setAttribute('role', 'group');
    element.setAttribute('aria-label', words.t('timeline.legend'));
    this.draw();
  }

  draw(): void {
    const { families } = this.model.layout;
    const device = families.map((family, position) => ({ family, position })).filter(({ family }) => family.group === 'device' && family.events > 0);
    device.sort((a, b) => b.family.sumNs - a.family.sumNs);
    fillElement(this.element, device.map(({ family, position }) => this.chip(family.id, position, formatNs(this.words, family.sumNs),
      this.words.t('timeline.legendTip', { name: familyName(this.words, family.id), count: this.words.number(family.events), time: formatNs(this.words, family.sumNs), about: this.words.maybe(`family.about.${family.id}`, '') }))),
    this.model.hiddenFamilies.size === 0 ? undefined : h('button', { class: 'chip-reset', onclick: () => this.only(undefined) }, this.words.t('timeline.showAll')));
  }

  private chip(id: string, position: number, time: string, tip: string): HTMLElement {
    const hidden = this.model.hiddenFamilies.has(position);
    return h('button', {
      class: `chip${hidden ? ' off' : ''}`, 'aria-pressed': hidden ? 'false' : 'true', 'data-tip': tip, 'data-family': id,
      onclick: (event: MouseEvent) => (event.altKey ? this.only(position) : this.toggle(position)),
    }, h('span', { class: 'swatch', style: `background:${familyColour(id)}` }), familyName(this.words, id), h('span', { class: 'chip-time' }, time));
  }

  private toggle(position: number): void {
    if (!this.model.hiddenFamilies.delete(position)) {
      this.model.hiddenFamilies.add(position);
    }
    this.apply(position);
  }

  private only(position: number | undefined): void {
    this.model.hiddenFamilies.clear();
    this.model.layout.families.forEach((family, other) => {
      if (position !== undefined && family.group === 'device' && family.events > 0 && other !== position) {
        this.model.hiddenFamilies.add(other);
      }
    });
    this.apply(position);
  }

  private apply(position: number | undefined): void {
    this.draw();
    const id = position === undefined ? undefined : this.model.layout.families[position].id;
    (id === undefined ? this.element : this.element.querySelector<HTMLElement>(`[data-family="${id}"]`))?.focus();
    this.filtered();
  }
}
