import { h, icon } from '../shared/dom';
import type { Words } from '../shared/words';

const KEYS: readonly (readonly [string, string])[] = [
  ['W / S', 'zoom'], ['A / D', 'pan'], ['← / →', 'events'], ['↑ / ↓', 'lanes'], ['Tab', 'tab'], ['F', 'fit'], ['0', 'all'], ['Backspace', 'undo'], ['M', 'measure'], ['R', 'total'],
  ['[ / ]', 'sameName'], ['/', 'search'], ['N / Shift+N', 'hits'], ['Enter', 'open'], ['P', 'pin'], ['H / Shift+H', 'hide'], ['Space', 'fold'], ['G', 'gaps'], ['T', 'table'], ['Esc', 'escape'], ['?', 'sheet'],
];
const POINTER: readonly string[] = ['wheel', 'shiftWheel', 'drag', 'shiftDrag', 'click', 'doubleClick'];

/** The sheet of keys; a modal dialog that Escape closes. */
export function openKeySheet(words: Words): void {
  const dialog = h('dialog', { class: 'key-sheet', 'aria-label': words.t('timeline.keys.title') },
    h('div', { class: 'detail-title' }, h('strong', {}, words.t('timeline.keys.title')), h('span', { class: 'grow' }),
      h('button', { class: 'icon-button', 'aria-label': words.t('timeline.closePanel'), onclick: () => dialog.close() }, icon('close'))),
    h('div', { class: 'key-columns' },
      h('dl', { class: 'keys' }, KEYS.map(([key, code]) => [h('dt', {}, key.split(' / ').map((one, i) => [i > 0 ? ' / ' : '', h('kbd', {}, one)])), h('dd', {}, words.t(`timeline.keys.${code}`))])),
      h('dl', { class: 'keys' }, POINTER.map((code) => [h('dt', {}, words.t(`timeline.pointer.${code}`)), h('dd', {}, words.t(`timeline.pointer.${code}.does`))]))));
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) {
      dialog.close();
    }
  });
  document.body.append(dialog);
  dialog.showModal();
}
