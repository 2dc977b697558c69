import type { CaptureSettings } from './runSettings';

/** One run of a capture. `timing` and `stacks` belong together; `only` stands alone. */
export interface CapturePass {
  readonly name: 'only' | 'timing' | 'stacks';
  readonly capture: CaptureSettings;
  /** What the run's id and output folder get at their end. */
  readonly suffix: '' | '-stacks';
}

/**
 * The runs a capture is made of. Recording stacks, shapes and memory makes the host slower, so that gaps between kernels grow:
 * durations are taken from a first run without them, lines from a second one with them.
 */
export function capturePasses(capture: CaptureSettings): readonly CapturePass[] {
  const { stacks = false, twoPass = stacks, method = 'helper' } = capture;
  // A profiler that records no stacks has nothing to add in a second run.
  if (!twoPass || !stacks || method === 'xtuner' || method === 'nsys') {
    return [{ name: 'only', capture, suffix: '' }];
  }
  return [
    { name: 'timing', capture: { ...capture, stacks: false, shapes: false, memory: false }, suffix: '' },
    { name: 'stacks', capture, suffix: '-stacks' },
  ];
}
