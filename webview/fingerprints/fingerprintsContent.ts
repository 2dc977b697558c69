import { attributionNotes } from '../../src/protocol/attributionNotes';
import type { FingerprintData, FingerprintEntry } from '../../src/protocol/fingerprints';
import { fingerprintsTable } from '../../src/protocol/fingerprintTables';
import { chainOperators } from '../../src/protocol/operatorNames';
import { textField } from '../shared/controls';
import { fillElement, h } from '../shared/dom';
import type { RankContent } from '../shared/rankView';
import { DataTable, type Sort } from '../tables/dataTable';
import { copyWith, section, type SectionContext } from '../tables/tableSection';
import { chainCard } from './chainCard';

/** What the view remembers besides rank and step. */
export interface FingerprintsDetail {
  readonly filter?: string;
  readonly sort?: Sort;
  /** Id of the chain shown in full. */
  readonly chosen?: string;
}

export interface FingerprintsOptions extends SectionContext {
  readonly data: FingerprintData;
  readonly rank: string;
  readonly step: number | undefined;
  readonly detail: FingerprintsDetail;
  readonly onDetail: (detail: FingerprintsDetail) => void;
}

/** Chains ranked by recoverable time, and the chosen one kernel by kernel. */
export function fingerprintsContent(options: FingerprintsOptions): RankContent {
  const { data, words } = options;
  if (data.fingerprints.length === 0) {
    return { element: h('p', { class: 'note' }, words.t('fingerprints.none')), dispose: () => undefined };
  }
  let { detail } = options;
  const keep = (change: Partial<FingerprintsDetail>): void => {
    detail = { ...detail, ...change };
    options.onDetail(detail);
  };
  const card = h('div', { class: 'chain-card-holder' });
  const choose = (entry: FingerprintEntry): void => {
    keep({ chosen: entry.id });
    fillElement(card, chainCard(entry, options));
  };
  const table = fingerprintsTable(data, (entry) => chainName(entry, options));
  const grid = new DataTable({
    table, words, label: words.t('fingerprints.title'), maxHeight: 360, nameWidth: 'clamp(108px, 23cqw, 260px)', narrow: ['kernels', 'recoverable_low_us', 'mean_us', 'occurrences', 'total_us', 'phase'], copy: copyWith(options), sort: detail.sort ?? { key: 'recoverable_high_us', descending: true }, onSort: (sort) => keep({ sort }),
    activate: { label: words.t('fingerprints.choose'), icon: 'chevron-down', run: (index) => choose(data.fingerprints[index]) },
  });
  const field = textField(words.t('fingerprints.filter'), detail.filter ?? '', (text) => {
    grid.setFilter(text);
    keep({ filter: text });
  });
  grid.setFilter(detail.filter ?? '');
  choose(data.fingerprints.find(({ id }) => id === detail.chosen) ?? data.fingerprints.find(({ fusion }) => fusion !== null) ?? data.fingerprints[0]);
  const element = h('div', { class: 'content' },
    section(options, { id: 'fingerprints', title: words.t('fingerprints.title'), tip: words.t('report.fingerprintsNote'), table },
      h('div', { class: 'table-tools' }, field, h('span', { class: 'faint' }, words.t('fingerprints.openRow'))), grid.element,
      howLocated(data, words)),
    card);
  return { element, dispose: () => undefined };
}

/** The weightiest sentence on how lines were found, and the rest on demand. */
function howLocated({ attribution }: FingerprintData, words: FingerprintsOptions['words']): HTMLElement | undefined {
  const [first, ...rest] = attributionNotes(attribution).map(({ code, args }) => words.t(code, args));
  if (first === undefined) {
    return undefined;
  }
  return rest.length === 0 ? h('p', { class: 'note' }, first) : h('details', {}, h('summary', {}, first), rest.map((note) => h('p', { class: 'note' }, note)));
}

/** "Gated RMSNorm"; unknown chains by how many kernels repeat. */
export function chainName(entry: FingerprintEntry, { words }: Pick<FingerprintsOptions, 'words'>): string {
  return entry.fusion === null ? words.t('fingerprints.unknown', { count: entry.kernels.length, first: chainOperators(entry.title.split(' ').slice(0, 4).join(' '), (english) => words.english(english)) }) : words.t(`fusion.${entry.fusion}`);
}
