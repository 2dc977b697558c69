import { timeText } from '../../protocol/timeText';

/** Numbers for people. Unknown is an en dash, never 0. */
export const UNKNOWN = '–';

/** Thousands separated by commas in every language: tables are read by eye and by grep. */
export function formatCount(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** Times with four digits that matter. */
export function formatTime(us: number | null | undefined): string {
  return us === null || us === undefined || !Number.isFinite(us) ? UNKNOWN : timeText(us, 4);
}

export function formatShare(share: number | null | undefined): string {
  return share === null || share === undefined || !Number.isFinite(share) ? UNKNOWN : `${(share * 100).toFixed(1)} %`;
}

/** Sizes as file managers write them. */
export function formatSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

export function shareOf(part: number | null, whole: number | null): number | null {
  return part === null || whole === null || !(whole > 0) ? null : part / whole;
}
