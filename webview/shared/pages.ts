/** What a view shows while there is nothing to show: opening, reading, failed. */
import type { EngineProgress } from '../../src/protocol/engine';
import { button, progressRing } from './controls';
import { fillElement, h, icon } from './dom';
import type { Words } from './words';

/** Bytes and rate of a long read, with Cancel. Updates in place, so that screen readers are not flooded. */
export class ReadingPage {
  readonly element: HTMLElement;
  private readonly title = h('div', { class: 'page-title' });
  private readonly status = h('div', { class: 'page-status' });
  private readonly bar = h('div', { class: 'page-bar-fill' });
  private readonly started = performance.now();

  constructor(private readonly words: Words, title: string, onCancel?: () => void) {
    this.element = h('div', { class: 'page', role: 'status' },
      progressRing(), this.title, h('div', { class: 'page-bar', 'aria-hidden': 'true' }, this.bar), this.status,
      onCancel === undefined ? undefined : button({ label: words.t('view.cancel'), onClick: onCancel }));
    this.setTitle(title);
  }

  setTitle(title: string): void {
    this.title.textContent = title;
  }

  update({ bytes, totalBytes }: EngineProgress): void {
    const seconds = Math.max(0.001, (performance.now() - this.started) / 1000);
    if (totalBytes > 0 && bytes >= totalBytes) {
      this.status.textContent = this.words.t('view.measuring');
      this.bar.style.width = '100%';
      return;
    }
    const rate = this.words.bytes(bytes / seconds);
    const done = this.words.bytes(bytes);
    this.status.textContent = totalBytes > 0
      ? this.words.t('view.progress', { done, total: this.words.bytes(totalBytes), rate })
      : this.words.t('view.progressOpen', { done, rate });
    this.bar.style.width = totalBytes > 0 ? `${Math.min(100, (100 * bytes) / totalBytes)}%` : '0';
  }
}

/** A sentence with what can be done about it. */
export function failurePage(message: string, ...actions: readonly HTMLElement[]): HTMLElement {
  return h('div', { class: 'page', role: 'alert' }, h('span', { class: 'page-icon' }, icon('error')), h('div', { class: 'page-title' }, message), h('div', { class: 'page-actions' }, [...actions]));
}

export const showPage = (root: HTMLElement, page: HTMLElement): void => fillElement(root, page);

/** A mistake of ours must not leave a blank page: says what happened, in place of what could not be drawn. */
export function showOwnErrors(root: HTMLElement): void {
  const show = (reason: unknown): void => showPage(root, failurePage(reason instanceof Error ? `${reason.message}\n${reason.stack ?? ''}` : String(reason)));
  window.addEventListener('error', (event) => {
    // Browsers report this harmless loop of the layout as an error.
    if (!event.message.includes('ResizeObserver')) {
      show(event.error ?? event.message);
    }
  });
  window.addEventListener('unhandledrejection', (event) => show(event.reason));
}
