/** Elements without a framework: attributes, listeners and children in one call. Text is always set as text, never as HTML. */

type Listener = (event: never) => void;
type Value = string | number | boolean | undefined | Listener;
export type Child = Node | string | undefined | readonly Child[];

/** `on…` keys are listeners, `true` is an empty attribute, `false` and `undefined` leave it out. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes?: Readonly<Record<string, Value>>, ...children: readonly Child[]): HTMLElementTagNameMap[K];
export function h(tag: string, attributes?: Readonly<Record<string, Value>>, ...children: readonly Child[]): HTMLElement;
export function h(tag: string, attributes: Readonly<Record<string, Value>> = {}, ...children: readonly Child[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  append(element, children);
  return element;
}

export function append(parent: ParentNode, children: readonly Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) {
      append(parent, child as readonly Child[]);
    } else if (child !== undefined) {
      parent.append(child as Node | string);
    }
  }
}

/** Replaces everything inside. */
export function fillElement(parent: HTMLElement, ...children: readonly Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

/** An icon of the codicon font; decoration only, so it is hidden from screen readers. */
export const icon = (name: string): HTMLElement => h('span', { class: `codicon codicon-${name}`, 'aria-hidden': 'true' });
