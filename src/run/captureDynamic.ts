/**
 * torch_npu's dynamic profiling: with PROF_CONFIG_PATH set, torch_npu watches `profiler_config.json` in that folder and profiles
 * when the file changes. No code of ours runs in the training processes. Fields as in torch_npu's guide to dynamic_profile.
 */
import { stepWindows } from './captureSteps';
import { quoteWord } from './posix';
import type { CaptureSettings } from './runSettings';

/** The configuration that starts a recording. torch_npu counts steps from 0, and cannot record the first one. */
export function dynamicConfig(capture: CaptureSettings, folder: string): Readonly<Record<string, unknown>> {
  const [[first, last]] = stepWindows(capture.steps);
  const { warmup = 0, stacks = false, shapes = false, memory = false, level = 1, ranks } = capture;
  return {
    activities: ['CPU', 'NPU'], prof_dir: folder, analyse: true, record_shapes: shapes, profile_memory: memory, with_stack: stacks, with_flops: false, with_modules: false,
    active: last - first + 1, warmup, start_step: Math.max(1, first - 1), is_rank: ranks !== undefined, rank_list: ranks ?? [],
    experimental_config: { profiler_level: `Level${level}`, aic_metrics: level === 0 ? 'AiCoreNone' : 'PipeUtilization', l2_cache: false, data_simplification: true, export_type: ['text'] },
  };
}

/**
 * Shell lines for the job: torch_npu only takes a file that changes after it began to watch, and it tells of that by writing a
 * template. A loop beside the job waits for the template and puts ours in its place; it ends with the job's shell.
 */
export function dynamicSetup(folder: string, config: Readonly<Record<string, unknown>>): readonly string[] {
  const ready = quoteWord(`${folder}/ready.json`);
  const watched = quoteWord(`${folder}/profiler_config.json`);
  return [
    `mkdir -p -- ${quoteWord(folder)}`,
    `printf %s ${quoteWord(JSON.stringify(config))} > ${ready}`,
    // Two seconds: torch_npu compares times of change in whole seconds.
    `( while kill -0 $$ 2>/dev/null; do if [ -e ${watched} ]; then sleep 2; cp ${ready} ${watched}.part && mv -f ${watched}.part ${watched}; break; fi; sleep 1; done ) >/dev/null 2>&1 </dev/null &`,
  ];
}
