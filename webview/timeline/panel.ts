import { fillElement, h, icon } from '../shared/dom';
import type { Words } from '../shared/words';

export type PanelTab = 'selection' | 'area' | 'search' | 'table';
const TABS: readonly PanelTab[] = ['selection', 'area', 'search', 'table'];

/** The part below the lanes: one tab each for the selected event, the selected area, search and the table twin. */
export class Panel {
  readonly bodies: Readonly<Record<PanelTab, HTMLElement>>;
  active: PanelTab | undefined;
  private readonly tabs: Readonly<Record<PanelTab, HTMLElement>>;

  constructor(readonly element: HTMLElement, words: Words, private readonly opened: (tab: PanelTab | undefined) => void) {
    const make = <T>(build: (tab: PanelTab) => T): Record<PanelTab, T> => Object.fromEntries(TABS.map((tab) => [tab, build(tab)])) as Record<PanelTab, T>;
    this.bodies = make((tab) => h('div', { class: 'panel-body', role: 'tabpanel', id: `panel-${tab}`, 'aria-labelledby': `tab-${tab}`, tabindex: -1 }));
    this.tabs = make((tab) => h('button', { class: 'panel-tab', role: 'tab', id: `tab-${tab}`, 'aria-controls': `panel-${tab}`, onclick: () => this.show(tab) }, words.t(`timeline.tab.${tab}`)));
    const list = h('div', { class: 'panel-tabs', role: 'tablist', onkeydown: (event: KeyboardEvent) => this.walk(event) }, TABS.map((tab) => this.tabs[tab]),
      h('span', { class: 'grow' }), h('button', { class: 'icon-button', 'aria-label': words.t('timeline.closePanel'), onclick: () => this.show(undefined) }, icon('close')));
    fillElement(element, list, TABS.map((tab) => this.bodies[tab]));
    this.show(undefined);
  }

  show(tab: PanelTab | undefined): void {
    this.active = tab;
    this.element.hidden = tab === undefined;
    for (const each of TABS) {
      this.bodies[each].hidden = each !== tab;
      this.tabs[each].setAttribute('aria-selected', String(each === tab));
      this.tabs[each].tabIndex = each === tab ? 0 : -1;
    }
    this.opened(tab);
  }

  private walk(event: KeyboardEvent): void {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step !== 0 && this.active !== undefined) {
      const next = TABS[(TABS.indexOf(this.active) + step + TABS.length) % TABS.length];
      this.show(next);
      this.tabs[next].focus();
      event.stopPropagation();
    }
  }
}

/** A list of names and values, copyable as it stands. */
export function facts(words: Words, rows: readonly (readonly [string, string | Node | undefined])[]): HTMLElement {
  return h('dl', { class: 'facts' }, rows.filter(([, value]) => value !== undefined && value !== '').map(([code, value]) => [h('dt', {}, words.t(code)), h('dd', {}, value)]));
}
