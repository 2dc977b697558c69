/**
 * The article's figures that the sample must show on rank 0, as data. Times in microseconds unless the name says so. `span`
 * follows from busy + exposed + free, so it is not a target of its own.
 */
export interface Targets {
  readonly kernels: number;
  readonly p50Us: number;
  readonly p90Us: number;
  readonly atMost50us: number;
  readonly atMost100us: number;
  readonly computeBusyMs: number;
  readonly exposedCommunicationMs: number;
  readonly freeMs: number;
  readonly firstCollectiveMs: number;
  readonly startSpreadMs: number;
  /** Where rank 0 stands in that spread, ms after the earliest rank. */
  readonly rank0StartMs: number;
  /** A forward gated chain should start here (figure 3), ms. */
  readonly gatedChainAtMs?: number;
  readonly tokensPerStep: number;
  /** Reserved memory in GB (figure 15). */
  readonly reservedGb: number;
  /** Kernels of the unmodelled remainder, by what they look like. */
  readonly remainder: { readonly glue: number; readonly elementwise: number; readonly other: number };
}

export const BASELINE_TARGETS: Targets = {
  kernels: 19252,
  p50Us: 22.8,
  p90Us: 290,
  atMost50us: 0.624,
  atMost100us: 0.756,
  computeBusyMs: 2425,
  exposedCommunicationMs: 535,
  freeMs: 123,
  firstCollectiveMs: 302.2,
  startSpreadMs: 295,
  rank0StartMs: 0,
  gatedChainAtMs: 1741.5,
  tokensPerStep: 131072,
  reservedGb: 56.74,
  remainder: { glue: 1790, elementwise: 185, other: 1326 },
};

export const OPTIMIZED_TARGETS: Targets = {
  kernels: 9608,
  p50Us: 24.9,
  p90Us: 1180,
  atMost50us: 0.561,
  atMost100us: 0.651,
  computeBusyMs: 2758.5,
  exposedCommunicationMs: 178,
  freeMs: 33.5,
  firstCollectiveMs: 9.8,
  startSpreadMs: 70.2,
  rank0StartMs: 61.6,
  tokensPerStep: 524288,
  reservedGb: 55.7,
  remainder: { glue: 840, elementwise: 280, other: 323 },
};
