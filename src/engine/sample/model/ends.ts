import type { Block } from './kernel';

/** What surrounds the layers: step start, embedding, rotary table, loss, optimizer. */

/** A few kernels look for NaN before the first collective (article 3.3.1). */
export const NAN_CHECK: Block = [
  ['Abs', '2048', '2048'],
  ['Sum', '2048', '1'],
  ['NotEqual', '1;1', '1'],
];

/** What all ranks agreed on is looked at before the step goes on. */
export const NAN_VERDICT: Block = [['NotEqual', '1;1', '1'], ['Cast', '1', '1:f']];

export const EMBED_FORWARD: Block = [['Embedding', '154880,2048;T:i', 'T,2048', 74]];

/** cos and sin once per micro-batch. */
export const ROTARY_TABLE: Block = [
  ['Range', '1:f', 'T:f'],
  ['Mul', 'T,1:f;32:f', 'T,32:f'],
  ['Cat', 'T,32:f;T,32:f', 'T,64:f'],
  ['Cos', 'T,64:f', 'T,64:f'],
  ['Cast', 'T,64:f', 'T,64'],
  ['Sin', 'T,64:f', 'T,64:f'],
  ['Cast', 'T,64:f', 'T,64'],
];

export const EMBED_BACKWARD: Block = [
  ['EmbeddingSort', 'T:i', 'T:i', 110],
  ['EmbeddingMemSet', '154880,2048:f', '154880,2048:f'],
  ['EmbeddingGrad', 'T,2048;T:i', '154880,2048:f', 6930],
  ['CastInto', '154880,2048:f', '154880,2048'],
];

/** The running sum and the weight gradient start at zero; the chunks' gradients are joined at the end. */
export const LOSS_START: Block = [['Zero', '1:f', '1:f'], ['Zero', '2048,154880', '2048,154880']];
export const LOSS_END: Block = [['Cat', 'T,2048', 'T,2048']];

/** One chunk of the chunked cross entropy: forward and gradient together, as `ChunkedLoss` does. The five kernels of the loss proper take 5.69 ms. */
export const LOSS_CHUNK: Block = [
  ['MatMul', 'C,2048;2048,154880', 'C,154880'],
  ['Cast', 'C,154880', 'C,154880:f', 618],
  ['LogSoftmax', 'C,154880:f', 'C,154880:f', 2455],
  ['LossMemSet', 'C:f', 'C:f', 3],
  ['Loss', 'C,154880:f;C:i', 'C:f', 112],
  ['Mul', 'C:f;C:f', 'C:f'],
  ['Sum', 'C:f', '1:f'],
  ['Add', '1:f;1:f', '1:f'],
  ['Ones', '1:f', '1:f'],
  ['Mul', 'C:f;1:f', 'C:f'],
  ['LossGrad', 'C,154880:f;C:i', 'C,154880:f', 650],
  ['LogSoftmaxGrad', 'C,154880:f;C,154880:f', 'C,154880:f', 2468],
  ['Cast', 'C,154880:f', 'C,154880', 1253],
  ['MatMul', 'C,154880;154880,2048', 'C,2048'],
  ['MatMul', '2048,C;C,154880', '2048,154880'],
  ['Add', '2048,154880;2048,154880', '2048,154880'],
];

/** The fused form: logits, one forward and one backward kernel, two products. */
export const FUSED_LOSS_CHUNK: Block = [
  ['MatMul', 'C,2048;2048,154880', 'C,154880'],
  ['LigerLoss', 'C,154880;C:i', 'C:f', 1920],
  ['LigerLossGrad', 'C,154880;C:f', 'C,154880', 3795],
  ['MatMul', 'C,154880;154880,2048', 'C,2048'],
  ['MatMul', '2048,C;C,154880', '2048,154880'],
  ['Add', '2048,154880;2048,154880', '2048,154880'],
];

export const LOSS_SCALE: Block = [['Ones', '1:f', '1:f'], ['Mul', 'T,2048;1:f', 'T,2048'], ['Mul', '2048,154880;1:f', '2048,154880']];

/** The step's loss: 0.0 + first, then += second. */
export const REPORTED_LOSS: readonly Block[] = [[['Adds', '1:f', '1:f']], [['Add', '1:f;1:f', '1:f']]];
