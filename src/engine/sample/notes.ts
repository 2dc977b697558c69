import type { SimulatedRun } from './model/calibrate';
import type { SampleRun } from './runs';

/** README.md of the written sample: what it is, what holds, what could not hold together, how large the remainder is. */
export function readmeText(runs: readonly SampleRun[], simulated: readonly SimulatedRun[]): string {
  const remainder = runs.map((run, i) => remainderLine(run, simulated[i])).join('\n');
  const figures = runs.map((run, i) => figureRow(run, simulated[i])).join('\n');
  return `# A synthetic profile

**Nothing here was measured.** \`fuselens sample\` wrote these files from a model of a training step, so that what an article
on tuning Qwen3.5-2B on Ascend 910C shows can be looked at without an NPU. It is a demonstration and a regression test,
never evidence: no claim about a device, a library or FuseLens may rest on it.

- \`baseline/\`, \`optimized/\`: torch_npu text exports of 16 ranks, step 5 (CANN 8.3 columns, Level1, no counters, no stacks).
  A real export would also have trace_view.json with host operators and launches; it is left out here for size. Every rank folder says \`synthetic\` in its name and metadata.
- \`workspace/\`: the model's own Python source. \`python workspace/train.py --tiny\` runs on any CPU with PyTorch. The baseline's
  kernels follow this source in order, forward and backward (a test runs it under PyTorch and compares, the delta rule apart, which
  is a chain of compiled kernels on a device); the gated RMSNorm is on lines 29 and 30 of \`q35_npu_old.py\`.

## How it was made

24 layers (18 gated delta nets, 6 full attention), hidden 2,048, vocabulary 154,880; 61 zero-centred and 18 gated norms; two
micro-batches of forward, chunked loss, and layer by layer recompute and backward; FSDP gathers and scatters; gradient norm
and AdamW. Each kernel's duration is the article's where it gives one, else bytes over bandwidth or arithmetic over rate, with
1.5 % jitter. All 16 ranks run in lockstep: a collective ends when the last rank has come. Three knobs were then turned on
rank 0: launch gap (exposed communication), host gap in the optimizer (free time), the pause before micro-batch 0 (where the
chain of figure 3 falls).

| run | kernels | span ms | compute busy ms | exposed communication ms | free ms | tokens a step |
|---|--:|--:|--:|--:|--:|--:|
${figures}

## The unmodelled remainder

Kernels with \`UnmodelledRemainder\` in their name are not derived from the model. They close the kernel counts and the
distribution of durations on rank 0, sit only between layers of the backward pass, at the start of a micro-batch and before the
optimizer, and never in a forward pass.

| run | kernels | share of all kernels | ms | share of compute time |
|---|--:|--:|--:|--:|
${remainder}

## Which definition each count uses

- Kernels: compute and communication. Percentiles by nearest rank over both. \`span = compute busy + exposed communication + free\`.
- Matmul/attention, elementwise, glue: by operator type (API segment and Type), every call, forward, recompute and backward;
  reductions count as elementwise, embedding gathers and fills as glue.
- Decomposed norms (1,570 calls): the core of each norm written out, in order on the stream: Pows, ReduceMean, Adds, Rsqrt,
  Mul; 157 forward and recomputed chains a micro-batch, two micro-batches. These five leave elementwise. The casts and scalings
  around them stay glue and elementwise; counted by whole chains the norms would be 3,212 forward and recomputed calls.
- Loss (80 calls, 91 ms): the five kernels of the loss proper in 16 chunks; one of the five is a MemSet and glue by type.

## What of the article was kept, and what could not hold together

- The article writes 2 micro-batches in section 3.1.3 and GA=4, mbs=2 for the same run. Kept: 2, since its kernel counts and
  durations (36 backward calls of each GDN kernel) say so. 524,288 tokens a step then means 16,384 tokens a micro-batch and rank;
  the figure itself is inferred from throughput times step time. The two runs differ in batch: compare per token.
- Norm chains are called 8, 10 to 11 and 11 kernels long. Kept: 10 zero-centred (with the casts and 1 + w), 11 gated.
- Norm clusters are said to recur every 3.2 ms. With the other totals a linear layer's forward takes about 14 ms; kept: the totals.
- The casts of the chain are called fp16; the model is bf16. Three casts, 158 µs, as in figure 3C.
- The start spread is 295 ms and, elsewhere, 104.5 ms for the unbound run. Kept: 295. Optimized: 70.2 ms, as in figure 17, while
  "the step-start stall is gone"; both hold on rank 0 only because it starts late there and waits 9.8 ms.
- The longest collective after tuning is said to be "within 150 ms". Here none is longer than 80 ms: ranks that start early in
  the optimized run wait up to 71 ms.
- 593 ms of compute waiting and 535 ms of exposed communication: kept 535. Five longest collectives, 9 % of summed kernel time: holds.
- 104 pairs of StridedSlice and PadV3: three shifts give 108 a forward, 108 recomputed and 108 backward.
- Figure 15 (reserved memory about 1 GB lower) belongs to another pair of runs; drawn here for baseline and optimized.
- Elementwise calls take 554 ms in the article, about 470 ms here; loss 91 ms: holds. 1,534 ms of matmul/attention after tuning: holds.
- "GDN 3,642 µs in one kernel" and the optimized kernels' durations: kept. fp32 gather units, message sizes, bandwidths: invented.
`;
}

function figureRow(run: SampleRun, { lanes }: SimulatedRun): string {
  const ms = (ns: number): string => (ns / 1e6).toFixed(1);
  return `| ${run.name} | ${run.targets.kernels.toLocaleString('en-US')} | ${ms(lanes.span)} | ${ms(lanes.computeBusy)} | ${ms(lanes.exposedCommunication)} | ${ms(lanes.free)} | ${run.targets.tokensPerStep.toLocaleString('en-US')} |`;
}

function remainderLine(run: SampleRun, { lanes, remainderNs }: SimulatedRun): string {
  const { glue, elementwise, other } = run.targets.remainder;
  const count = glue + elementwise + other;
  return `| ${run.name} | ${count.toLocaleString('en-US')} (${glue} glue, ${elementwise} elementwise, ${other} of no family) | ${((100 * count) / run.targets.kernels).toFixed(1)} % | `
    + `${(remainderNs / 1e6).toFixed(1)} | ${((100 * remainderNs) / lanes.computeBusy).toFixed(1)} % |`;
}
