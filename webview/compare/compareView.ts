import type { CompareOptions, CompareReport } from '../../src/protocol/compare';
import type { CompareDetail, CompareInit, CompareState } from '../../src/protocol/compareView';
import { AskingView } from '../shared/askingView';
import { button } from '../shared/controls';
import { failurePage } from '../shared/pages';
import { Words } from '../shared/words';
import type { CompareBridge, CompareMessage } from './compareBridge';
import { compareContent } from './compareContent';

/** The page of a comparison: asks, shows progress and failure, draws, and keeps the state. */
export class CompareViewPage extends AskingView {
  private init: CompareInit | undefined;
  private state: CompareState | undefined;

  constructor(root: HTMLElement, private readonly bridge: CompareBridge) {
    super(root, () => bridge.post({ kind: 'cancel', id: 0 }));
  }

  start(): void {
    this.bridge.start((message) => this.receive(message));
  }

  private receive(message: CompareMessage): void {
    switch (message.kind) {
      case 'opening':
        this.showOpening(message);
        break;
      case 'failed':
        this.endOpening();
        this.fail(message.message);
        break;
      case 'init':
        this.endOpening();
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
    await this.read(
      words.t('view.measuring'),
      (page, signal) => this.bridge.call('compareReport', { options: state.detail?.options ?? {} }, {
        signal,
        progress: ({ done, total, name, reading }) => {
          page.setTitle(words.t('compare.reading', { done, total, name }));
          if (reading !== undefined) {
            page.update(reading);
          }
        },
      }),
      (report) => this.draw(report),
      (message) => this.fail(message),
    );
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
    this.show([content.element], () => content.dispose());
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
    this.show([failurePage(message, button({ label: this.words.t('view.readAgain'), look: 'primary', onClick: () => this.bridge.post({ kind: 'reopen' }) }))]);
  }
}
