import type { EventPlace, SearchParams, SearchResult } from '../../src/protocol/timeline';
import { fillElement, h } from '../shared/dom';
import type { Words } from '../shared/words';
import { formatNs } from './format';

const DEBOUNCE_MS = 250;

export interface SearchActions {
  readonly run: (params: Omit<SearchParams, 'rank'>) => Promise<SearchResult | undefined>;
  readonly found: (places: readonly EventPlace[]) => void;
  readonly goTo: (place: EventPlace) => void;
}

/** Search by name, type, shape and duration, with a list to walk through. */
export class SearchPanel {
  private readonly text: HTMLInputElement;
  private readonly regex: HTMLInputElement;
  private readonly host: HTMLInputElement;
  private readonly field: HTMLSelectElement;
  private readonly least: HTMLInputElement;
  private readonly most: HTMLInputElement;
  private readonly status = h('span', { class: 'muted', role: 'status' });
  private readonly list = h('div', { class: 'hit-list', role: 'listbox', tabindex: 0 });
  private places: readonly EventPlace[] = [];
  private current = -1;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private run = 0;

  constructor(body: HTMLElement, private readonly words: Words, private readonly actions: SearchActions) {
    const changed = (): void => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.search(), DEBOUNCE_MS);
    };
    const input = (code: string, attributes: Readonly<Record<string, string | number>>): HTMLInputElement => h('input', { type: 'text', 'aria-label': words.t(code), placeholder: words.t(code), oninput: changed, ...attributes });
    const check = (code: string): readonly [HTMLInputElement, HTMLElement] => {
      const box = h('input', { type: 'checkbox', onchange: changed });
      return [box, h('label', {}, box, words.t(code))];
    };
    this.text = input('timeline.search.text', { class: 'search-text' });
    this.least = input('timeline.search.least', { class: 'search-time', inputmode: 'decimal' });
    this.most = input('timeline.search.most', { class: 'search-time', inputmode: 'decimal' });
    this.field = h('select', { 'aria-label': words.t('timeline.search.field'), onchange: changed }, ['all', 'name', 'type', 'shapes'].map((field) => h('option', { value: field }, words.t(`timeline.search.in.${field}`))));
    const [regex, regexLabel] = check('timeline.search.regex');
    const [host, hostLabel] = check('timeline.search.host');
    this.regex = regex;
    this.host = host;
    const previous = h('button', { class: 'text-button', onclick: () => this.step(-1) }, words.t('timeline.search.previous'));
    const next = h('button', { class: 'text-button', onclick: () => this.step(1) }, words.t('timeline.search.next'));
    this.list.setAttribute('aria-label', words.t('timeline.search.results'));
    const keys = (event: KeyboardEvent): void => {
      if (event.key === 'Enter' || (event.currentTarget === this.list && (event.key === 'ArrowDown' || event.key === 'ArrowUp'))) {
        event.preventDefault();
        this.step(event.shiftKey || event.key === 'ArrowUp' ? -1 : 1);
      }
    };
    this.text.addEventListener('keydown', keys);
    this.list.addEventListener('keydown', keys);
    fillElement(body, h('div', { class: 'search-row', role: 'search' }, this.text, this.field, regexLabel, hostLabel, this.least, this.most, previous, next, this.status), this.list);
  }

  focus(): void {
    this.text.focus();
    this.text.select();
  }

  step(direction: 1 | -1): void {
    if (this.places.length > 0) {
      this.choose((this.current + direction + this.places.length) % this.places.length);
    }
  }

  private choose(position: number): void {
    this.current = position;
    this.actions.goTo(this.places[position]);
    for (const option of this.list.children) {
      option.setAttribute('aria-selected', 'false');
    }
    const option = this.list.children[position];
    option?.setAttribute('aria-selected', 'true');
    option?.scrollIntoView({ block: 'nearest' });
    this.list.setAttribute('aria-activedescendant', option?.id ?? '');
  }

  private async search(): Promise<void> {
    const number = (field: HTMLInputElement): number | undefined => {
      const value = Number(field.value.replace(',', '.'));
      return field.value.trim() === '' || Number.isNaN(value) ? undefined : Math.round(value * 1000);
    };
    const text = this.text.value;
    const [minNs, maxNs] = [number(this.least), number(this.most)];
    const run = ++this.run;
    if (text === '' && minNs === undefined && maxNs === undefined) {
      this.show({ total: 0, sumNs: 0, places: [], badPattern: false }, true);
      return;
    }
    const field = this.field.value;
    const result = await this.actions.run({
      text, regex: this.regex.checked, sides: this.host.checked ? ['device', 'host'] : ['device'],
      ...(field === 'all' ? {} : { fields: [field as 'name' | 'type' | 'shapes'] }), ...(minNs === undefined ? {} : { minNs }), ...(maxNs === undefined ? {} : { maxNs }),
    });
    if (run === this.run && result !== undefined) {
      this.show(result, false);
    }
  }

  private show({ total, sumNs, places, badPattern }: SearchResult, empty: boolean): void {
    this.places = places;
    this.current = -1;
    this.actions.found(places);
    const shown = this.words.number(places.length);
    this.status.textContent = empty ? '' : badPattern ? this.words.t('timeline.search.bad')
      : total === 0 ? this.words.t('timeline.search.none')
      : this.words.t(total > places.length ? 'timeline.search.capped' : 'timeline.search.total', { total: this.words.number(total), shown, time: formatNs(this.words, sumNs) });
    fillElement(this.list, places.map((place, i) => h('div', { class: 'hit', role: 'option', id: `hit-${i}`, 'aria-selected': 'false', onclick: () => this.choose(i) },
      h('span', { class: 'hit-name' }, place.name), h('span', { class: 'number' }, formatNs(this.words, place.durationNs)))));
  }
}
