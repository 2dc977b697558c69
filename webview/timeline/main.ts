/** Timeline webview: waits for the host's `init`, reads the rank, then hands over to `TimelineView`. */
import type { NavigateTarget, ViewInit, ViewState } from '../../src/protocol/webview';
import { Bridge, type OtherMessage } from '../shared/bridge';
import { button } from '../shared/controls';
import { failurePage, ReadingPage, showPage } from '../shared/pages';
import { installTooltips } from '../shared/tooltip';
import { Words } from '../shared/words';
import type { SavedDetail } from './model';
import { TimelineView } from './timelineView';
import '../shared/view.css';
import './style.css';

const bridge = new Bridge();
const root = document.createElement('main');
root.className = 'root';
document.body.append(root);
installTooltips();

let words = new Words(document.documentElement.lang === '' ? 'en' : document.documentElement.lang, {});
let view: TimelineView | undefined;
let init: ViewInit | undefined;
let loading: AbortController | undefined;
let opening: ReadingPage | undefined;
let pendingTarget: NavigateTarget | undefined;
let shown: { readonly rank: string; readonly step: number | undefined } | undefined;

function closeView(): void {
  view?.dispose();
  view = undefined;
  loading?.abort();
  loading = undefined;
}

function receive(message: OtherMessage): void {
  switch (message.kind) {
    case 'opening':
      if (message.bundle !== undefined) {
        words = new Words(message.language ?? 'en', message.bundle);
        opening = undefined;
      }
      if (opening === undefined) {
        closeView();
        opening = new ReadingPage(words, words.t('view.opening', { name: message.name }), () => bridge.post({ kind: 'cancel', id: 0 }));
        showPage(root, opening.element);
      }
      if (message.progress !== undefined) {
        opening.update(message.progress);
      }
      return;
    case 'failed':
      opening = undefined;
      closeView();
      showPage(root, failurePage(message.message, button({ label: words.t(message.crashed ? 'view.reopen' : 'view.readAgain'), look: 'primary', onClick: () => bridge.post({ kind: 'reopen' }) }),
        button({ label: words.t('view.openOther'), onClick: () => bridge.post({ kind: 'openOther' }) })));
      return;
    case 'init': {
      opening = undefined;
      init = message.init;
      words = new Words(init.language, init.bundle);
      const { state, profile } = init;
      const rank = profile.ranks.find(({ id, readable }) => readable && id === state.rank) ?? profile.ranks.find(({ readable }) => readable);
      if (rank === undefined) {
        showPage(root, failurePage(words.t('view.noRank'), button({ label: words.t('view.openOther'), onClick: () => bridge.post({ kind: 'openOther' }) })));
        return;
      }
      void load(rank.id, rank.id === state.rank ? state.step : undefined, state.detail as SavedDetail | undefined);
      return;
    }
    case 'navigate':
      navigate(message.target);
  }
}

function navigate(target: NavigateTarget): void {
  const step = target.step ?? (target.rank === shown?.rank ? shown.step : undefined);
  if (view !== undefined && shown?.rank === target.rank && shown.step === step) {
    view.navigate(target);
    return;
  }
  pendingTarget = target;
  if (init !== undefined && (loading === undefined || shown?.rank !== target.rank || shown.step !== step)) {
    void load(target.rank, step, undefined);
  }
}

async function load(rank: string, step: number | undefined, saved: SavedDetail | undefined): Promise<void> {
  if (init === undefined) {
    return;
  }
  const { profile, state } = init;
  closeView();
  const abort = new AbortController();
  loading = abort;
  shown = { rank, step };
  const label = profile.ranks.find(({ id }) => id === rank)?.label ?? profile.name;
  const page = new ReadingPage(words, words.t('view.reading', { name: label }), () => abort.abort());
  showPage(root, page.element);
  try {
    const layout = await bridge.call('timelineLayout', { rank, ...(step === undefined ? {} : { step }) }, { signal: abort.signal, progress: (progress) => page.update(progress) });
    if (loading !== abort) {
      return;
    }
    loading = undefined;
    // Steps alone, without a time of their own, are nothing to draw.
    if (layout.lanes.every(({ kind, events, untimed }) => kind === 'steps' || events + untimed === 0)) {
      showPage(root, failurePage(words.t('timeline.nothing'), button({ label: words.t('view.openOther'), onClick: () => bridge.post({ kind: 'openOther' }) })));
      return;
    }
    const save = (detail: SavedDetail): void => {
      const next: ViewState = { ...state, rank, detail };
      const { step: _step, ...rest } = next;
      bridge.saveState(step === undefined ? rest : { ...rest, step });
    };
    view = new TimelineView(root, { bridge, words, profile, rank, step, layout, saved, save, reload: (otherRank, otherStep) => void load(otherRank, otherStep, undefined) });
    Object.assign(window, { fuselensTimeline: view });
    if (pendingTarget !== undefined && pendingTarget.rank === rank) {
      view.navigate(pendingTarget);
    }
    pendingTarget = undefined;
  } catch (error) {
    if (loading === abort) {
      loading = undefined;
      showPage(root, failurePage(abort.signal.aborted ? words.t('view.cancelled') : error instanceof Error ? error.message : String(error),
        button({ label: words.t('view.readAgain'), look: 'primary', onClick: () => void load(rank, step, saved) }), button({ label: words.t('view.openOther'), onClick: () => bridge.post({ kind: 'openOther' }) })));
    }
  }
}

bridge.start(receive);
