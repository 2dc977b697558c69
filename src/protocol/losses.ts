import type { Problem } from './engine';

/** Problems by which part of a recording is missing, so that counts and totals are lower bounds. */
const LOSSES: ReadonlySet<string> = new Set([
  'truncated', 'broken-records', 'oversized-records', 'archive-damaged', 'database-table-damaged', 'ascend-csv-cut', 'ascend-csv-quotes', 'ascend-csv-too-long', 'ascend-row-short', 'ascend-stopped-early', 'ascend-kernels-only-in-trace',
]);

export const isLoss = ({ kind }: Problem): boolean => LOSSES.has(kind);
