/**
 * Rows as lines of pixels: all lines of a frame go into one small image, from which each row is stretched to its height. A
 * frame costs a few copies, however many rectangles the rows would have been.
 */
export class Lines {
  private readonly canvas = document.createElement('canvas');
  private readonly context = this.canvas.getContext('2d');
  private image: ImageData | undefined;
  private pixels = new Uint32Array(0);

  /** Room for `rows` lines of `width` device pixels; contents are undefined. */
  prepare(width: number, rows: number): void {
    if (this.image === undefined || this.image.width !== width || this.image.height < rows) {
      this.canvas.width = width;
      this.canvas.height = Math.max(rows, this.canvas.height === width ? 0 : this.canvas.height, 1);
      this.image = new ImageData(width, this.canvas.height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
  }

  line(row: number): Uint32Array {
    const width = this.image?.width ?? 0;
    return this.pixels.subarray(row * width, (row + 1) * width);
  }

  /** Hands the first `rows` lines to the canvas; call before `stretch`. */
  upload(rows: number): void {
    if (this.image !== undefined && rows > 0) {
      this.context?.putImageData(this.image, 0, 0, 0, 0, this.image.width, rows);
    }
  }

  stretch(target: CanvasRenderingContext2D, row: number, x: number, y: number, width: number, height: number): void {
    target.imageSmoothingEnabled = false;
    target.drawImage(this.canvas, 0, row, this.image?.width ?? 1, 1, x, y, width, height);
  }
}
