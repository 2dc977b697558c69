/**
 * The only file that knows where buttons, drop-downs and text fields come from. The toolkit's makers archived it in 2025:
 * should it have to go, this file is all that changes.
 */
import { provideVSCodeDesignSystem, vsCodeButton, vsCodeDropdown, vsCodeOption, vsCodeProgressRing, vsCodeTextField } from '@vscode/webview-ui-toolkit';
import { h, icon } from './dom';

provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeDropdown(), vsCodeOption(), vsCodeProgressRing(), vsCodeTextField());

export interface ButtonOptions {
  readonly label: string;
  readonly onClick: () => void;
  readonly icon?: string;
  /** `icon` shows the icon alone; the label is then its name for screen readers and its tooltip. */
  readonly look?: 'primary' | 'secondary' | 'icon';
}

export function button({ label, onClick, icon: iconName, look = 'secondary' }: ButtonOptions): HTMLElement {
  const bare = look === 'icon';
  const element = h('vscode-button', { appearance: look, onclick: onClick, ...(bare ? { 'aria-label': label, 'data-tip': label } : {}) }, bare ? undefined : label);
  if (iconName !== undefined) {
    const glyph = icon(iconName);
    if (!bare) {
      glyph.slot = 'start';
    }
    element.append(glyph);
  }
  return element;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly disabled?: boolean;
}

/** A drop-down with a visible label. */
export function dropdown(label: string, choices: readonly Choice[], value: string, onChange: (value: string) => void): HTMLElement {
  const id = `dropdown-${label.replace(/\W+/g, '-')}`;
  const element = h('vscode-dropdown', { id, 'aria-label': label }, choices.map((choice) => h('vscode-option', {
    value: choice.value, disabled: choice.disabled, selected: choice.value === value,
  }, choice.label)));
  element.addEventListener('change', () => onChange((element as HTMLSelectElement).value));
  return h('span', { class: 'field' }, h('span', { class: 'field-label', 'aria-hidden': 'true' }, label), element);
}

/** A one-line text field; `onInput` is called while the user types. */
export function textField(label: string, value: string, onInput: (value: string) => void): HTMLElement {
  const element = h('vscode-text-field', { placeholder: label, 'aria-label': label, value, size: 40 }, h('span', { slot: 'start', class: 'codicon codicon-search', 'aria-hidden': 'true' }), fieldName(label));
  element.addEventListener('input', () => onInput((element as HTMLInputElement).value));
  return element;
}

/** The toolkit names a field by its text and overwrites any other name; hidden text gives it ours. */
const fieldName = (label: string): HTMLElement => h('span', { slot: 'end', class: 'visually-hidden' }, label);

/** A one-line field for a number or a word, without the look of a search. */
export function plainField(label: string, value: string, onInput: (value: string) => void): HTMLElement {
  const element = h('vscode-text-field', { 'aria-label': label, value, size: 14 }, fieldName(label));
  element.addEventListener('input', () => onInput((element as HTMLInputElement).value));
  return element;
}

export const progressRing = (): HTMLElement => h('vscode-progress-ring', { 'aria-hidden': 'true' });
