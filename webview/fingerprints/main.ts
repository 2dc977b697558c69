import '../shared/view.css';
import '../shared/page.css';
import './fingerprints.css';
import { Bridge } from '../shared/bridge';
import { showOwnErrors } from '../shared/pages';
import { RankView } from '../shared/rankView';
import { installTooltips } from '../shared/tooltip';
import { fingerprintsContent } from './fingerprintsContent';
import type { FingerprintData } from '../../src/protocol/fingerprints';

installTooltips();
const root = document.createElement('main');
document.body.append(root);
showOwnErrors(root);
const bridge = new Bridge();
new RankView<FingerprintData>(root, bridge, {
  ask: (to, rank, step, options) => to.call('fingerprints', { rank, ...(step === undefined ? {} : { step }) }, options),
  draw: ({ data, rank, step, words, name, detail, onDetail }, { post }) => fingerprintsContent({ data, rank: rank.id, step, words, name, post: post.bind(bridge), detail: (detail ?? {}), onDetail }),
  actions: (rank, step, words, to) => {
    const target = { rank, ...(step === undefined ? {} : { step }) };
    return [
      { label: words.t('view.showTimeline'), icon: 'pulse', run: () => to.post({ kind: 'show', view: 'timeline', target }) },
      { label: words.t('view.showOverview'), icon: 'dashboard', run: () => to.post({ kind: 'show', view: 'overview', target }) },
    ];
  },
}).start();
