import { DIMENSIONS } from './model/dimensions';
import { lanesOf } from './model/lanes';
import type { SimulatedRun } from './model/calibrate';
import { readmeText } from './notes';
import type { SampleRun } from './runs';
import { SAMPLE_RUNS, simulate } from './runs';
import type { SampleOptions, SampleWriter } from './sampleWriter';
import { communicationJson, communicationMatrix } from './tables/communication';
import { kernelDetails } from './tables/kernelDetails';
import { profilerInfo, profilerMetadata, SYNTHETIC_HOST } from './tables/metadata';
import type { RankRun } from './tables/rankRun';
import { STEP } from './tables/rankRun';
import { memoryRecord, opStatistic, stepTraceTime } from './tables/summaries';
import { chunks } from './tables/timeText';
import { WORKSPACE_FILES } from './workspace/files';

export type { SampleOptions, SampleWriter } from './sampleWriter';

/**
 * Writes the synthetic sample: `baseline/` and `optimized/` as torch_npu text exports of 16 ranks, `workspace/` with the
 * model's Python source, and a README that says what is real about it (nothing) and how it was made. Same input, same
 * bytes. Rejects only when the writer does.
 */
export async function writeSample(writer: SampleWriter, options: SampleOptions): Promise<void> {
  const ranks = Math.min(DIMENSIONS.ranks, Math.max(1, options.ranks ?? DIMENSIONS.ranks));
  const total = SAMPLE_RUNS.length * ranks;
  let done = 0;
  await writer.mkdir(options.folder);
  await writeWorkspace(writer, options.folder);
  const simulated: SimulatedRun[] = [];
  for (const run of SAMPLE_RUNS) {
    const simulation = simulate(run);
    simulated.push(simulation);
    const kernels = simulation.program.operations.flatMap((operation) => (operation.kind === 'kernel' ? [operation.kernel] : []));
    const transferNs = shortest(simulation);
    for (let rank = 0; rank < ranks; rank++) {
      if (options.isCancelled?.() === true) {
        return;
      }
      options.onProgress?.(done, total, `${run.name} rank ${rank}`);
      const schedule = simulation.ranks[rank];
      await writeRank(writer, writer.join(options.folder, run.name, ...rankFolder(run, rank)), {
        run, rank, kernels, collectives: simulation.program.collectives, schedule, lanes: lanesOf(schedule), transferNs,
      });
      done++;
    }
  }
  options.onProgress?.(total, total, 'README.md');
  await writer.write(writer.join(options.folder, 'README.md'), [readmeText(SAMPLE_RUNS, simulated)]);
}

/** As in the article: `outputs/training/<ts>/profiling_time/step-5/<host>_<pid>_<ts>_ascend_pt`. */
function rankFolder(run: SampleRun, rank: number): readonly string[] {
  const millis = String(137 + 23 * rank).padStart(3, '0');
  return ['outputs', 'training', run.stamp, 'profiling_time', `step-${STEP}`, `${SYNTHETIC_HOST}_${40960 + 7 * rank}_${run.stamp}${millis}_ascend_pt`];
}

async function writeRank(writer: SampleWriter, folder: string, rank: RankRun): Promise<void> {
  const output = writer.join(folder, 'ASCEND_PROFILER_OUTPUT');
  await writer.mkdir(output);
  await writer.write(writer.join(folder, `profiler_info_${rank.rank}.json`), [profilerInfo(rank)]);
  await writer.write(writer.join(folder, 'profiler_metadata.json'), [profilerMetadata(rank)]);
  await writer.write(writer.join(output, 'kernel_details.csv'), chunks(kernelDetails(rank)));
  await writer.write(writer.join(output, 'step_trace_time.csv'), [stepTraceTime(rank)]);
  await writer.write(writer.join(output, 'op_statistic.csv'), [opStatistic(rank)]);
  await writer.write(writer.join(output, 'communication.json'), chunks(communicationJson(rank)));
  await writer.write(writer.join(output, 'communication_matrix.json'), [communicationMatrix(rank)]);
  await writer.write(writer.join(output, 'memory_record.csv'), [memoryRecord(rank)]);
}

async function writeWorkspace(writer: SampleWriter, folder: string): Promise<void> {
  const workspace = writer.join(folder, 'workspace');
  await writer.mkdir(workspace);
  for (const [name, text] of WORKSPACE_FILES) {
    await writer.write(writer.join(workspace, name), [text]);
  }
}

/** Per collective, the least time any rank spent in it: what the transfer itself took. */
function shortest(run: SimulatedRun): Float64Array {
  const result = new Float64Array(run.program.collectives.length).fill(Infinity);
  for (const rank of run.ranks) {
    result.forEach((least, id) => {
      result[id] = Math.min(least, rank.collectiveEnd[id] - rank.collectiveStart[id]);
    });
  }
  return result;
}
