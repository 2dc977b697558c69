import type { FigureTable } from '../../src/protocol/overviewTables';
import { textField } from '../shared/controls';
import { h } from '../shared/dom';
import { DataTable } from '../tables/dataTable';
import { copyWith, section } from '../tables/tableSection';
import type { ContentOptions } from './overviewContent';

/** Every kernel name, sortable and filtered as the user types; a row leads to its longest run in the timeline. */
export function kernelsSection(options: ContentOptions, table: FigureTable): HTMLElement {
  const { data, words, post, rank, step, onDetail } = options;
  let { detail } = options;
  const keep = (change: Partial<typeof detail>): void => {
    detail = { ...detail, ...change };
    onDetail(detail);
  };
  const grid = new DataTable({
    table, words, label: words.t('view.kernels'), maxHeight: 440, narrow: ['type', 'max_us', 'share_of_total', 'mean_us', 'family'], copy: copyWith(options), sort: detail.sort ?? { key: 'total_us', descending: true },
    onSort: (sort) => keep({ sort }),
    activate: {
      label: words.t('view.showInTimeline'), icon: 'pulse',
      run: (index) => post({ kind: 'show', view: 'timeline', target: { rank: rank.id, event: data.kernels[index].longestIndex, ...(step === undefined ? {} : { step }) } }),
    },
  });
  const shown = h('span', { class: 'faint', role: 'status' });
  const filter = (text: string): void => {
    const count = grid.setFilter(text);
    shown.textContent = words.t('view.kernelsShown', { shown: words.count(count), total: words.count(table.rows.length) });
  };
  filter(detail.filter ?? '');
  const field = textField(words.t('view.filterKernels'), detail.filter ?? '', (text) => {
    filter(text);
    keep({ filter: text });
  });
  return section(options, { id: 'kernels', title: words.t('view.kernels'), tip: words.t('figure.topKernels'), table, tools: [shown] },
    h('div', { class: 'table-tools' }, field, h('span', { class: 'faint' }, words.t('view.openRow'))), grid.element,
    data.omitted > 0 ? h('p', { class: 'note' }, words.t('view.omitted', { count: words.count(data.omitted) })) : undefined);
}
