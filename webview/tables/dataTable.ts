import type { Cell, FigureTable } from '../../src/protocol/overviewTables';
import { fillElement, h, icon } from '../shared/dom';
import { familyColour } from '../shared/theme';
import type { TimeUnit, Words } from '../shared/words';
import { cellText, columnUnits, compareCells, headingText } from './cells';
import { RowWindow } from './rowWindow';

export interface Sort {
  /** `FigureColumn.key`. */
  readonly key: string;
  readonly descending: boolean;
}

export interface TableOptions {
  readonly table: FigureTable;
  readonly words: Words;
  readonly label: string;
  /** Pixels; taller tables scroll and draw only the rows in sight. */
  readonly maxHeight?: number;
  readonly sort?: Sort;
  readonly onSort?: (sort: Sort) => void;
  /** Enter, double-click or the row's button. `index` is the row's place in `table.rows`. */
  readonly activate?: { readonly label: string; readonly icon: string; readonly run: (index: number) => void };
  readonly selectedRow?: number;
  /** Keys of the columns to leave out, in this order, while the view is too narrow for all. */
  readonly narrow?: readonly string[];
  /** Width (CSS) that the column of names keeps at least; `cqw` is a hundredth of the table's place. */
  readonly nameWidth?: string;
  /** Copies a row (tab-separated, exact values) when nothing else is selected. */
  readonly copy?: (text: string) => void;
}

/**
 * A table of figures: sortable by every column, walkable by keyboard, virtualised, numbers right-aligned in one unit per
 * column. Cells are selectable text, so that a number can be copied as it stands.
 */
export class DataTable {
  readonly element: HTMLElement;
  private readonly units: readonly (TimeUnit | undefined)[];
  private readonly collator: Intl.Collator;
  private readonly head = h('thead');
  private readonly rowWindow: RowWindow;
  private order: readonly number[];
  private sort: Sort | undefined;
  private filter = '';
  private readonly grid: HTMLTableElement;
  private readonly scroller: HTMLElement;
  private readonly note = h('p', { class: 'faint narrow-note' });
  private hidden: ReadonlySet<number> = new Set();
  private fittedWidth = 0;

