/** One frame scheduler for the whole view: however often things change, they are drawn once a frame. */
export class FrameScheduler {
  private pending = false;
  private readonly durations = new Float32Array(1024);
  private drawn = 0;

  constructor(private readonly draw: () => void) {}

  readonly invalidate = (): void => {
    if (this.pending) {
      return;
    }
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.drawNow();
    });
  };

  /** For a canvas that was just resized, and so cleared: waiting for the next frame would show it empty. */
  readonly drawNow = (): void => {
    const before = performance.now();
    this.draw();
    this.durations[this.drawn++ % this.durations.length] = performance.now() - before;
  };

  /** Milliseconds of script of the last frames, at most 1024; for the bench. */
  takeDurations(): number[] {
    const taken = [...this.durations.subarray(0, Math.min(this.drawn, this.durations.length))];
    this.drawn = 0;
    return taken;
  }
}
