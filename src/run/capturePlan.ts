import path from 'node:path';
import type { Message } from '../engine/profile/problems';
import { HELPER_FOLDER } from './captureHelper';
import { dynamicConfig, dynamicSetup } from './captureDynamic';
import { MANIFEST_NAME, type CaptureManifest } from './captureManifest';
import type { CapturePass } from './capturePasses';
import { nsysArguments } from './captureNsys';
import { xtunerCopy } from './captureXtuner';
import { stepWindows } from './captureSteps';
import { quoteWord } from './posix';
import type { RunAddition, RunFile, StartOptions } from './run';
import { runFailure } from './failure';
import type { RunSettings } from './runSettings';

type Place = Parameters<NonNullable<StartOptions['add']>>[0];

/** What one pass adds to a run; hand `files` and `add` to `startRun`. */
export interface CapturePlan {
  readonly files: readonly RunFile[];
  readonly add: (place: Place) => RunAddition;
  /** Where the pass leaves its profile, as the job sees it. */
  readonly output: (place: Pick<Place, 'id' | 'workdir'>) => string;
  /** Worth knowing before it starts. */
  readonly notes: readonly Message[];
}

export interface CaptureContext {
  /** `captureHelperFiles()`. */
  readonly helper: readonly RunFile[];
  /** A text file where the job will run; relative paths lie in the working directory. Undefined when it is not there. */
  readonly readText: (file: string) => Promise<string | undefined>;
  /** Output folder of the first pass, absolute as the job sees it; absent: `outputs/<run id>` in the working directory. */
  readonly output?: string;
}

/**
 * What a pass adds to the run, by the method asked for. Throws `RunFailure` when the method does not fit the command. Steps are
 * counted from 1; `output/profiling_time/step-N` holds the ranks, N being the first step of each range.
 */
export async function planCapture(settings: RunSettings, pass: CapturePass, context: CaptureContext): Promise<CapturePlan> {
  const { capture } = pass;
  const base = (place: Pick<Place, 'id' | 'workdir'>): string => context.output ?? path.posix.join(place.workdir, 'outputs', withoutSuffix(place.id, pass.suffix));
  const output: CapturePlan['output'] = (place) => base(place) + pass.suffix;
  const manifest = (place: Place): CaptureManifest => ({
    schema: 'fuselens-capture/1', run: place.id, runFolder: path.posix.dirname(place.filesFolder), pass: pass.name,
    ...(pass.name === 'only' ? {} : { twin: `../${path.posix.basename(base(place))}${pass.suffix === '' ? '-stacks' : ''}` }), capture,
  });
  const prepare = (place: Place, folder = output(place)): readonly string[] => [
    `mkdir -p -- ${quoteWord(folder)}`,
    `printf %s ${quoteWord(JSON.stringify(manifest(place)))} > ${quoteWord(path.posix.join(output(place), MANIFEST_NAME))}`,
  ];
  const method = capture.method ?? 'helper';
  const windows = stepWindows(capture.steps);
  if (windows.length !== 1 && (method === 'nsys' || method === 'dynamic')) {
    throw runFailure('error.capture-one-range', { method });
  }
  const stepFolder = (place: Place): string => path.posix.join(output(place), 'profiling_time', `step-${windows[0][0]}`);
  const plain = { output, notes: [] as readonly Message[] };

  switch (method) {
    case 'helper':
      return { ...plain, files: helperFiles(context.helper, pass), add: (place) => ({ ...helperAddition(place, output(place)), setup: prepare(place) }) };
    case 'nsys': {
      if (settings.launcher !== 'command') {
        throw runFailure('error.capture-nsys-launcher', { launcher: settings.launcher });
      }
      return {
        ...plain, files: helperFiles(context.helper, pass),
        add: (place) => ({ ...helperAddition(place, output(place)), setup: prepare(place, stepFolder(place)), argv: [...nsysArguments(stepFolder(place)), settings.command, ...settings.args ?? []] }),
      };
    }
    case 'dynamic':
      return {
        ...plain, files: [], notes: dynamicNotes(capture.warmup, capture.ranks),
        add: (place) => {
          const folder = path.posix.join(output(place), 'dynamic');
          const config = dynamicConfig(capture, stepFolder(place));
          if (!/^[\w./-]+$/.test(folder)) {
            throw runFailure('error.capture-dynamic-path', { folder });
          }
          return { env: { PROF_CONFIG_PATH: folder }, setup: [...prepare(place), ...dynamicSetup(folder, config)] };
        },
      };
    case 'xtuner': {
      const copy = await xtunerCopy([settings.command, ...settings.args ?? []], capture, context.readText);
      return {
        ...plain, notes: copy.notes,
        files: [{ path: `${HELPER_FOLDER}/${copy.name}`, content: copy.text }],
        add: (place) => ({
          env: { PROFILE_RANKS: capture.ranks === undefined ? 'all' : capture.ranks.join(','), FUSELENS_XTUNER_WORK_DIR: output(place) },
          setup: prepare(place), argv: copy.argv(path.posix.join(place.filesFolder, HELPER_FOLDER, copy.name)),
        }),
      };
    }
  }
}

function helperFiles(helper: readonly RunFile[], { capture }: CapturePass): readonly RunFile[] {
  const { steps, warmup = 1, stacks = false, shapes = false, memory = false, level = 1, ranks, method } = capture;
  const settings = { windows: stepWindows(steps), warmup, stacks, shapes, memory, level, ...(ranks === undefined ? {} : { ranks }), ...(method === 'nsys' ? { method } : {}) };
  return [...helper, { path: `${HELPER_FOLDER}/settings.json`, content: JSON.stringify(settings) }];
}

function helperAddition({ filesFolder }: Place, output: string): RunAddition {
  return { env: { FUSELENS_CAPTURE: output }, prependPaths: { PYTHONPATH: path.posix.join(filesFolder, HELPER_FOLDER) } };
}

function dynamicNotes(warmup: number | undefined, ranks: readonly number[] | undefined): readonly Message[] {
  return [
    { code: 'capture.note.dynamic' },
    ...((warmup ?? 0) > 0 ? [{ code: 'capture.note.dynamic-warmup' }] : []),
    ...(ranks === undefined ? [] : [{ code: 'capture.note.dynamic-ranks' }]),
  ];
}

const withoutSuffix = (id: string, suffix: string): string => (suffix !== '' && id.endsWith(suffix) ? id.slice(0, -suffix.length) : id);
