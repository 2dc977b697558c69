import type { OverviewData } from '../../src/protocol/overview';
import type { Bridge } from '../shared/bridge';
import { RankView } from '../shared/rankView';
import { overviewContent } from './overviewContent';

/** The Overview: one rank's step at a glance. */
export function overviewView(root: HTMLElement, bridge: Bridge): RankView<OverviewData> {
  return new RankView<OverviewData>(root, bridge, {
    ask: (to, rank, step, options) => to.call('overview', { rank, ...(step === undefined ? {} : { step }) }, options),
    draw: ({ data, rank, step, words, name, detail, onDetail, go }, { post }) => overviewContent({ data, rank, step, words, name, post: post.bind(bridge), onStep: go, detail: (detail ?? {}), onDetail }),
    actions: (rank, step, words, to) => {
      const target = { rank, ...(step === undefined ? {} : { step }) };
      return [
        { label: words.t('view.showTimeline'), icon: 'pulse', run: () => to.post({ kind: 'show', view: 'timeline', target }) },
        { label: words.t('view.showFingerprints'), icon: 'list-tree', run: () => to.post({ kind: 'show', view: 'fingerprints', target }) },
      ];
    },
  });
}
