import { formatShortNs, shortName } from './format';

const MOST_CACHED = 20_000;

/** Text for bars, cut to fit; widths are measured once a text. */
export class LabelCache {
  private readonly widths = new Map<string, number>();
  private readonly shortNames = new Map<string, string>();
  private font = '';

  /** Drops what was measured in another font. */
  use(font: string): void {
    if (this.font !== font) {
      this.font = font;
      this.widths.clear();
    }
  }

  /** The name, with its duration where there is room, else cut with an ellipsis; '' when not even three letters fit. */
  fit(context: CanvasRenderingContext2D, name: string, durationNs: number, room: number): string {
    const short = this.short(name);
    const width = this.width(context, short);
    if (width <= room) {
      const timed = `${short}  ${formatShortNs(durationNs)}`;
      return width + 50 <= room ? timed : short;
    }
    const letters = Math.floor((short.length * (room - this.width(context, '…'))) / width);
    return letters < 3 ? '' : `${short.slice(0, letters)}…`;
  }

  short(name: string): string {
    let short = this.shortNames.get(name);
    if (short === undefined) {
      short = shortName(name);
      this.shortNames.set(name, short);
    }
    return short;
  }

  private width(context: CanvasRenderingContext2D, text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      if (this.widths.size > MOST_CACHED) {
        this.widths.clear();
      }
      width = context.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }
}
