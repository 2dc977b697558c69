import { readFileSync } from 'node:fs';
import * as path from 'node:path';

export const THEMES = ['dark', 'light', 'hc-dark', 'hc-light'] as const;
export type ThemeName = (typeof THEMES)[number];

/** Body class VS Code gives a webview in that theme. */
export const BODY_CLASS: Readonly<Record<ThemeName, string>> = {
  dark: 'vscode-dark', light: 'vscode-light', 'hc-dark': 'vscode-high-contrast', 'hc-light': 'vscode-high-contrast vscode-high-contrast-light',
};

/** A few of the editor's own colours, enough for a view to look as it does in the default themes. */
const EDITOR: Readonly<Record<ThemeName, Readonly<Record<string, string>>>> = {
  dark: {
    'charts-orange': '#d18616', 'charts-blue': '#3794ff', 'charts-green': '#89d185', 'charts-red': '#f14c4c',
    'editor-background': '#1f1f1f', 'editor-foreground': '#cccccc', foreground: '#cccccc', descriptionForeground: '#9d9d9d', focusBorder: '#0078d4', 'editorWidget-border': '#454545', 'editorWidget-background': '#202020',
    'list-hoverBackground': '#2a2d2e', 'list-activeSelectionBackground': '#04395e', 'list-activeSelectionForeground': '#ffffff', 'editor-selectionBackground': '#264f78', 'editor-findMatchBorder': '#d7ba7d', 'textLink-foreground': '#4daafc',
    'editorHoverWidget-background': '#202020', 'editorHoverWidget-foreground': '#cccccc', 'editorHoverWidget-border': '#454545', 'input-background': '#313131', 'input-foreground': '#cccccc', 'input-border': '#3c3c3c', 'input-placeholderForeground': '#989898',
    'button-background': '#0078d4', 'button-foreground': '#ffffff', 'button-secondaryBackground': '#313131', 'button-secondaryForeground': '#cccccc', 'badge-background': '#616161', 'badge-foreground': '#f8f8f8', 'panel-border': '#2b2b2b',
    'inputOption-activeBackground': '#2489db82', 'inputOption-activeBorder': '#2488db', 'dropdown-background': '#313131', 'dropdown-foreground': '#cccccc', 'dropdown-border': '#3c3c3c', 'icon-foreground': '#cccccc', 'toolbar-hoverBackground': '#5a5d5e50', 'progressBar-background': '#0078d4', 'editorWarning-foreground': '#cca700',
  },
  light: {
    'charts-orange': '#d18616', 'charts-blue': '#1a85ff', 'charts-green': '#388a34', 'charts-red': '#e51400',
    'editor-background': '#ffffff', 'editor-foreground': '#3b3b3b', foreground: '#3b3b3b', descriptionForeground: '#616161', focusBorder: '#005fb8', 'editorWidget-border': '#c8c8c8', 'editorWidget-background': '#f8f8f8',
    'list-hoverBackground': '#f2f2f2', 'list-activeSelectionBackground': '#e8e8e8', 'list-activeSelectionForeground': '#000000', 'editor-selectionBackground': '#add6ff', 'editor-findMatchBorder': '#b58900', 'textLink-foreground': '#005fb8',
    'editorHoverWidget-background': '#f8f8f8', 'editorHoverWidget-foreground': '#3b3b3b', 'editorHoverWidget-border': '#c8c8c8', 'input-background': '#ffffff', 'input-foreground': '#3b3b3b', 'input-border': '#cecece', 'input-placeholderForeground': '#767676',
    'button-background': '#005fb8', 'button-foreground': '#ffffff', 'button-secondaryBackground': '#e5e5e5', 'button-secondaryForeground': '#3b3b3b', 'badge-background': '#cccccc', 'badge-foreground': '#3b3b3b', 'panel-border': '#e5e5e5',
    'inputOption-activeBackground': '#bed6ed', 'inputOption-activeBorder': '#005fb8', 'dropdown-background': '#ffffff', 'dropdown-foreground': '#3b3b3b', 'dropdown-border': '#cecece', 'icon-foreground': '#3b3b3b', 'toolbar-hoverBackground': '#b8b8b850', 'progressBar-background': '#005fb8', 'editorWarning-foreground': '#8a6100',
  },
  'hc-dark': {
    'charts-orange': '#ab5a00', 'charts-blue': '#3794ff', 'charts-green': '#89d185', 'charts-red': '#f48771',
    'editor-background': '#000000', 'editor-foreground': '#ffffff', foreground: '#ffffff', descriptionForeground: '#ffffffb3', focusBorder: '#f38518', contrastBorder: '#6fc3df', contrastActiveBorder: '#f38518', 'editorWidget-border': '#6fc3df', 'editorWidget-background': '#0c141f',
    'editor-selectionBackground': '#ffffff', 'editor-findMatchBorder': '#f38518', 'textLink-foreground': '#21a6ff', 'editorHoverWidget-background': '#0c141f', 'editorHoverWidget-foreground': '#ffffff', 'editorHoverWidget-border': '#6fc3df',
    'input-background': '#000000', 'input-foreground': '#ffffff', 'input-border': '#6fc3df', 'button-background': '#000000', 'button-foreground': '#ffffff', 'button-border': '#6fc3df', 'button-secondaryForeground': '#ffffff', 'badge-background': '#000000', 'badge-foreground': '#ffffff', 'panel-border': '#6fc3df',
    'inputOption-activeBorder': '#f38518', 'dropdown-background': '#000000', 'dropdown-foreground': '#ffffff', 'dropdown-border': '#6fc3df', 'icon-foreground': '#ffffff', 'progressBar-background': '#6fc3df', 'editorWarning-foreground': '#ffd370',
  },
  'hc-light': {
    'charts-orange': '#0f4a85', 'charts-blue': '#1a85ff', 'charts-green': '#374e06', 'charts-red': '#b5200d',
    'editor-background': '#ffffff', 'editor-foreground': '#292929', foreground: '#292929', descriptionForeground: '#292929', focusBorder: '#006bbd', contrastBorder: '#0f4a85', contrastActiveBorder: '#006bbd', 'editorWidget-border': '#0f4a85', 'editorWidget-background': '#ffffff',
    'editor-selectionBackground': '#0f4a85', 'editor-findMatchBorder': '#a1260d', 'textLink-foreground': '#0f4a85', 'editorHoverWidget-background': '#ffffff', 'editorHoverWidget-foreground': '#292929', 'editorHoverWidget-border': '#0f4a85',
    'input-background': '#ffffff', 'input-foreground': '#292929', 'input-border': '#0f4a85', 'button-background': '#0f4a85', 'button-foreground': '#ffffff', 'button-secondaryForeground': '#292929', 'button-border': '#0f4a85', 'badge-background': '#0f4a85', 'badge-foreground': '#ffffff', 'panel-border': '#0f4a85',
    'inputOption-activeBorder': '#006bbd', 'dropdown-background': '#ffffff', 'dropdown-foreground': '#292929', 'dropdown-border': '#0f4a85', 'icon-foreground': '#292929', 'progressBar-background': '#0f4a85', 'editorWarning-foreground': '#895503',
  },
};

const CONTRIBUTED: Readonly<Record<ThemeName, string>> = { dark: 'dark', light: 'light', 'hc-dark': 'highContrast', 'hc-light': 'highContrastLight' };

/** `:root` style text: the editor's colours and those the manifest contributes. */
export function themeVariables(theme: ThemeName, root: string): string {
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { contributes?: { colors?: readonly { id: string; defaults: Record<string, string> }[] } };
  const own = (manifest.contributes?.colors ?? []).map(({ id, defaults }) => [id.replaceAll('.', '-'), defaults[CONTRIBUTED[theme]]]);
  const all = [...Object.entries(EDITOR[theme]), ...own, ['font-size', '13px'], ['font-family', 'DejaVu Sans, sans-serif'], ['font-weight', 'normal']];
  return all.map(([name, value]) => `--vscode-${name}: ${value};`).join(' ');
}
