/** Microseconds with three decimals from integer nanoseconds. */
export function usText(ns: number): string {
  const whole = Math.floor(ns / 1000);
  return `${whole}.${String(ns - whole * 1000).padStart(3, '0')}`;
}

/**
 * An absolute time cell as torch_npu writes it: microseconds since the epoch, three decimals, a tab at the end. The base is
 * whole microseconds, so the sum stays an exact integer; no epoch with a fraction ever lives in a double.
 */
export function absoluteText(baseUs: number, ns: number): string {
  const whole = Math.floor(ns / 1000);
  return `${baseUs + whole}.${String(ns - whole * 1000).padStart(3, '0')}\t`;
}

/** Joins lines into chunks of about 64 KB. */
export function* chunks(lines: Iterable<string>): Iterable<string> {
  let chunk = '';
  for (const line of lines) {
    chunk += line;
    if (chunk.length > 65536) {
      yield chunk;
      chunk = '';
    }
  }
  if (chunk !== '') {
    yield chunk;
  }
}
