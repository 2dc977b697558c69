/** Calls that run as one kernel where the backend has it, and as these operators where it has not. */

export interface InPieces {
  readonly fused: string;
  /** Operators in order, each with the price of leaving it out: what depends on arguments costs little. */
  readonly pieces: readonly (readonly [op: string, skip: number])[];
}

export const IN_PIECES: ReadonlyMap<string, InPieces> = new Map<string, InPieces>([
  // Where no fused kernel takes the mask or the dtype.
  ['attention', { fused: 'attention', pieces: [['muls', 0.3], ['muls', 0.3], ['matmul', 2], ['add', 0.3], ['softmax', 1.5], ['dropout', 0.05], ['matmul', 2]] }],
  // `F.rms_norm` computes in float32; without a weight the last product is absent.
  ['rmsNorm', { fused: 'fused.rmsNorm', pieces: [['cast', 0.1], ['pow', 1], ['mean', 1], ['adds', 1], ['rsqrt', 1], ['mul', 1], ['cast', 0.1], ['mul', 0.3]] }],
]);
