/** Runs in the page: moves the timeline as fast as a hand can and notes what each frame costs. */
import type { Motion } from './harness';

interface View {
  readonly frames: { takeDurations(): number[] };
  readonly model: { readonly viewport: { readonly from: number; readonly to: number }; zoomAt(at: number, factor: number): void; pan(ns: number): void };
}

function timeline(): { readonly view: View; readonly canvas: HTMLCanvasElement } {
  const canvas = document.querySelector<HTMLCanvasElement>('.lanes-canvas');
  const view = (window as unknown as { fuselensTimeline?: View }).fuselensTimeline;
  if (canvas === null || view === undefined) {
    throw new Error('The timeline is not there yet.');
  }
  return { view, canvas };
}

const nextFrame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));

/** Zooms in, pans, zooms out, one wheel event a frame. */
export async function move(frames: number): Promise<Motion> {
  const { view, canvas } = timeline();
  const box = canvas.getBoundingClientRect();
  view.frames.takeDurations();
  const requestsBefore = window.harness.windowTimes.length;
  const interval: number[] = [];
  let last = await nextFrame();
  for (let i = 0; i < frames; i++) {
    const phase = (i % 100) / 100;
    const wheel = phase < 0.4 ? { deltaY: -90 } : phase < 0.6 ? { deltaX: phase < 0.5 ? 60 : -60 } : { deltaY: 90 };
    canvas.dispatchEvent(new WheelEvent('wheel', { ...wheel, clientX: box.left + 300 + 500 * phase, clientY: box.top + 60, bubbles: true, cancelable: true }));
    const now = await nextFrame();
    interval.push(now - last);
    last = now;
  }
  return { script: view.frames.takeDurations(), interval, requests: window.harness.windowTimes.length - requestsBefore };
}

/** Frames, among large jumps and zooms, in which the Compute lane shows (next to) nothing. */
export async function countBlank(frames: number): Promise<number> {
  const { view, canvas } = timeline();
  const label = document.querySelector('[data-lane="compute"]');
  const y = (label?.getBoundingClientRect().top ?? 0) - canvas.getBoundingClientRect().top + 12;
  let blank = 0;
  for (let i = 0; i < frames; i++) {
    const { from, to } = view.model.viewport;
    if (i % 10 === 0) {
      view.model.pan((to - from) * 5);
    } else {
      view.model.zoomAt(from + (to - from) * 0.4, i % 60 < 30 ? 0.8 : 1.25);
    }
    await nextFrame();
    await nextFrame();
    const pixels = canvas.getContext('2d')?.getImageData(0, Math.round(y * devicePixelRatio), canvas.width, 1).data ?? new Uint8ClampedArray(0);
    let coloured = 0;
    for (let at = 0; at < pixels.length; at += 4) {
      const [red, green, blue] = [pixels[at], pixels[at + 1], pixels[at + 2]];
      coloured += Math.max(red, green, blue) - Math.min(red, green, blue) > 12 || red > 90 ? 1 : 0;
    }
    blank += coloured * 4 < pixels.length * 0.05 ? 1 : 0;
  }
  return blank;
}
