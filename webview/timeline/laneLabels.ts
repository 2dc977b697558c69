import type { TimelineLane } from '../../src/protocol/timeline';
import { fillElement, h, icon } from '../shared/dom';
import type { Words } from '../shared/words';
import { zoneTop, AXIS_HEIGHT, type Geometry, type LaneBox } from './geometry';
import type { TimelineModel } from './model';

/** What a lane is called. */
export function laneName(words: Words, lane: TimelineLane): string {
  switch (lane.kind) {
    case 'stream':
    case 'thread':
      return lane.label;
    case 'python':
      return words.t('timeline.lane.python', { thread: lane.label });
    case 'counter':
      return lane.measure === undefined ? lane.label : words.t(`timeline.lane.${lane.measure}`, { name: lane.label });
    default:
      return words.t(`timeline.lane.${lane.kind}`);
  }
}

/**
 * The labels left of the lanes: real elements, so that they can be reached, read and used without a pointer. Rebuilt only
 * when the lanes change; scrolling moves them as one.
 */
export class LaneLabels {
  private readonly pinned = h('div', { class: 'lane-zone' });
  private readonly others = h('div', { class: 'lane-zone' });
  private readonly clip = h('div', { class: 'lane-clip' }, this.others);
  private drawn = '';

  constructor(readonly element: HTMLElement, private readonly model: TimelineModel, private readonly words: Words) {
    element.append(this.pinned, this.clip);
    element.addEventListener('wheel', (event) => {
      model.scrollTop += event.deltaY;
      model.changed();
    }, { passive: true });
  }

  update(geometry: Geometry): void {
    const key = [...geometry.pinned, ...geometry.others].map((box) => `${box.lane.id}:${box.top}:${box.height}:${box.pinned}:${box.folded}`).join('|') + this.model.focusLane;
    if (key !== this.drawn) {
      this.drawn = key;
      const focused = document.activeElement?.getAttribute('data-focus-key');
      fillElement(this.pinned, geometry.pinned.map((box) => this.label(box)));
      fillElement(this.others, geometry.others.map((box) => this.label(box)));
      // Rebuilding must not take the keyboard away from whoever pressed a button here.
      if (focused !== null && focused !== undefined) {
        this.element.querySelector<HTMLElement>(`[data-focus-key="${CSS.escape(focused)}"]`)?.focus();
      }
    }
    const top = zoneTop(geometry);
    this.pinned.style.top = `${AXIS_HEIGHT}px`;
    this.clip.style.top = `${top}px`;
    this.others.style.transform = `translateY(${-this.model.scrollTop}px)`;
  }

  private label({ lane, top, height, rowHeight, folded, pinned }: LaneBox): HTMLElement {
    const name = laneName(this.words, lane);
    const rows = lane.rows > 1 ? this.words.t('timeline.rows', { count: this.words.number(lane.rows) }) : '';
    const tip = [name, ...this.counted(lane), rows, lane.untimed > 0 ? this.words.t('timeline.untimed', { count: this.words.number(lane.untimed) }) : '', this.explain(lane)].filter((part) => part !== '').join(' · ');
    const isGroup = lane.kind === 'counters';
    const fold = lane.rows > 1 || isGroup
      ? this.action(lane, 'fold', folded ? 'chevron-right' : 'chevron-down', `timeline.${folded ? 'unfold' : 'fold'}${isGroup ? 'Group' : ''}`, () => this.model.toggleFold(lane.id))
      : h('span', { class: 'lane-no-fold' });
    const element = h('div', { class: `lane-label${lane.id === this.model.focusLane ? ' focused' : ''}`, style: `top:${top}px;height:${Math.max(height, 15)}px;line-height:${Math.max(15, folded ? height : rowHeight)}px`, 'data-lane': lane.id, 'data-tip': tip },
      fold, h('span', { class: 'lane-name' }, name), rows === '' && !isGroup ? undefined : h('span', { class: 'lane-rows', 'aria-label': isGroup ? this.counted(lane).join() : rows }, `×${isGroup ? lane.events : lane.rows}`),
      h('span', { class: 'lane-actions' },
        this.action(lane, 'pin', pinned ? 'pinned' : 'pin', pinned ? 'timeline.unpin' : 'timeline.pin', () => this.model.togglePin(lane.id)),
        this.action(lane, 'hide', 'eye-closed', 'timeline.hide', () => this.model.toggleHidden(lane.id))));
    return element;
  }

  /** How many events, values or counters there are, and of values in which unit and how many are out of reach. */
  private counted({ kind, events, unit = '', outside = 0 }: TimelineLane): readonly string[] {
    const { words } = this;
    const count = words.number(events);
    if (kind === 'counters') {
      return [words.t('timeline.counters', { count })];
    }
    return kind !== 'counter' ? [words.t('timeline.events', { count })]
      : [words.t('timeline.values', { count }), unit === '' ? words.t('timeline.noUnit') : words.t('timeline.unit', { unit }), outside > 0 ? words.t('timeline.outside', { count: words.number(outside) }) : ''];
  }

  private explain(lane: TimelineLane): string {
    return lane.kind === 'compute-idle' || lane.kind === 'free' || lane.kind === 'other' || lane.kind === 'counters' ? this.words.t(`timeline.about.${lane.kind}`) : '';
  }

  private action(lane: TimelineLane, key: string, glyph: string, label: string, run: () => void): HTMLElement {
    return h('button', { class: 'lane-action', tabindex: key === 'fold' ? 0 : -1, 'aria-label': `${this.words.t(label)}: ${laneName(this.words, lane)}`, 'data-focus-key': `${key}:${lane.id}`, onclick: run }, icon(glyph));
  }
}
