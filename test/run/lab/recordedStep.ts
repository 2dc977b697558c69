/** A trace of one step with one kernel, as a training run leaves it, for programs that only copy what a profiler would write. */
export const RECORDED_STEP = {
  schemaVersion: 1, distributedInfo: { backend: 'nccl', rank: 0, world_size: 1 },
  traceEvents: [
    { ph: 'X', cat: 'user_annotation', name: 'ProfilerStep#5', pid: 7, tid: 7, ts: 0, dur: 100 },
    { ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 7, tid: 7, ts: 5, dur: 2, args: { correlation: 1 } },
    { ph: 'X', cat: 'kernel', name: 'gemm_kernel', pid: 0, tid: 7, ts: 10, dur: 40, args: { device: 0, stream: 7, correlation: 1 } },
  ],
};
