/** The model: Qwen3.5-like, 24 layers, every fourth with full attention. The Python workspace has the same in config.json. */
export const DIMENSIONS = {
  hidden: 2048,
  layers: 24,
  fullAttentionEvery: 4,
  intermediate: 6144,
  vocabulary: 154880,
  attentionHeads: 8,
  keyValueHeads: 2,
  headDim: 256,
  rotaryDim: 64,
  linearHeads: 16,
  linearHeadDim: 128,
  convolutionTaps: 4,
  sequence: 4096,
  ranks: 16,
  microBatches: 2,
} as const;

export type LayerKind = 'linear' | 'full';

/** 18 linear-attention layers and 6 full ones: layers 3, 7, 11 … 23 attend fully. */
export const LAYERS: readonly LayerKind[] = Array.from({ length: DIMENSIONS.layers },
  (_, index) => ((index + 1) % DIMENSIONS.fullAttentionEvery === 0 ? 'full' : 'linear'));
