import { DIMENSIONS } from '../model/dimensions';
import type { SampleRun } from '../runs';
import type { RankRun } from './rankRun';

export const SYNTHETIC_HOST = 'fuselens-synthetic';

const SYNTHETIC_NOTE = 'SYNTHETIC: written by "fuselens sample" from a model of a training step; no device was involved. See README.md of the sample.';

/** profiler_info_<rank>.json: Level1, no counters, no stacks, as XTuner's NPU profiler sets it. */
export function profilerInfo({ rank, run, lanes }: RankRun): string {
  const endUs = run.baseUs + Math.ceil(lanes.lastNs / 1000) + 1840;
  return `${JSON.stringify({
    config: {
      common_config: {
        activities: ['ProfilerActivity.CPU', 'ProfilerActivity.NPU'],
        schedule: { wait: 0, active: 1, warmup: 1, repeat: 1, skip_first: 4 },
        record_shapes: false, profile_memory: true, with_stack: false, with_flops: false, with_modules: false,
      },
      experimental_config: {
        _profiler_level: 'Level1', _aic_metrics: 'ACL_AICORE_NONE', _l2_cache: false, _msprof_tx: false, _mstx: false, _data_simplification: true,
        record_op_args: false, _export_type: ['text'], _host_sys: [], _op_attr: false, _gc_detect_threshold: null, _mstx_domain_include: [],
        _mstx_domain_exclude: [], _sys_io: false, _sys_interconnection: false,
      },
    },
    synthetic: SYNTHETIC_NOTE,
    start_info: { syscnt_enable: true, freq: 100, start_cnt: 470002538790308, start_monotonic: 4700025387903080 },
    end_info: null,
    torch_npu_version: '2.7.1',
    cann_version: '8.3.RC1',
    rank_id: String(rank),
  }, null, 4).replace('"end_info": null', `"end_info": {\n        "collectionTimeEnd": ${endUs}000,\n        "MonotonicTimeEnd": ${endUs - 1_700_000_000_000_000}000\n    }`)}\n`;
}

/** profiler_metadata.json: environment, parallel layout, and that none of this is real. */
export function profilerMetadata({ rank, run }: RankRun): string {
  return `${JSON.stringify({
    synthetic: true,
    synthetic_note: SYNTHETIC_NOTE,
    sample: { run: run.name, tokens_per_step: run.targets.tokensPerStep, micro_batches: DIMENSIONS.microBatches, tokens_per_micro_batch_and_rank: run.model.cost.tokens },
    distributed_args: {
      tensor_model_parallel_size: 1, pipeline_model_parallel_size: 1, data_parallel_size: DIMENSIONS.ranks, context_parallel_size: 1,
      expert_model_parallel_size: 1, sequence_parallel: false, rank, world_size: DIMENSIONS.ranks,
    },
    ENV_VARIABLES: environment(run),
    parallel_group_info: {
      group_name_0: { group_name: 'default_group', group_rank: rank, global_ranks: Array.from({ length: DIMENSIONS.ranks }, (_, i) => i) },
    },
  })}\n`;
}

function environment(run: SampleRun): Record<string, string> {
  return {
    ASCEND_GLOBAL_LOG_LEVEL: '3', HCCL_RDMA_TC: '', HCCL_RDMA_SL: '', ACLNN_CACHE_LIMIT: '', HOST_CACHE_CAPACITY: '', ASCEND_ENHANCE_ENABLE: '',
    PYTORCH_NPU_ALLOC_CONF: run.name === 'baseline' ? '' : 'expandable_segments:True', ASCEND_LAUNCH_BLOCKING: '', HCCL_ALGO: '',
  };
}
