/** Nanoseconds as microseconds; unknown (NaN) becomes null, as reports write it. */
export function microseconds(ns: number): number | null {
  return Number.isFinite(ns) ? ns / 1000 : null;
}

/** A ratio, null when there is nothing to divide by. */
export function ratio(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null;
}
