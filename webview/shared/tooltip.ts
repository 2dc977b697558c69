import { h } from './dom';

const DELAY_MS = 350;

/**
 * Tooltips for every element with `data-tip`, on hover and on keyboard focus; the browser's own `title` shows on hover only.
 * One listener for the page, so that tables drawn later need nothing.
 */
export function installTooltips(): void {
  const tip = h('div', { class: 'tooltip', role: 'tooltip', id: 'tooltip' });
  tip.hidden = true;
  document.body.append(tip);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let owner: Element | undefined;

  const hide = (): void => {
    clearTimeout(timer);
    owner?.removeAttribute('aria-describedby');
    owner = undefined;
    tip.hidden = true;
  };
  const show = (element: Element): void => {
    owner = element;
    tip.textContent = element.getAttribute('data-tip');
    element.setAttribute('aria-describedby', tip.id);
    tip.hidden = false;
    place(tip, element.getBoundingClientRect());
  };
  const over = (event: Event, delay: number): void => {
    const element = event.target instanceof Element ? event.target.closest('[data-tip]') : null;
    if (element === owner) {
      return;
    }
    hide();
    if (element !== null) {
      timer = setTimeout(() => show(element), delay);
    }
  };
  document.addEventListener('pointerover', (event) => over(event, DELAY_MS));
  document.addEventListener('focusin', (event) => over(event, 0));
  document.addEventListener('focusout', hide);
  document.addEventListener('pointerleave', hide);
  document.addEventListener('scroll', hide, true);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      hide();
    }
  });
}

/** Below the element where there is room, else above; inside the window in any case. */
function place(tip: HTMLElement, at: DOMRect): void {
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.max(4, Math.min(at.left, window.innerWidth - width - 4));
  const below = at.bottom + 4;
  const top = below + height > window.innerHeight ? Math.max(4, at.top - height - 4) : below;
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
}
