/** Colours come from the theme's `--vscode-*` variables only; canvases read them here and draw again when they change. */

/** The value of a theme variable, such as `foreground` or `fuselens-family-norm`; `fallback` names another variable. */
export function themeColour(name: string, fallback = 'foreground'): string {
  const style = getComputedStyle(document.documentElement);
  const value = style.getPropertyValue(`--vscode-${name}`).trim();
  return value === '' ? style.getPropertyValue(`--vscode-${fallback}`).trim() : value;
}

/**
 * A family's colour as CSS text. VS Code turns only the first dot of a colour's id into a dash, so the variable has a dot in
 * its name; the spelling with dashes is there in case that changes.
 */
export const familyColour = (family: string): string => `var(--vscode-fuselens-family\\.${family}, var(--vscode-fuselens-family-${family}))`;

/** The same as a value, for canvases. */
export function familyColourValue(family: string): string {
  const style = getComputedStyle(document.documentElement);
  return style.getPropertyValue(`--vscode-fuselens-family.${family}`).trim() || themeColour(`fuselens-family-${family}`);
}

export const isHighContrast = (): boolean => document.body.classList.contains('vscode-high-contrast');

/** Calls back after the user changed the theme. Returns the way to stop. */
export function onThemeChange(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style'] });
  return () => observer.disconnect();
}
