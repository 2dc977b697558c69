/** Microseconds as µs, ms or s with `digits` digits that matter; the unit is always written. 40.0 ms, 556 µs, 1.234 s. */
export function timeText(us: number, digits: 3 | 4): string {
  const size = Math.abs(us);
  if (size === 0) {
    return '0 µs';
  }
  const [scale, unit] = size >= 1e6 ? [1e6, 's'] as const : size >= 1000 ? [1000, 'ms'] as const : [1, 'µs'] as const;
  const value = size / scale;
  return `${(us / scale).toFixed(digits - (value >= 100 ? 3 : value >= 10 ? 2 : 1))} ${unit}`;
}
