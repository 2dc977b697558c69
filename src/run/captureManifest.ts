/**
 * `fuselens-capture.json` in the output folder of a captured run: what was asked, of which run it is, and where the other pass
 * lies. It is written where the job runs, before the job starts, and comes back with the profile.
 */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { stepWindows } from './captureSteps';
import type { CapturePass } from './capturePasses';
import type { CaptureSettings } from './runSettings';

export const MANIFEST_NAME = 'fuselens-capture.json';
/** From a rank's folder to the output folder: `<output>/profiling_time/step-3/<rank>/ASCEND_PROFILER_OUTPUT`. */
const MOST_PARENTS = 5;

export interface CaptureManifest {
  readonly schema: 'fuselens-capture/1';
  /** Id of the run, and its folder as the job saw it. */
  readonly run: string;
  readonly runFolder: string;
  readonly pass: CapturePass['name'];
  /** Output folder of the other pass, relative to this one. */
  readonly twin?: string;
  readonly capture: CaptureSettings;
}

/** The output folder a path lies in or is, with its manifest; undefined when no capture of ours made it. */
export async function findCapture(at: string): Promise<{ readonly output: string; readonly manifest: CaptureManifest } | undefined> {
  let folder = path.resolve(at);
  for (let level = 0; level <= MOST_PARENTS; level++) {
    const manifest = await readManifest(path.join(folder, MANIFEST_NAME));
    if (manifest !== undefined) {
      return { output: folder, manifest };
    }
    if (path.dirname(folder) === folder) {
      break;
    }
    folder = path.dirname(folder);
  }
  return undefined;
}

/** For a profile of a pass without stacks: the same place in the pass with stacks, or undefined. */
export async function findStacksTwin(at: string): Promise<string | undefined> {
  const found = await findCapture(at);
  if (found?.manifest.pass !== 'timing' || found.manifest.twin === undefined) {
    return undefined;
  }
  const twin = path.resolve(found.output, found.manifest.twin);
  // Names of files and folders of one rank hold a process id: the step's folder is the deepest place that both passes share.
  for (let inside = path.relative(found.output, path.resolve(at)); ; inside = path.dirname(inside)) {
    const place = path.join(twin, inside);
    if (await isFolder(place)) {
      return place;
    }
    if (inside === '' || inside === '.') {
      return undefined;
    }
  }
}

async function isFolder(place: string): Promise<boolean> {
  return (await stat(place).catch(() => undefined))?.isDirectory() ?? false;
}

async function readManifest(file: string): Promise<CaptureManifest | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) {
    return undefined;
  }
  try {
    const value: unknown = JSON.parse(text);
    return isManifest(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isManifest(value: unknown): value is CaptureManifest {
  if (typeof value !== 'object' || value === null || !('schema' in value) || value.schema !== 'fuselens-capture/1' || !('run' in value) || typeof value.run !== 'string') {
    return false;
  }
  const { pass, twin, capture } = value as Partial<Record<keyof CaptureManifest, unknown>>;
  const steps = typeof capture === 'object' && capture !== null && 'steps' in capture ? capture.steps : undefined;
  return (pass === 'only' || pass === 'timing' || pass === 'stacks') && (twin === undefined || typeof twin === 'string')
    && (typeof steps === 'string' ? stepWindows(steps).length > 0 : Array.isArray(steps) && steps.length === 2 && steps.every((step) => Number.isInteger(step)));
}
