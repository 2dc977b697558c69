import type { Block } from './kernel';

/** `down(silu(gate(x)) * up(x))`, eager. */
export const FEED_FORWARD: Block = [
  ['MatMul', 'T,2048;2048,6144', 'T,6144'],
  ['Silu', 'T,6144', 'T,6144'],
  ['MatMul', 'T,2048;2048,6144', 'T,6144'],
  ['Mul', 'T,6144;T,6144', 'T,6144'],
];

/** Not recomputed: nothing in the backward needs its output. */
export const DOWN_PROJECTION: Block = [['MatMul', 'T,6144;6144,2048', 'T,2048']];

export const FEED_BACKWARD: Block = [
  ['MatMul', 'T,2048;2048,6144', 'T,6144'],
  ['MatMul', '6144,T;T,2048', '6144,2048'],
  ['Mul', 'T,6144;T,6144', 'T,6144'],
  ['Mul', 'T,6144;T,6144', 'T,6144'],
  ['MatMul', 'T,6144;6144,2048', 'T,2048'],
  ['MatMul', '2048,T;T,6144', '2048,6144'],
  ['SiluGrad', 'T,6144;T,6144', 'T,6144'],
  ['MatMul', 'T,6144;6144,2048', 'T,2048'],
  ['MatMul', '2048,T;T,6144', '2048,6144'],
  ['Add', 'T,2048;T,2048', 'T,2048'],
];

export const RESIDUAL: Block = [['Add', 'T,2048;T,2048', 'T,2048', 67]];
