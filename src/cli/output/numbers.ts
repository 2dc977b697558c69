/** Numbers for people. Unknown is an en dash, never 0. */
export const UNKNOWN = '–';

/** Thousands separated by commas in every language: tables are read by eye and by grep. */
export function formatCount(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** Microseconds as µs, ms or s with three or four digits that matter; the unit is always written. */
export function formatTime(us: number | null | undefined): string {
  if (us === null || us === undefined || !Number.isFinite(us)) {
    return UNKNOWN;
  }
  if (us === 0) {
    return '0 µs';
  }
  const size = Math.abs(us);
  if (size >= 1e6) {
    return `${(us / 1e6).toFixed(size >= 1e8 ? 1 : size >= 1e7 ? 2 : 3)} s`;
  }
  if (size >= 1000) {
    return `${(us / 1000).toFixed(size >= 1e5 ? 1 : size >= 1e4 ? 2 : 3)} ms`;
  }
  return `${us.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3)} µs`;
}

export function formatShare(share: number | null | undefined): string {
  return share === null || share === undefined || !Number.isFinite(share) ? UNKNOWN : `${(share * 100).toFixed(1)} %`;
}

export function shareOf(part: number | null, whole: number | null): number | null {
  return part === null || whole === null || !(whole > 0) ? null : part / whole;
}