  constructor(private readonly options: TableOptions) {
    const { table, words, maxHeight, label, nameWidth } = options;
    const style = [...(maxHeight === undefined ? [] : [`max-height: ${maxHeight}px`]), ...(nameWidth === undefined ? [] : [`--name-width: ${nameWidth}`])].join('; ');
    this.sort = options.sort;
    this.units = columnUnits(table);
    this.collator = new Intl.Collator(words.language, { numeric: true });
    this.order = this.ordered();
    const body = h('tbody');
    this.grid = h('table', { class: 'data-table', 'aria-label': label, 'aria-rowcount': table.rows.length + 1 }, this.head, body);
    this.scroller = h('div', { class: 'table-scroll', ...(style === '' ? {} : { style }) }, this.grid);
    this.element = h('div', { class: 'table-holder' }, this.scroller, this.note);
    this.rowWindow = new RowWindow(this.scroller, body, table.columns.length + (options.activate === undefined ? 0 : 1), (place) => this.drawRow(place));
    this.drawHead();
    this.rowWindow.setCount(this.order.length);
    if ((options.narrow ?? []).length > 0) {
      new ResizeObserver(() => this.fit()).observe(this.scroller);
    }
    body.addEventListener('dblclick', (event) => this.run(this.rowWindow.placeOf(event.target)));
    body.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') {
        this.run(this.rowWindow.placeOf(event.target));
      } else if (event.key === 'c' && (event.ctrlKey || event.metaKey) && (getSelection()?.isCollapsed ?? true)) {
        this.copyRow(this.rowWindow.placeOf(event.target));
      }
    });
  }

  /** Shows only rows with this text in one of their words; returns how many. */
  setFilter(filter: string): number {
    this.filter = filter.trim().toLowerCase();
    this.order = this.ordered();
    this.rowWindow.setCount(this.order.length);
    return this.order.length;
  }

  /** Leaves out columns until the rest fits; the column that sorts the rows stays, and a line names what is missing. */
  private fit(): void {
    const width = this.scroller.clientWidth;
    if (width === 0 || width === this.fittedWidth) {
      return;
    }
    this.fittedWidth = width;
    const { table, words, narrow = [] } = this.options;
    const known = (place: number): number => (table.rows.some((row) => row[place] !== null && row[place] !== '') ? 1 : 0);
    const places = narrow.filter((key) => key !== this.sort?.key).map((key) => table.columns.findIndex((column) => column.key === key)).filter((place) => place >= 0).sort((a, b) => known(a) - known(b));
    this.show(new Set());
    // Headings of two lines come before columns are left out.
    this.grid.classList.remove('tight');
    this.grid.classList.toggle('tight', this.grid.scrollWidth > this.scroller.clientWidth);
    for (let left = 1; left <= places.length && this.grid.scrollWidth > this.scroller.clientWidth; left++) {
      this.show(new Set(places.slice(0, left)));
    }
    const names = [...this.hidden].sort((a, b) => a - b).map((place) => headingText(words, table.columns[place], undefined));
    this.note.textContent = names.length === 0 ? '' : words.t('view.columnsHidden', { columns: names.join(', ') });
  }

  private show(hidden: ReadonlySet<number>): void {
    this.hidden = hidden;
    this.drawHead();
    this.rowWindow.redraw();
  }

  private ordered(): readonly number[] {
    const { table: { rows, columns } } = this.options;
    const order = rows.map((_, i) => i).filter((i) => this.filter === '' || rows[i].some((cell) => typeof cell === 'string' && this.matches(cell)));
    const { sort } = this;
    const column = columns.findIndex(({ key }) => key === sort?.key);
    return sort === undefined || column < 0 ? order : order.sort((a, b) => compareCells(rows[a][column], rows[b][column], this.collator, sort.descending) || a - b);
  }

  private matches(cell: string): boolean {
    return cell.toLowerCase().includes(this.filter) || this.options.words.maybe(`family.${cell}`, '').toLowerCase().includes(this.filter);
  }

  private drawHead(): void {
    const { table, words, activate } = this.options;
    fillElement(this.head, h('tr', { 'aria-rowindex': 1 }, table.columns.map((column, i) => {
      const name = headingText(words, column, this.units[i]);
      const sorted = this.sort?.key === column.key ? this.sort : undefined;
      if (this.hidden.has(i)) {
        return undefined;
      }
      const definition = column.figure === undefined ? undefined : words.maybe(column.figure, '');
      return h('th', { scope: 'col', 'data-key': column.key, class: column.kind === 'text' ? 'text' : 'number', 'aria-sort': sorted === undefined ? undefined : sorted.descending ? 'descending' : 'ascending' },
        h('button', { type: 'button', class: 'heading', 'data-tip': definition === undefined || definition === '' ? words.t('view.sortBy', { column: name }) : definition, onclick: () => this.sortBy(i) },
          name, sorted === undefined ? undefined : icon(sorted.descending ? 'chevron-down' : 'chevron-up')));
    }), activate === undefined ? undefined : h('th', { class: 'action' }, h('span', { class: 'visually-hidden' }, activate.label))));
  }

  private sortBy(column: number): void {
    const { key, kind } = this.options.table.columns[column];
    // Numbers are wanted largest first, names from A.
    this.sort = { key, descending: this.sort?.key === key ? !this.sort.descending : kind !== 'text' };
    this.order = this.ordered();
    this.drawHead();
    this.rowWindow.setCount(this.order.length);
    this.head.querySelector<HTMLElement>(`th[data-key="${key}"] button`)?.focus();
    this.options.onSort?.(this.sort);
  }

  private drawRow(place: number): HTMLTableRowElement {
    const { table, words, activate, selectedRow } = this.options;
    const index = this.order[place];
    const cells = table.rows[index].map((cell, i) => {
      if (this.hidden.has(i)) {
        return undefined;
      }
      const column = table.columns[i];
      const content = cellText(words, column, cell, this.units[i]);
      const numeric = column.kind !== 'text';
      return h('td', { class: numeric ? 'number' : column.key === 'name' || column.key === 'chain' ? 'text wide' : 'text', title: numeric ? undefined : content }, this.swatch(column.key, cell), content);
    });
    const action = activate === undefined ? undefined
      : h('td', { class: 'action' }, h('button', { type: 'button', class: 'row-action', tabindex: -1, 'aria-label': activate.label, 'data-tip': activate.label, onclick: () => activate.run(index) }, icon(activate.icon)));
    return h('tr', { 'aria-rowindex': place + 2, class: index === selectedRow ? 'selected' : undefined }, cells, action);
  }

  private swatch(key: string, cell: Cell): HTMLElement | undefined {
    return key === 'family' && typeof cell === 'string' ? h('span', { class: 'swatch', style: `background: ${familyColour(cell)}`, 'aria-hidden': 'true' }) : undefined;
  }

  private copyRow(place: number | undefined): void {
    if (place !== undefined) {
      this.options.copy?.(this.options.table.rows[this.order[place]].map((cell) => String(cell ?? '')).join('\t'));
    }
  }

  private run(place: number | undefined): void {
    if (place !== undefined) {
      this.options.activate?.run(this.order[place]);
    }
  }
}
