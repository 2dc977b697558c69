import type { TimelineFamily } from '../../src/protocol/timeline';
import { isHighContrast, themeColour } from '../shared/theme';

export interface Colour {
  /** For canvas styles. */
  readonly css: string;
  /** 0xBBGGRR, as a little-endian `ImageData` wants it; alpha is added by the painter. */
  readonly packed: number;
  /** Text on top of it: black or white, whichever is easier to read. */
  readonly text: string;
}

export interface Theme {
  readonly families: readonly Colour[];
  readonly isGap: readonly boolean[];
  readonly background: string;
  readonly foreground: string;
  readonly muted: string;
  readonly stripe: string;
  readonly line: string;
  readonly focus: string;
  readonly highlight: string;
  readonly selection: string;
  /** Lines of counters; their area is the same, fainter. */
  readonly counter: string;
  readonly font: string;
  readonly highContrast: boolean;
}

const FALLBACK = 'fuselens-family-other';

/** Everything the canvases paint with, from the theme's variables; read again when the theme changes. */
export function readTheme(families: readonly TimelineFamily[]): Theme {
  const parse = colourParser();
  const style = getComputedStyle(document.body);
  const highContrast = isHighContrast();
  const size = style.fontSize === '' ? '13px' : style.fontSize;
  return {
    families: families.map(({ id }) => parse(themeColour(`fuselens-family-${id}`, FALLBACK))),
    isGap: families.map(({ group }) => group === 'gap'),
    background: themeColour('editor-background'),
    foreground: themeColour('editor-foreground', 'foreground'),
    muted: highContrast ? themeColour('foreground') : themeColour('descriptionForeground', 'foreground'),
    stripe: highContrast ? 'transparent' : themeColour('list-hoverBackground', 'editor-background'),
    line: themeColour(highContrast ? 'contrastBorder' : 'editorWidget-border', 'foreground'),
    focus: themeColour('focusBorder'),
    highlight: themeColour('editor-findMatchBorder', 'focusBorder'),
    selection: themeColour('editor-selectionBackground', 'focusBorder'),
    counter: highContrast ? themeColour('foreground') : themeColour('charts-blue'),
    font: `${Math.max(10, parseFloat(size) - 2)}px ${style.fontFamily === '' ? 'sans-serif' : style.fontFamily}`,
    highContrast,
  };
}

/** The browser's own parser: whatever a theme may write, a canvas can turn it into bytes. */
function colourParser(): (css: string) => Colour {
  const canvas = document.createElement('canvas');
  canvas.width = 1;
  canvas.height = 1;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  return (css) => {
    if (context === null) {
      return { css, packed: 0x808080, text: 'black' };
    }
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = css;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
    const light = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    return { css, packed: (blue << 16) | (green << 8) | red, text: light > 0.179 ? 'black' : 'white' };
  };
}

function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}
