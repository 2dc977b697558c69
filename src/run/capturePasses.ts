import type { Run, RunRecord } from './run';
import type { CaptureSettings, RunSettings } from './runSettings';

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

/** What the pass after this one runs, and where; undefined when this was the last. The folder is the first pass's, from wherever it is gone on with. */
export function nextPassSettings({ nextPass, settings, workdir }: RunRecord): RunSettings & { readonly capture: CaptureSettings } | undefined {
  return nextPass === undefined ? undefined : { ...settings, capture: nextPass, ...(workdir === undefined ? {} : { workdir }) };
}

/** As far as is known: outside a repository nobody can tell. */
export function sameCode({ record: { provenance: one } }: Pick<Run, 'record'>, { record: { provenance: other } }: Pick<Run, 'record'>): boolean {
  return one?.commit === other?.commit && one?.diffHash === other?.diffHash;
}
