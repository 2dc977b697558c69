import { h } from '../shared/dom';

/** Height of every row, as in the style sheet. */
const ROW_HEIGHT = 22;
/** Rows drawn above and below those in sight. */
const MARGIN = 12;

/**
 * Draws only the rows of a table body that are in sight, with empty rows of the right height above and below. One row can
 * hold the focus; arrows, Page Up/Down, Home and End move it, into rows not drawn yet as well.
 */
export class RowWindow {
  private count = 0;
  private focused = 0;
  private from = 0;
  private to = 0;
  private scheduled = false;

  constructor(private readonly scroller: HTMLElement, private readonly body: HTMLTableSectionElement, private readonly columns: number, private readonly draw: (place: number) => HTMLTableRowElement) {
    scroller.addEventListener('scroll', () => this.schedule(), { passive: true });
    body.addEventListener('keydown', (event) => this.onKey(event));
    body.addEventListener('focusin', (event) => {
      this.focused = this.placeOf(event.target) ?? this.focused;
    });
    new ResizeObserver(() => this.schedule()).observe(scroller);
  }

  /** There are other rows now: draws anew, from the top. */
  setCount(count: number): void {
    this.count = count;
    this.focused = 0;
    this.scroller.scrollTop = 0;
    this.render(true);
  }

  /** The same rows look different now: draws them anew, in place. */
  redraw(): void {
    this.render(true);
  }

  /** Row under an event, as place in the current order. */
  placeOf(target: EventTarget | null): number | undefined {
    const row = target instanceof Element ? target.closest('tr[aria-rowindex]') : null;
    return row === null ? undefined : Number(row.getAttribute('aria-rowindex')) - 2;
  }

  private schedule(): void {
    if (!this.scheduled) {
      this.scheduled = true;
      requestAnimationFrame(() => {
        this.scheduled = false;
        this.render(false);
      });
    }
  }

  private render(force: boolean): void {
    const height = this.scroller.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW_HEIGHT) - MARGIN);
    const last = Math.min(this.count, first + Math.ceil(height / ROW_HEIGHT) + 2 * MARGIN);
    if (!force && first >= this.from && last <= this.to && this.to - this.from <= 3 * (last - first)) {
      return;
    }
    const hadFocus = this.body.contains(document.activeElement);
    this.from = first;
    this.to = last;
    const rows: HTMLElement[] = [];
    for (let place = first; place < last; place++) {
      const row = this.draw(place);
      row.tabIndex = place === this.focused ? 0 : -1;
      rows.push(row);
    }
    this.body.replaceChildren(this.spacer(first), ...rows, this.spacer(this.count - last));
    if (hadFocus) {
      this.rowAt(this.focused)?.focus({ preventScroll: true });
    }
  }

  private spacer(rows: number): HTMLElement {
    return h('tr', { 'aria-hidden': 'true', class: 'spacer' }, h('td', { colspan: this.columns, style: `height: ${rows * ROW_HEIGHT}px` }));
  }

  private rowAt(place: number): HTMLElement | undefined {
    return this.body.querySelector<HTMLElement>(`tr[aria-rowindex="${place + 2}"]`) ?? undefined;
  }

  private onKey(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_HEIGHT) - 2);
    const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.count, End: this.count };
    const move = moves[event.key] as number | undefined;
    if (move === undefined || this.count === 0) {
      return;
    }
    event.preventDefault();
    const old = this.rowAt(this.focused);
    this.focused = Math.max(0, Math.min(this.count - 1, this.focused + move));
    old?.setAttribute('tabindex', '-1');
    this.reveal(this.focused);
    const row = this.rowAt(this.focused);
    row?.setAttribute('tabindex', '0');
    row?.focus({ preventScroll: true });
  }

  private reveal(place: number): void {
    // The sticky head lies above the rows.
    const head = this.body.parentElement?.querySelector('thead')?.offsetHeight ?? ROW_HEIGHT;
    const top = place * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) {
      this.scroller.scrollTop = top;
    } else if (top + ROW_HEIGHT + head > scrollTop + clientHeight) {
      this.scroller.scrollTop = top + ROW_HEIGHT + head - clientHeight;
    }
    this.render(false);
  }
}
