type Value = string | number | boolean | undefined;

/** An SVG element; `undefined` and `false` leave an attribute out. Text is set as text. */
export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Readonly<Record<string, Value>> = {}, ...children: readonly (Node | string | undefined)[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children.filter((child): child is Node | string => child !== undefined));
  return element;
}
