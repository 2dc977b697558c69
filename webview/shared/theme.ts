/** Colours come from the theme's `--vscode-*` variables only; canvases read them here and draw again when they change. */

/**
 * VS Code turns only the first dot of a colour's id into a dash: `fuselens.family.norm` is `--vscode-fuselens-family.norm`.
 * The spelling with dashes alone is tried as well, in case that changes.
 */
const FAMILY = 'fuselens-family';

/** The value of a theme variable, such as `foreground` or `fuselens-family-norm`; `fallback` names another variable. */
export function themeColour(name: string, fallback = 'foreground'): string {
  const style = getComputedStyle(document.documentElement);
  const value = (variable: string): string => {
    const dotted = variable.startsWith(`${FAMILY}-`) ? style.getPropertyValue(`--vscode-${FAMILY}.${variable.slice(FAMILY.length + 1)}`).trim() : '';
    return dotted === '' ? style.getPropertyValue(`--vscode-${variable}`).trim() : dotted;
  };
  return value(name) || value(fallback);
}

/** A family's colour as CSS text. */
export const familyColour = (family: string): string => `var(--vscode-${FAMILY}\\.${family}, var(--vscode-${FAMILY}-${family}))`;

export const isHighContrast = (): boolean => document.body.classList.contains('vscode-high-contrast');

/** Calls back after the user changed the theme. Returns the way to stop. */
export function onThemeChange(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style'] });
  return () => observer.disconnect();
}
