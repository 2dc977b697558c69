/** The steps of a capture: one range, or several with gaps between, each of which is a recording of its own. */
import type { CaptureSettings } from './runSettings';

/** First and last step, from 1, both included. */
export type StepWindow = readonly [number, number];

/** Reads `5`, `3-5`, `3 to 5`, `3,5` and `3-5, 9`. In order, neighbours joined; undefined when a part is no range of steps. */
export function parseSteps(text: string): readonly StepWindow[] | undefined {
  const windows: StepWindow[] = [];
  for (const part of text.split(',')) {
    const [, first, last = first] = /^\s*(\d{1,9})(?:\s*(?:-|–|to|\.\.)\s*(\d{1,9}))?\s*$/.exec(part) ?? [];
    if (first === undefined || Number(first) < 1 || Number(last) < Number(first)) {
      return undefined;
    }
    windows.push([Number(first), Number(last)]);
  }
  return windows.sort(([a], [b]) => a - b).reduce<StepWindow[]>((joined, [first, last]) => {
    const before = joined.at(-1);
    return before !== undefined && first <= before[1] + 1 ? [...joined.slice(0, -1), [before[0], Math.max(before[1], last)]] : [...joined, [first, last]];
  }, []);
}

/** Settings that were checked have at least one. */
export function stepWindows(steps: CaptureSettings['steps']): readonly StepWindow[] {
  return typeof steps === 'string' ? parseSteps(steps) ?? [] : [steps];
}

/** One range is written as two numbers, several as text: what `CaptureSettings.steps` holds. */
export function stepsSetting(windows: readonly StepWindow[]): CaptureSettings['steps'] {
  return windows.length === 1 ? windows[0] : windowsText(windows).replaceAll('–', '-');
}

/** `3–5, 9` */
export const windowsText = (windows: readonly StepWindow[]): string => windows.map(([first, last]) => (first === last ? String(first) : `${first}–${last}`)).join(', ');

export const stepsText = (steps: CaptureSettings['steps']): string => windowsText(stepWindows(steps));

/** Every step by its number. */
export const stepNumbers = (steps: CaptureSettings['steps']): readonly number[] => stepWindows(steps).flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
