import type { TimelinePyramid } from '../../src/protocol/timeline';
import type { Theme } from './colours';
import type { TimelineModel } from './model';
import type { LoadedWindow, RowPart, WindowStore } from './windows';
import { rowKey } from './windows';

/** Visible part of the timeline: display time at the left edge, and device pixels. */
export interface Scale {
  readonly from: number;
  readonly pixelsPerNs: number;
  readonly width: number;
}

/** A bin with next to nothing in it is still seen; idle time only just, or a thousand launch gaps would look like idleness. */
const FAINTEST = 48;
const FAINTEST_GAP = 18;

/**
 * Paints a row as one line of pixels, which the canvas then stretches to the row's height. The work is bounded by pixels
 * and by what a window holds, however many kernels there are.
 */
export class RowPainter {
  private first = 0;
  private last = 0;

  constructor(private readonly model: TimelineModel, private readonly windows: WindowStore) {}

  /** Fills `line` (ABGR) with one row; transparent where nothing ran. */
  paint(line: Uint32Array, lane: string, laneNumber: number, row: number, scale: Scale, theme: Theme): void {
    line.fill(0);
    const { warp, pyramid } = this.model;
    const startNs = warp.toTime(scale.from);
    const endNs = warp.toTime(scale.from + scale.width / scale.pixelsPerNs);
    const key = rowKey(lane, row);
    const windows = this.windows.forRow(key, startNs, endNs);
    // The finest window that covers everything makes the others invisible.
    const covering = windows.findLastIndex(({ data }) => data.startNs <= startNs && data.endNs >= endNs && data.nsPerBin * scale.pixelsPerNs <= 3);
    if (covering < 0 && pyramid !== undefined) {
      this.paintPyramid(line, pyramid, laneNumber, row, scale, theme);
    }
    for (const window of windows.slice(Math.max(0, covering), covering < 0 ? undefined : covering + 1)) {
      const part = window.rows.get(key);
      if (part !== undefined) {
        this.paintWindow(line, window, part, scale, theme);
      }
    }
  }

  private paintPyramid(line: Uint32Array, { laneRows, binCount, nsPerBin, originNs, busy, family }: TimelinePyramid, laneNumber: number, row: number, scale: Scale, theme: Theme): void {
    if (laneNumber < 0 || row >= laneRows[laneNumber + 1] - laneRows[laneNumber]) {
      return;
    }
    const offset = (laneRows[laneNumber] + row) * binCount;
    const { warp } = this.model;
    const firstBin = Math.max(0, Math.floor((warp.toTime(scale.from) - originNs) / nsPerBin));
    const lastBin = Math.min(binCount - 1, Math.floor((warp.toTime(scale.from + scale.width / scale.pixelsPerNs) - originNs) / nsPerBin));
    for (let bin = firstBin; bin <= lastBin; bin++) {
      const share = busy[offset + bin];
      if (share > 0) {
        this.span(originNs + bin * nsPerBin, originNs + (bin + 1) * nsPerBin, scale);
        this.fillBin(line, shade(theme, family[offset + bin], share), scale.width);
      }
    }
  }

  private paintWindow(line: Uint32Array, { data }: LoadedWindow, part: RowPart, scale: Scale, theme: Theme): void {
    this.span(data.startNs, data.endNs, scale);
    line.fill(0, Math.max(0, this.first), Math.max(0, Math.min(scale.width, this.last)));
    const { segments, busy, family } = data.bins;
    let at = part.binFrom;
    for (let segment = part.segmentFrom; segment < part.segmentTo; segment++) {
      const bins = segments[2 * segment + 1];
      const from = data.startNs + segments[2 * segment] * data.nsPerBin;
      for (let bin = 0; bin < bins; bin++, at++) {
        if (busy[at] > 0 && !this.model.hiddenFamilies.has(family[at])) {
          this.span(from + bin * data.nsPerBin, from + (bin + 1) * data.nsPerBin, scale);
          this.fillBin(line, shade(theme, family[at], busy[at]), scale.width);
        }
      }
    }
    this.paintEvents(line, data, part, scale, theme);
  }

  private paintEvents(line: Uint32Array, { events }: LoadedWindow['data'], part: RowPart, scale: Scale, theme: Theme): void {
    const { start, duration, family, baseNs } = events;
    const { hiddenFamilies } = this.model;
    for (let i = part.eventFrom; i < part.eventTo; i++) {
      if (hiddenFamilies.has(family[i])) {
        continue;
      }
      const startNs = baseNs + start[i];
      this.span(startNs, startNs + duration[i], scale);
      if (this.first >= scale.width) {
        break;
      }
      if (this.last < 0) {
        continue;
      }
      // A pixel of background between neighbours, where there is room for it.
      const right = this.last - this.first > 3 ? this.last - 1 : Math.max(this.last, this.first + 1);
      line.fill((0xff000000 | theme.families[family[i]].packed) >>> 0, Math.max(0, this.first), Math.max(0, Math.min(scale.width, right)));
    }
  }

  /** Several bins may share a pixel: the busiest is seen. */
  private fillBin(line: Uint32Array, colour: number, width: number): void {
    const to = Math.min(width, Math.max(this.last, this.first + 1));
    for (let pixel = Math.max(0, this.first); pixel < to; pixel++) {
      if (colour > line[pixel]) {
        line[pixel] = colour;
      }
    }
  }

  /** Pixels `[first, last)` of a stretch of recorded time. */
  private span(startNs: number, endNs: number, { from, pixelsPerNs }: Scale): void {
    const { warp } = this.model;
    const start = warp.isIdentity ? startNs : warp.toDisplay(startNs);
    const end = warp.isIdentity ? endNs : warp.toDisplay(endNs);
    this.first = Math.round((start - from) * pixelsPerNs);
    this.last = Math.round((end - from) * pixelsPerNs);
  }
}

/** Alpha by busy share; it sits in the top byte, so that the larger number is the busier pixel. */
function shade(theme: Theme, family: number, share: number): number {
  const least = theme.isGap[family] ? FAINTEST_GAP : FAINTEST;
  const alpha = least + Math.round(((255 - least) * share) / 255);
  return ((alpha << 24) | theme.families[family].packed) >>> 0;
}
