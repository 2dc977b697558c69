import type { ToWebview } from '../../src/protocol/webview';
import { RequestFailed } from './bridge';
import { fillElement, type Child } from './dom';
import { ReadingPage } from './pages';
import { Words } from './words';

/** What pages that ask the host for their content have in common: opening, reading, and freeing what they show. */
export abstract class AskingView {
  protected words = new Words('en', {});
  private opening: ReadingPage | undefined;
  private running: AbortController | undefined;
  private disposeShown: () => void = () => undefined;

  constructor(private readonly root: HTMLElement, private readonly cancelOpening: () => void) {}

  protected showOpening({ name, progress, language, bundle }: Extract<ToWebview, { kind: 'opening' }>): void {
    if (bundle !== undefined) {
      this.words = new Words(language ?? 'en', bundle);
      this.opening = undefined;
    }
    if (this.opening === undefined) {
      this.opening = new ReadingPage(this.words, this.words.t('view.opening', { name }), this.cancelOpening);
      this.show([this.opening.element]);
    }
    if (progress !== undefined) {
      this.opening.update(progress);
    }
  }

  protected endOpening(): void {
    this.opening = undefined;
  }

  /** Asks under a page with a Cancel. The latest question wins; what is on screen stays until its answer is there. */
  protected async read<Data>(title: string, ask: (page: ReadingPage, signal: AbortSignal) => Promise<Data>, draw: (data: Data) => void, fail: (message: string) => void): Promise<void> {
    const { words } = this;
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    const page = new ReadingPage(words, title, () => running.abort());
    // What is in memory already answers at once: nothing flashes then.
    const timer = setTimeout(() => this.show([page.element]), 250);
    try {
      const data = await ask(page, running.signal);
      if (this.running === running) {
        draw(data);
      }
    } catch (error) {
      if (this.running === running) {
        fail(error instanceof RequestFailed && error.code === 'cancelled' ? words.t('view.cancelled') : error instanceof Error ? error.message : String(error));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Replaces all that is shown; `dispose` frees the new when it is replaced in turn. */
  protected show(children: readonly Child[], dispose: () => void = () => undefined): void {
    this.disposeShown();
    this.disposeShown = dispose;
    fillElement(this.root, ...children);
  }
}
