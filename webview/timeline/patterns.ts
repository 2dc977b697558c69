import type { OverlayContext } from './overlays';
import type { VisibleRow } from './geometry';
import { rowKey, type WindowStore } from './windows';

const NARROWEST = 6;

/** In high contrast, families differ by hatching as well as by colour, and every bar has an outline. */
export function drawPatterns({ context, model, theme, toX, width }: OverlayContext, windows: WindowStore, rows: readonly VisibleRow[]): void {
  if (!theme.highContrast) {
    return;
  }
  const { warp, viewport, hiddenFamilies } = model;
  const startNs = warp.toTime(viewport.from);
  const endNs = warp.toTime(viewport.to);
  context.lineWidth = 1;
  for (const { box, row, y, height } of rows) {
    const key = rowKey(box.lane.id, row);
    const window = windows.bestFor(key, startNs, endNs);
    const part = window?.rows.get(key);
    for (let i = part?.eventFrom ?? 0; window !== undefined && i < (part?.eventTo ?? 0); i++) {
      const { events } = window.data;
      const start = events.baseNs + events.start[i];
      const x0 = Math.max(-2, toX(start));
      const x1 = Math.min(width + 2, toX(start + events.duration[i]));
      if (x1 - x0 < NARROWEST || hiddenFamilies.has(events.family[i])) {
        continue;
      }
      hatch(context, events.family[i], x0, y, x1 - x0 - 1, height - 1, theme.background);
      context.strokeStyle = theme.foreground;
      context.strokeRect(Math.round(x0) + 0.5, y + 0.5, Math.round(x1 - x0) - 2, height - 2);
    }
  }
}

/** Angle and spacing by family number: every second family is plain, the others differ in direction and density. */
function hatch(context: CanvasRenderingContext2D, family: number, x: number, y: number, width: number, height: number, colour: string): void {
  const kind = family % 4;
  if (kind === 0) {
    return;
  }
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.beginPath();
  const spacing = family % 8 < 4 ? 8 : 5;
  const lean = kind === 1 ? height : kind === 2 ? -height : 0;
  const count = Math.min(400, Math.ceil((width + height) / spacing));
  for (let i = 0; i <= count; i++) {
    const at = x - height + i * spacing + (lean < 0 ? height : 0);
    context.moveTo(at, y + height);
    context.lineTo(at + lean, y);
  }
  context.globalAlpha = 0.55;
  context.strokeStyle = colour;
  context.stroke();
  context.restore();
}
