/** A canvas that follows its element's size and the screen's pixel ratio. */
export class Surface {
  readonly context: CanvasRenderingContext2D;
  width = 0;
  height = 0;
  ratio = 1;

  constructor(readonly canvas: HTMLCanvasElement, resized: () => void) {
    const context = canvas.getContext('2d');
    if (context === null) {
      throw new Error('This browser cannot draw on a canvas.');
    }
    this.context = context;
    new ResizeObserver(() => {
      this.fit();
      resized();
    }).observe(canvas);
    this.fit();
  }

  /** Starts a frame: one unit is one CSS pixel. */
  begin(background: string): CanvasRenderingContext2D {
    if (this.ratio !== window.devicePixelRatio) {
      this.fit();
    }
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.context.fillStyle = background;
    this.context.fillRect(0, 0, this.width, this.height);
    return this.context;
  }

  private fit(): void {
    const box = this.canvas.getBoundingClientRect();
    this.ratio = window.devicePixelRatio;
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.max(1, Math.round(box.width * this.ratio));
    this.canvas.height = Math.max(1, Math.round(box.height * this.ratio));
  }
}
