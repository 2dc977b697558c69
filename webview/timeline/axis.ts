import type { Words } from '../shared/words';
import { ticks } from './format';
import type { Viewport } from './model';
import type { TimeWarp } from './timeWarp';

export interface AxisOptions {
  readonly warp: TimeWarp;
  readonly viewport: Viewport;
  readonly originNs: number;
  readonly width: number;
  readonly tickTop: number;
  readonly tickHeight: number;
  readonly middle: number;
}

const CLOSEST = 70;

/** Ticks with recorded times, also where gaps are hidden: those that fall into one gap are drawn once. */
export function drawTicks(context: CanvasRenderingContext2D, words: Words, { warp, viewport, originNs, width, tickTop, tickHeight, middle }: AxisOptions): void {
  const { from, to } = viewport;
  let last = -Infinity;
  for (const { at, label } of ticks(words, warp.toTime(from) - originNs, warp.toTime(to) - originNs, width)) {
    const x = Math.round(((warp.toDisplay(at + originNs) - from) / (to - from)) * width);
    if (x - last < CLOSEST && !warp.isIdentity) {
      continue;
    }
    last = x;
    context.fillRect(x, tickTop, 1, tickHeight);
    if (x + 8 + context.measureText(label).width < width) {
      context.fillText(label, x + 4, middle);
    }
  }
}
