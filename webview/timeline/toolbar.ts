import type { ProfileSummary } from '../../src/protocol/engine';
import type { TimelineLayout } from '../../src/protocol/timeline';
import { button, dropdown } from '../shared/controls';
import { fillElement, h } from '../shared/dom';
import type { Words } from '../shared/words';

export interface ToolbarActions {
  readonly rank: (id: string) => void;
  readonly step: (index: number | undefined) => void;
  readonly zoom: (factor: number) => void;
  readonly fit: () => void;
  readonly measure: () => void;
  readonly gaps: () => void;
  readonly search: () => void;
  readonly table: () => void;
  readonly sheet: () => void;
  readonly unhide: () => void;
}

/** What is shown, and the controls that have no other place. */
export class Toolbar {
  private readonly measureButton: HTMLElement;
  private readonly gapsButton: HTMLElement;
  private readonly tableButton: HTMLElement;
  private readonly hidden = h('span', { class: 'toolbar-hidden' });
  private readonly range = h('span', { class: 'toolbar-range', role: 'status' });
  private readonly warning = h('span', { class: 'toolbar-warning' });

  constructor(element: HTMLElement, private readonly words: Words, profile: ProfileSummary, layout: TimelineLayout, rank: string, step: number | undefined, private readonly actions: ToolbarActions) {
    const tool = (code: string, glyph: string, onClick: () => void): HTMLElement => button({ label: words.t(code), icon: glyph, look: 'icon', onClick });
    const toggle = (code: string, glyph: string, onClick: () => void): HTMLElement => {
      const made = tool(code, glyph, onClick);
      made.setAttribute('aria-pressed', 'false');
      return made;
    };
    this.measureButton = toggle('timeline.tool.measure', 'symbol-ruler', actions.measure);
    this.gapsButton = toggle('timeline.tool.gaps', 'fold', actions.gaps);
    this.tableButton = toggle('timeline.tool.table', 'table', actions.table);
    const ranks = profile.ranks.filter(({ readable }) => readable);
    const steps = layout.steps.filter(({ source }) => source !== 'window');
    element.setAttribute('role', 'toolbar');
    element.setAttribute('aria-label', words.t('timeline.toolbar'));
    fillElement(element,
      ranks.length > 1 ? dropdown(words.t('view.rank'), ranks.map((each) => ({ value: each.id, label: each.rank === undefined ? each.label : words.t('view.rankNumber', { rank: each.rank }) })), rank, actions.rank) : undefined,
      steps.length > 0 ? dropdown(words.t('view.step'), [{ value: '', label: words.t('view.wholeRecording') }, ...steps.map(({ index, name }) => ({ value: String(index), label: name }))], step === undefined ? '' : String(step), (value) => actions.step(value === '' ? undefined : Number(value))) : undefined,
      tool('timeline.tool.zoomIn', 'zoom-in', () => actions.zoom(0.6)), tool('timeline.tool.zoomOut', 'zoom-out', () => actions.zoom(1 / 0.6)), tool('timeline.tool.fit', 'screen-full', actions.fit),
      this.measureButton, this.gapsButton, tool('timeline.tool.search', 'search', actions.search), this.tableButton, tool('timeline.tool.keys', 'keyboard', actions.sheet),
      this.hidden, this.warning, h('span', { class: 'grow' }), this.range);
    this.warning.textContent = layout.outliers > 0 ? words.t('timeline.outliers', { count: words.number(layout.outliers) }) : '';
  }

  update(state: { readonly range: string; readonly measuring: boolean; readonly hidingGaps: number; readonly table: boolean; readonly hiddenLanes: number }): void {
    const { words } = this;
    if (this.range.textContent !== state.range) {
      this.range.textContent = state.range;
    }
    this.measureButton.setAttribute('aria-pressed', String(state.measuring));
    this.gapsButton.setAttribute('aria-pressed', String(state.hidingGaps > 0));
    this.tableButton.setAttribute('aria-pressed', String(state.table));
    const hidden = `${state.hiddenLanes}/${state.hidingGaps}`;
    if (this.hidden.dataset.shown !== hidden) {
      this.hidden.dataset.shown = hidden;
      fillElement(this.hidden,
        state.hidingGaps > 0 ? h('span', { class: 'badge' }, words.t('timeline.gapsHidden', { count: words.number(state.hidingGaps) })) : undefined,
        state.hiddenLanes > 0 ? h('button', { class: 'link', onclick: this.actions.unhide }, words.t('timeline.lanesHidden', { count: words.number(state.hiddenLanes) })) : undefined);
    }
  }
}
