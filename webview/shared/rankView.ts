import type { EngineProgress, ProfileSummary, RankSummary } from '../../src/protocol/engine';
import type { NavigateTarget, ViewInit, ViewState } from '../../src/protocol/webview';
import { AskingView } from './askingView';
import type { Bridge, OtherMessage } from './bridge';
import { button } from './controls';
import { h } from './dom';
import { failurePage } from './pages';
import { problemsBanner } from './problemsBanner';
import { rankHeader, rankName, type HeaderOptions } from './rankHeader';
import { Words } from './words';

/** What a page of one rank draws into, and what it must free. */
export interface RankContent {
  readonly element: HTMLElement;
  dispose(): void;
}

/** What a page is made from. */
export interface RankPage<Data> {
  readonly data: Data;
  readonly profile: ProfileSummary;
  readonly rank: RankSummary;
  readonly step: number | undefined;
  readonly words: Words;
  /** Start of suggested file names. */
  readonly name: string;
  /** What the page keeps besides rank and step. */
  readonly detail: unknown;
  readonly onDetail: (detail: unknown) => void;
  readonly go: (step: number | undefined) => void;
}

export interface RankViewOptions<Data> {
  readonly ask: (bridge: Bridge, rank: string, step: number | undefined, options: NonNullable<Parameters<Bridge['call']>[2]>) => Promise<Data>;
  readonly draw: (page: RankPage<Data>, bridge: Bridge) => RankContent;
  readonly actions: (rank: string, step: number | undefined, words: Words, bridge: Bridge) => HeaderOptions['actions'];
}

/**
 * A view of one rank at a time: asks for its data and draws it under a header that chooses rank and step. Everything can be
 * drawn again from the profile and the state.
 */
export class RankView<Data> extends AskingView {
  private profile: ProfileSummary | undefined;
  private state: ViewState | undefined;

  constructor(root: HTMLElement, private readonly bridge: Bridge, private readonly options: RankViewOptions<Data>) {
    super(root, () => bridge.post({ kind: 'cancel', id: 0 }));
  }

  start(): void {
    this.bridge.start((message) => this.receive(message));
  }

  private receive(message: OtherMessage): void {
    switch (message.kind) {
      case 'opening':
        this.showOpening(message);
        break;
      case 'failed':
        this.endOpening();
        this.fail(message.message, message.crashed);
        break;
      case 'init':
        this.endOpening();
        this.begin(message.init);
        break;
      case 'navigate':
        this.navigate(message.target);
        break;
    }
  }

  private begin({ profile, state, language, bundle }: ViewInit): void {
    this.words = new Words(language, bundle);
    this.profile = profile;
    document.title = profile.name;
    const rank = profile.ranks.find(({ id }) => id === state.rank) ?? profile.ranks.find(({ readable }) => readable);
    const { rank: _rank, ...rest } = state;
    this.state = { ...rest, ...(rank === undefined ? {} : { rank: rank.id }) };
    if (rank === undefined || !rank.readable) {
      this.show([h('div', { class: 'content' }, problemsBanner(profile.problems, profile.path, this.words), h('p', { class: 'note' }, this.words.t('view.noRank')))]);
      return;
    }
    this.save();
    void this.load();
  }

  private navigate({ rank, step }: NavigateTarget): void {
    if (this.state !== undefined && (this.state.rank !== rank || this.state.step !== step)) {
      this.go(rank, step);
    }
  }

  private go(rank: string, step: number | undefined): void {
    if (this.state === undefined) {
      return;
    }
    const { step: _step, ...rest } = this.state;
    this.state = { ...rest, rank, ...(step === undefined ? {} : { step }) };
    this.save();
    void this.load();
  }

  private async load(): Promise<void> {
    const { profile, state, words } = this;
    const known = profile?.ranks.find(({ id }) => id === state?.rank);
    if (profile === undefined || state === undefined || known === undefined) {
      return;
    }
    await this.read(
      words.t('view.reading', { name: rankName(known, profile, words) }),
      async (page, signal) => {
        const options = { signal, progress: (progress: EngineProgress) => page.update(progress) };
        const rank = known.loaded === undefined ? await this.bridge.call('load', { rank: known.id }, options) : known;
        const step = state.step !== undefined && rank.loaded?.steps[state.step] === undefined ? undefined : state.step;
        return { rank, step, data: await this.options.ask(this.bridge, rank.id, step, options) };
      },
      ({ rank, step, data }) => {
        this.profile = { ...profile, ranks: profile.ranks.map((each) => (each.id === rank.id ? rank : each)) };
        this.draw(rank, data, step);
      },
      (message) => this.failRead(message),
    );
  }

  private draw(rank: RankSummary, data: Data, step: number | undefined): void {
    const { profile, words, bridge } = this;
    if (profile === undefined) {
      return;
    }
    const header = rankHeader({
      profile, rank, step, words, actions: this.options.actions(rank.id, step, words, bridge),
      onRank: (id) => this.go(id, undefined), onStep: (chosen) => this.go(rank.id, chosen),
    });
    const content = this.options.draw({
      data, profile, rank, step, words, name: fileName(profile, rank, words), go: (chosen) => this.go(rank.id, chosen),
      detail: this.state?.detail,
      onDetail: (detail) => {
        this.state = this.state === undefined ? undefined : { ...this.state, detail };
        this.save();
      },
    }, bridge);
    this.show([header, problemsBanner([...profile.problems, ...(rank.loaded?.problems ?? [])], profile.path, words), content.element], () => content.dispose());
  }

  private fail(message: string, crashed: boolean): void {
    const { words, bridge } = this;
    const reopen = button({ label: words.t('view.reopen'), look: 'primary', onClick: () => bridge.post({ kind: 'reopen' }) });
    const other = button({ label: words.t('view.openOther'), onClick: () => bridge.post({ kind: 'openOther' }) });
    this.show([failurePage(crashed ? `${message} ${words.t('view.crashed')}` : message, reopen, other)]);
  }

  private failRead(message: string): void {
    const again = button({ label: this.words.t('view.readAgain'), look: 'primary', onClick: () => void this.load() });
    this.show([h('div', {}, this.rankChooser(), failurePage(message, again))]);
  }

  /** One rank that cannot be read must not lock the user out of the others. */
  private rankChooser(): HTMLElement | undefined {
    const { profile, state, words } = this;
    const rank = profile?.ranks.find(({ id }) => id === state?.rank);
    return profile === undefined || rank === undefined ? undefined : rankHeader({
      profile, rank, step: undefined, words, onRank: (id) => this.go(id, undefined), onStep: () => undefined, actions: this.options.actions(rank.id, undefined, words, this.bridge),
    });
  }

  private save(): void {
    if (this.state !== undefined) {
      this.bridge.saveState(this.state);
    }
  }
}

/** Start of a file name for what is saved from this view. */
function fileName(profile: ProfileSummary, rank: RankSummary, words: Words): string {
  return `${profile.name}-${rankName(rank, profile, words)}`.replace(/[^\p{L}\p{N}._-]+/gu, '-');
}
