import type { LayerKind } from './dimensions';
import { DIMENSIONS, LAYERS } from './dimensions';
import { EMBED_BACKWARD, EMBED_FORWARD, LOSS_END, LOSS_SCALE, LOSS_START, NAN_CHECK, NAN_VERDICT, REPORTED_LOSS, ROTARY_TABLE } from './ends';
import type { Block } from './kernel';
import { KernelFactory } from './kernel';
import { allParameters } from './parameters';
import type { Program } from './program';
import { ProgramBuilder } from './program';
import type { RunModel } from './runModel';
import { Gathering, scatter } from './sharding';

/** The whole training step of one run, without the remainder. */
export function trainingStep(model: RunModel): Program {
  const builder = new ProgramBuilder(new KernelFactory(model.cost));
  builder.run(NAN_CHECK);
  const first = builder.issue({ kind: 'allReduce', unit: 'nan_check', transferUs: 0, megabytes: 0 });
  builder.wait(first);
  builder.run(NAN_VERDICT);
  let lastScatter = -1;
  for (let micro = 0; micro < DIMENSIONS.microBatches; micro++) {
    builder.pause(micro === 0 ? 'first-micro-batch' : 'next-micro-batch');
    builder.mark('micro-batch');
    builder.seam(2);
    lastScatter = microBatch(builder, model, micro);
    builder.run(REPORTED_LOSS[micro]);
  }
  builder.wait(lastScatter);
  optimizer(builder);
  return builder.finish();
}

/** One micro-batch: forward, chunked loss with its gradient, then recompute and backward layer by layer. Returns the last scatter. */
function microBatch(builder: ProgramBuilder, model: RunModel, micro: number): number {
  forward(builder, model);
  loss(builder, model, micro);
  builder.mark('backward');
  return backward(builder, model, micro > 0);
}

function forward(builder: ProgramBuilder, model: RunModel): void {
  const { embedding, norm, head } = model.ends;
  const units = [embedding, ...model.groups.flatMap((group) => group.units), norm, head];
  const gathering = new Gathering(builder, units, model.prefetch);
  gathering.use();
  builder.run(EMBED_FORWARD);
  builder.run(ROTARY_TABLE);
  for (const group of model.groups) {
    // A single-layer group gathers its MLP just before the MLP, anything coarser gathers all at once.
    const early = group.units.slice(0, Math.max(1, group.units.length - 1));
    early.forEach(() => gathering.use());
    for (const layer of group.layers) {
      layerForward(builder, model, LAYERS[layer], 'forward', () => group.units.slice(early.length).forEach(() => gathering.use()));
    }
  }
  gathering.use();
  builder.run(model.norm);
  gathering.use();
}

function backward(builder: ProgramBuilder, model: RunModel, accumulate: boolean): number {
  const { embedding, norm, head } = model.ends;
  const groups = [...model.groups].reverse();
  const gathering = new Gathering(builder, [head, norm, ...groups.flatMap((group) => group.units), embedding], Math.max(3, model.prefetch));
  gathering.use();
  builder.run(LOSS_SCALE);
  scatter(builder, head, accumulate);
  gathering.use();
  builder.run(model.normGrad);
  scatter(builder, norm, accumulate);
  for (const group of groups) {
    group.units.forEach(() => gathering.use());
    const late = group.units.slice(0, Math.max(1, group.units.length - 1));
    for (const layer of [...group.layers].reverse()) {
      builder.mark('recompute');
      layerForward(builder, model, LAYERS[layer], 'recompute', () => undefined);
      builder.mark('recompute-end');
      layerBackward(builder, model, LAYERS[layer], () => group.units.slice(late.length).forEach((unit) => scatter(builder, unit, accumulate)));
      builder.seam(1);
    }
    late.forEach((unit) => scatter(builder, unit, accumulate));
  }
  gathering.use();
  builder.run(EMBED_BACKWARD);
  return scatter(builder, embedding, accumulate);
}

/** The recompute stops where autograd has all it needs: before the down projection. */
function layerForward(builder: ProgramBuilder, model: RunModel, kind: LayerKind, phase: 'forward' | 'recompute', beforeFeed: () => void): void {
  const mixer = model.mixers[kind];
  builder.run(model.norm);
  builder.run(mixer.forward);
  if (mixer.gated.length > 0) {
    builder.mark(phase === 'forward' ? 'gated-forward' : 'gated-recompute');
    builder.run(mixer.gated, 'chain');
  }
  builder.run(mixer.output, 'chain');
  builder.run(model.residual, 'chain');
  if (mixer.gated.length > 0) {
    builder.mark('norm-after-gated');
  }
  builder.run(model.norm, 'chain');
  beforeFeed();
  builder.run(model.feedForward);
  if (phase === 'forward') {
    builder.run(model.downProjection);
    builder.run(model.residual);
  }
}

const GRADIENT_SUM: Block = [['Add', 'T,2048;T,2048', 'T,2048']];

function layerBackward(builder: ProgramBuilder, model: RunModel, kind: LayerKind, afterFeed: () => void): void {
  builder.run(model.feedBackward);
  afterFeed();
  builder.run(model.normGrad);
  builder.run(GRADIENT_SUM);
  builder.run(model.mixers[kind].backward);
  builder.run(model.normGrad);
  builder.run(GRADIENT_SUM);
}

function loss(builder: ProgramBuilder, model: RunModel, micro: number): void {
  builder.issue({ kind: 'allReduce', unit: 'token_count', transferUs: 38, megabytes: 0 });
  builder.run(LOSS_START);
  for (let chunk = 0; chunk < model.lossChunks; chunk++) {
    builder.run(model.lossChunk);
  }
  builder.run(LOSS_END);
  if (micro === DIMENSIONS.microBatches - 1) {
    builder.pause('loss');
  }
}

/** Gradient norm over all parameters, one collective, clipping, then AdamW tensor by tensor. */
function optimizer(builder: ProgramBuilder): void {
  builder.mark('optimizer');
  const shards = allParameters().map((p) => p.shape.split(',').reduce((product, n) => product * Number(n), 1) / 16);
  builder.run(shards.map((n) => ['GradNorm', `${Math.max(1, n)}:f`, '1:f']), 'host');
  builder.run([['Cat', `${shards.length}:f`, `${shards.length}:f`], ['GradNorm', `${shards.length}:f`, '1:f']]);
  const norm = builder.issue({ kind: 'allReduce', unit: 'grad_norm', transferUs: 46, megabytes: 0 });
  builder.wait(norm);
  builder.run([['Adds', '1:f', '1:f'], ['Div', '1:f;1:f', '1:f']]);
  builder.seam(2);
  builder.run([['ForeachMul', `${Math.round(shards.reduce((sum, n) => sum + n, 0))}:f`, '1:f']]);
  builder.run(shards.map((n) => ['AdamW', `${Math.max(1, n)}:f;${Math.max(1, n)}:f`, `${Math.max(1, n)}:f`]), 'host');
}
