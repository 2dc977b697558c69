import type { CompareOptions, CompareReport } from '../../src/protocol/compare';
import type { CompareDetail, CompareInit, CompareState } from '../../src/protocol/compareView';
import { RequestFailed } from '../shared/bridge';
import { button } from '../shared/controls';
import { fillElement, h } from '../shared/dom';
import { failurePage, ReadingPage, showPage } from '../shared/pages';
import { Words } from '../shared/words';
import type { CompareBridge, CompareMessage } from './compareBridge';
import { compareContent } from './compareContent';

/** The page of a comparison: asks, shows progress and failure, draws, and keeps the state. */
export class CompareViewPage {
  private words = new Words('en', {});
  private init: CompareInit | undefined;
  private state: CompareState | undefined;
  private opening: ReadingPage | undefined;
  private running: AbortController | undefined;
  private disposeContent: () => void = () => undefined;

  constructor(private readonly root: HTMLElement, private readonly bridge: CompareBridge) {}

  start(): void {
    this.bridge.start((message) => this.receive(message));
  }

  private receive(message: CompareMessage): void {
    switch (message.kind) {
      case 'opening':
        if (message.bundle !== undefined) {
          this.words = new Words(message.language ?? 'en', message.bundle);
          this.opening = undefined;
        }
        if (this.opening === undefined) {
          this.opening = new ReadingPage(this.words, this.words.t('view.opening', { name: message.name }), () => this.bridge.post({ kind: 'cancel', id: 0 }));
          this.show(this.opening.element);
        }
        if (message.progress !== undefined) {
          this.opening.update(message.progress);
        }
        break;
      case 'failed':
        this.opening = undefined;
        this.fail(message.message);
        break;
      case 'init':
        this.opening = undefined;
        this.words = new Words(message.init.language, message.init.bundle);
        this.init = message.init;
        this.state = message.init.state;
        document.title = `${message.init.base.name} → ${message.init.candidate.name}`;
        this.bridge.saveState(this.state);
        void this.load();
        break;
    }
  }

  private async load(): Promise<void> {
    const { state, words } = this;
    if (state === undefined) {
      return;
    }
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    const title = h('span', {}, words.t('view.measuring'));
    const page = new ReadingPage(words, '', () => running.abort());
    page.element.querySelector('.page-title')?.replaceChildren(title);
    // Digests that are there already answer at once: nothing flashes then.
    const timer = setTimeout(() => this.show(page.element), 250);
    try {
      const report = await this.bridge.call('compareReport', { options: state.detail?.options ?? {} }, {
        signal: running.signal,
        progress: ({ done, total, name, reading }) => {
          title.textContent = words.t('compare.reading', { done, total, name });
          if (reading !== undefined) {
            page.update(reading);
          }
        },
      });
      if (this.running === running) {
        this.draw(report);
      }
    } catch (error) {
      if (this.running === running) {
        this.fail(error instanceof RequestFailed && error.code === 'cancelled' ? words.t('view.cancelled') : error instanceof Error ? error.message : String(error));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  private draw(report: CompareReport): void {
    const { init, state, words, bridge } = this;
    if (init === undefined || state === undefined) {
      return;
    }
    const content = compareContent({
      report, init, words, bridge, name: `${init.base.name}-${init.candidate.name}`, post: (message) => {
        if (message.kind === 'copy' || message.kind === 'saveText') {
          bridge.post(message);
        }
      },
      detail: () => this.state?.detail ?? {}, onDetail: (change) => this.keep(change), onOptions: (options) => this.ask(options),
    });
    this.show(content.element);
    this.disposeContent = () => content.dispose();
  }

  /** Compares anew with other tokens; digests are not read again. */
  private ask(options: CompareOptions): void {
    this.keep({ options });
    void this.load();
  }

  private keep(change: Partial<CompareDetail>): void {
    if (this.state !== undefined) {
      this.state = { ...this.state, detail: { ...this.state.detail, ...change } };
      this.bridge.saveState(this.state);
    }
  }

  private fail(message: string): void {
    this.show(failurePage(message, button({ label: this.words.t('view.readAgain'), look: 'primary', onClick: () => this.bridge.post({ kind: 'reopen' }) })));
  }

  private show(element: HTMLElement): void {
    this.disposeContent();
    this.disposeContent = () => undefined;
    if (element.classList.contains('page')) {
      showPage(this.root, element);
    } else {
      fillElement(this.root, element);
    }
  }
}
