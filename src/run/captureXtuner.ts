/**
 * XTuner's own profiling switches (`profile_step`, `profile_time`, `profile_memory` of its `TrainerConfig`), written into a copy
 * of the user's config. A config is a Python module that defines `trainer`; assignments at its end win over whatever it did.
 */
import path from 'node:path';
import type { Message } from '../engine/profile/problems';
import { stepNumbers } from './captureSteps';
import { runFailure } from './failure';
import type { CaptureSettings } from './runSettings';

export interface XtunerCopy {
  readonly name: string;
  readonly text: string;
  /** The command with the copy in place of the config. */
  readonly argv: (copy: string) => readonly string[];
  readonly notes: readonly Message[];
}

/** Whether a command line is one of XTuner V1's trainers. */
export function isXtunerCommand(argv: readonly string[]): boolean {
  return argv.some((word) => /(^|\/)xtuner\/v1\/train\/cli\/\w+\.py$|^xtuner\.v1\.train\.cli\.\w+$/.test(word));
}

/** Reads the config named by `--config` and makes its copy. Throws `RunFailure` when the command has none, or it cannot serve. */
export async function xtunerCopy(argv: readonly string[], capture: CaptureSettings, readText: (file: string) => Promise<string | undefined>): Promise<XtunerCopy> {
  const at = argv.findIndex((word) => word === '--config' || word.startsWith('--config='));
  const config = at < 0 ? undefined : argv[at] === '--config' ? argv[at + 1] : argv[at].slice('--config='.length);
  if (config === undefined || config === '') {
    throw runFailure('error.capture-xtuner-config', { command: argv.join(' ') });
  }
  const text = await readText(config);
  if (text === undefined) {
    throw runFailure('error.capture-xtuner-read', { file: config });
  }
  if (!/^trainer\s*(?::[^=\n]+)?=/m.test(text)) {
    throw runFailure('error.capture-xtuner-trainer', { file: config });
  }
  // The copy lies elsewhere: a config that asks where it lies would look there.
  if (/\b__file__\b|^\s*from\s+\.|read_base\s*\(/m.test(text)) {
    throw runFailure('error.capture-xtuner-place', { file: config });
  }
  const named = (copy: string): readonly string[] => (argv[at] === '--config' ? [copy] : [`--config=${copy}`]);
  return {
    name: path.posix.basename(config), text: text.replace(/\n*$/, '\n') + additions(capture),
    argv: (copy) => (argv[at] === '--config' ? [...argv.slice(0, at + 1), ...named(copy), ...argv.slice(at + 2)] : [...argv.slice(0, at), ...named(copy), ...argv.slice(at + 1)]),
    notes: [{ code: 'capture.note.xtuner-npu-stacks' }, ...((capture.warmup ?? 0) > 0 ? [{ code: 'capture.note.xtuner-warmup' }] : [])],
  };
}

function additions({ steps, memory = false }: CaptureSettings): string {
  return [
    '', '# Added by FuseLens to a copy of this config: profile these steps, and leave everything in the folder of this run.', 'import os as _fuselens_os', '',
    `trainer.profile_step = [${stepNumbers(steps).join(', ')}]`, 'trainer.profile_time = True', `trainer.profile_memory = ${memory ? 'True' : 'False'}`,
    'trainer.work_dir = _fuselens_os.environ.get("FUSELENS_XTUNER_WORK_DIR", trainer.work_dir)', '',
  ].join('\n');
}
