import { tableCsv, tableText, type FigureTable } from '../../src/protocol/overviewTables';
import type { FromWebview } from '../../src/protocol/webview';
import { button } from '../shared/controls';
import { h, type Child } from '../shared/dom';
import type { Words } from '../shared/words';

/** What every section of a view can use. */
export interface SectionContext {
  readonly words: Words;
  readonly post: (message: FromWebview) => void;
  /** Start of suggested file names. */
  readonly name: string;
}

/** A titled part of the page; with a table it offers to copy it and to save it as CSV. */
export function section(context: SectionContext, options: { readonly id: string; readonly title: string; readonly tip?: string; readonly table?: FigureTable; readonly tools?: readonly HTMLElement[] }, ...children: readonly Child[]): HTMLElement {
  const { words, post, name } = context;
  const { id, title, tip, table, tools = [] } = options;
  const actions = table === undefined ? [] : [
    button({ label: words.t('view.copyTable', { table: title }), icon: 'copy', look: 'icon', onClick: () => post({ kind: 'copy', text: tableText(table) }) }),
    button({ label: words.t('view.saveTable', { table: title }), icon: 'save', look: 'icon', onClick: () => post({ kind: 'saveText', name: `${name}-${table.id}.csv`, text: tableCsv(table) }) }),
  ];
  return h('section', { class: `section section-${id}`, 'aria-labelledby': `title-${id}` },
    h('header', { class: 'section-head' }, h('h2', { id: `title-${id}`, ...(tip === undefined ? {} : { 'data-tip': tip }) }, title), h('span', { class: 'section-tools' }, [...tools, ...actions])),
    children);
}

export const copyWith = ({ post }: SectionContext): ((text: string) => void) => (text) => post({ kind: 'copy', text });
