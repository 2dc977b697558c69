/**
 * Nsight's global ids pack `… | process (24 bits) | thread (24 bits)`; these expressions take them apart in SQL, where the
 * whole 64 bits are exact. `$` stands for the column.
 */
export const SQL_PROCESS = '(($ >> 24) & 16777215)';
export const SQL_THREAD = '($ & 16777215)';

/** Correlation ids are counted per process; the key is unique in a report of several processes. */
export class ProcessKeys {
  key(process: number, correlation: number): number {
    return correlation < 0 ? -1 : (Number.isNaN(process) ? 0 : process) * 0x1_0000_0000 + correlation;
  }
}
